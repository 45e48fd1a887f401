# shellcheck shell=bash disable=SC2154
needs_compiler
note "msda_staged and msda_coords refuse bf16 locations and overlapping levels, as msda does; staging refuses channels that are no whole pieces"
mkdir -p spaces
cp -r "$data/../../kernels" .
for space in msda_staged msda_coords; do
  sed '/^\[shape seed48\]/,/^workload/ s/^loc_dtype .*/loc_dtype = bf16/' "$data/../../search_spaces/$space.ini" >"spaces/$space.ini"
  mt check --space "spaces/$space.ini" --gpu h100 --sample --shape seed48
done
check() { mt check --space "$data/../../search_spaces/$1.ini" --gpu h100 --sample --shape "$2"; }
check msda_staged "N=48;M=1;D=32;P=8;Lq=15422;H=92,46,23,12;W=160,80,40,20;S=20522;START=0,15228,19164,20320;dtype=f16;loc_dtype=f32;attn=weights;queries=grid"
check staging "N=48;S=20522;C=12"

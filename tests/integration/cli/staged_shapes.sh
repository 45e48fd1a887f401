# shellcheck shell=bash disable=SC2154
needs_compiler
note "msda_staged and msda_coords refuse bf16 locations and overlapping levels, as msda does; staging refuses channels that are no whole pieces"
for space in msda_staged msda_coords; do
  printf 'include = %s\n[shape own]\nlike = seed48\nloc_dtype = bf16\n' "$data/../../search_spaces/$space.ini" >"$space.ini"
  mt check --space "$space.ini" --gpu h100 --sample --shape own
done
check() { mt check --space "$data/../../search_spaces/$1.ini" --gpu h100 --sample --shape "$2"; }
check msda_staged "N=48;M=1;D=32;P=8;Lq=15422;H=92,46,23,12;W=160,80,40,20;S=20522;START=0,15228,19164,20320;dtype=f16;loc_dtype=f32;attn=weights;queries=grid"
check staging "N=48;S=20522;C=12"

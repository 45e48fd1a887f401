# shellcheck shell=bash disable=SC2154
note "spaces too large to enumerate: counts say whether they are exact or estimated; a covering sample compiles, all points do not"
fake_gpu
cp "$data/fake/fake.cu" .
# Eight knobs that the kernel ignores, 1.6e9 combinations of them.
{
  sed -e 's/^values  = 64, 128, 256, 512/values  = 128/; s/^values  = ok, .*/values = ok/; /^ *compile_error/d' "$data/fake/fake.ini"
  for knob in A B C D; do printf '[param %s]\nvalues = 1..10\n' $knob; done
  for knob in E F G H; do printf '[param %s]\nvalues = 1..20\n' $knob; done
} >base.ini
{ cat base.ini; printf '[constraint ab]\nexpr = A <= B\n'; } >exact.ini
{ cat base.ini; printf '[constraint all]\nexpr = A * B * C * D * E * F * G * H %% 7 != 3\n'; } >estimated.ini
mt check --space exact.ini --gpu h100 --sample --jobs 1 | grep valid
mt check --space estimated.ini --gpu h100 --sample --jobs 1 | grep valid
mt check --space exact.ini --gpu h100 --jobs 1
mt check --space estimated.ini --gpu h100 --jobs 1
note "no valid point is found by drawing; too many combinations to be numbered"
sed 's/^expr = A \* .*/expr = A * B * C * D * E * F * G * H % 1000003 == 1000002/' estimated.ini >none.ini
mt check --space none.ini --gpu h100 --sample --jobs 1
{ cat base.ini; for i in $(seq 40); do printf '[param P%s]\nvalues = 1..10\n' "$i"; done; } >huge.ini
mt check --space huge.ini --gpu h100 --sample --jobs 1

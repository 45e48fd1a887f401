#!/bin/bash
# What walk.sh prints of an input that fails gives it back, byte for byte; and the seeds come in one order. Usage: test_walk.sh WALK.SH
walk=$(realpath "$1")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
mkdir corpus
touch corpus/b corpus/a corpus/C
# In libFuzzer's place: takes the same words, and fails on the input that it is told.
cat >program <<'END'
#!/bin/bash
echo "$*"
for word in "$@"; do
  case $word in
    -artifact_prefix=*) [ ! -e "${0%/*}/bad" ] || { cp "${0%/*}/bad" "${word#*=}crash-1"; exit 77; } ;;
    -seed_inputs=@*) cat "${word#*@}" ;;
  esac
done
END
chmod +x program
failed=0
expect() { # TEXT
  grep -qF -- "$1" out.txt || { printf 'expected "%s":\n' "$1"; cat out.txt; failed=1; }
}
"$walk" ./program corpus 70 >out.txt || { echo 'fails, though the program does not'; failed=1; }
expect '-seed=1 -runs=70'
expect "$scratch/corpus/C,$scratch/corpus/a,$scratch/corpus/b"
head -c 3000 /dev/urandom >bad
"$walk" ./program corpus 70 >out.txt && { echo 'passes, though the program fails'; failed=1; }
expect 'program: failed-crash-1, 3000 bytes'
sed -n '/base64 -d/,/^END$/p' out.txt | sed "s#>input <<END .*#>input <<END#" >again.sh
bash again.sh
cmp input bad || failed=1
exit $failed

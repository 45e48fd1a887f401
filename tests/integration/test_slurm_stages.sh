#!/bin/bash
# On a cluster of one node (see slurm_cluster.sh): more tasks than an array takes; the compile stage fills the cache that the tasks read (compiler and driver are the fakes, and the real NVRTC where it is found); islands share what
# was merged before they began; --status by sacct alone, where slurmdbd and MariaDB are installed. Usage: test_slurm_stages.sh BUILD_FOLDER
# shellcheck source-path=SCRIPTDIR source=slurm_cluster.sh
. "$(dirname "$0")/slurm_cluster.sh"
# shellcheck source=../toolkit.sh
. "$(dirname "$0")/../toolkit.sh"
array_size=4 # arrays of three tasks
job_age=2 # seconds until Slurm forgets what has ended: from then on only accounting knows it
munge
has_accounting=yes why=
accounting || has_accounting=no
[ $has_accounting = yes ] || job_age=3600
configure
cluster

submit() { # folder, words of slurm…
  work=$top/$1
  mkdir -p "$work"
  shift
  "$tool" slurm --gres none --cpus 1 -o "$work" --submit "$@" >"$top/submit.txt" 2>&1 || fail "submitting: $(cat "$top/submit.txt")"
}
status() { "$tool" slurm --status "$work"; }
ended() { [ -z "$(squeue --noheader --jobs="$(cut -f2 "$work/jobs.tsv" | paste -sd,)" 2>/dev/null)" ]; } # neither waits nor runs
logged() { grep -q "$2" "$work/log/$1" || fail "$1 has no '$2': $(cat "$work/log/$1")"; }

# ---- compiled before the tasks begin ----
if [ -e "$build/lib/libfake_cuda.so" ]; then # a build without the Toolkit's headers has no fakes
  mkdir -p "$top/compiled"
  cat >"$top/compiled/template.sh" <<END
export MSDA_TUNE_LIBCUDA='$build/lib/libfake_cuda.so' MSDA_TUNE_NVRTC='$build/lib/libfake_nvrtc.so' MSDA_TUNE_NVML='$build/lib/libfake_nvml.so'
export MSDA_TUNE_FAKE_LOG="$top/compiled/\${SLURM_JOB_NAME:-none}-\${SLURM_ARRAY_TASK_ID:-0}.compiled"
END
  submit compiled --space vector_add --shape N=4096 --shape N=6000 --gpu-type h100
  wait_for "the jobs of the compiled space" ended
  logged compile-h100.txt '15 of 15 valid points for sm_90a'
  compiles() { cat "$work/msda-tune-$1"-*.compiled 2>/dev/null | grep -c '^compile vector_add'; }
  [ "$(compiles compile-h100)" -ge 15 ] || fail "the compile stage compiled $(compiles compile-h100) kernels: $(head "$work"/*.compiled)"
  [ "$(compiles tune-h100)" = 0 ] || fail "the tasks compiled $(compiles tune-h100) kernels"
  for task in 1 2; do logged tune-h100-$task.txt ' in 0 compiles, .* 15 from the cache'; done
  [ "$("$tool" show --db "$work/merged.sqlite" --json | grep -o '"shape":"' | wc -l)" = 2 ] || fail "winners: $("$tool" show --db "$work/merged.sqlite" --json)"
  echo "compile stage: $(compiles compile-h100) compiles for two tasks of 15 points, which compiled none"
else
  echo "compile stage with the fakes: not run, this build has none"
fi

# ---- the same stage with the real compiler ----
if can_compile "$tool"; then
  submit real --space vector_add --shape N=4096 --gpu-type h200 --compile sample # on nodes without a GPU: its tasks fail here, and nobody waits for them
  wait_for "the jobs of the real compiler" ended
  logged compile-h200.txt 'valid points for sm_90a'
  grep -qE 'vector_add +[0-9]+ +[0-9]+ +0 +0 ' "$work/log/compile-h200.txt" || fail "not all compiled: $(cat "$work/log/compile-h200.txt")"
  if ! grep -q '^Database:' "$work/log/tune-h200-1.txt"; then
    logged tune-h200-1.txt 'no usable GPU'
    logged merge.txt 'no task has begun'
    [ "$(status | head -1)" = "1 task: 0 done 1 failed" ] || fail "--status of a task without a GPU: $(status)"
  fi
  echo "compile stage with NVRTC: $(grep ' points for sm_90a' "$work/log/compile-h200.txt")"
else
  echo "compile stage with NVRTC: not run, $why"
fi

# ---- more tasks than one array takes ----
submit chunks --space resample --shape large --shards 7 --at-once 2 -- --gpu recorded:h200 --strategy exhaustive
[ "$(awk -F'\t' '$1 == "tune" { print $3 + 0 }' "$work/jobs.tsv" | paste -sd,)" = 0,3,6 ] || fail "arrays of three: $(cat "$work/jobs.tsv")"
wait_for "three arrays" ended
[ "$(status | head -1)" = "7 tasks: 7 done" ] || fail "--status of three arrays: $(status)"
[ -s "$work/log/tune+3-2.txt" ] && [ ! -e "$work/log/tune+6-2.txt" ] || fail "logs: $(ls "$work/log")"
"$tool" tune --space resample --shape large --gpu recorded:h200 --strategy exhaustive --quiet --db "$top/serial.sqlite" >"$top/serial.txt" 2>&1 || fail "the serial run: $(cat "$top/serial.txt")"
[ "$(lines "$work/merged.sqlite")" = "$(lines "$top/serial.sqlite")" ] || fail "seven shards in three arrays are not the space"
# By hand, from the folder of another plan: each works in its own.
chunks=$work
submit others --space resample --shape large --shards 7 -- --gpu recorded:h200 --strategy exhaustive
wait_for "the jobs of the other plan" ended
rm "$chunks"/part-5.sqlite* && before=$(cksum "$work"/part-5.sqlite)
(cd "$work" && sbatch --wait --partition=tune --array=2 --output="$top/by_hand.txt" "$chunks/tune.sh" 3 >/dev/null) || fail "task 5 by hand: $(cat "$top/by_hand.txt")"
[ "$(cksum "$work"/part-5.sqlite)" = "$before" ] && [ -s "$chunks/part-5.sqlite" ] || fail "task 5 by hand: $(cat "$top/by_hand.txt")"
echo "seven tasks in three arrays"

# ---- islands ----
islands=(--space resample --shape large --shards 3 -- --gpu recorded:h200 --strategy surrogate)
submit islands "${islands[@]}" --budget 30
wait_for "the islands" ended
points() { lines "$work/$1" >"$top/$1.points"; wc -l <"$top/$1.points"; }
for i in 1 2 3; do [ "$(points part-$i.sqlite)" -ge 30 ] || fail "island $i: $(points part-$i.sqlite) points: $(cat "$work/log/tune-$i.txt")"; done
cmp -s "$top/part-1.sqlite.points" "$top/part-2.sqlite.points" && fail "two islands took the same way"
first=$(points merged.sqlite)
cp "$top/merged.sqlite.points" "$top/before.points"
[ "$first" -gt 40 ] || fail "$first points of three islands of 30"
for i in 1 2 3; do cp "$top/part-$i.sqlite.points" "$top/$i.before"; done
best_of() { "$tool" show --db "$work/$1" --json | grep -oE '"median_us":[0-9.]+' | head -1 | cut -d: -f2; }
before=$(best_of merged.sqlite)
# Again, with more to spend: what any of them knew is measured by none of them once more.
submit islands "${islands[@]}" --budget 40
wait_for "the islands, again" ended
for i in 1 2 3; do
  points part-$i.sqlite >/dev/null
  comm -13 "$top/$i.before" "$top/part-$i.sqlite.points" >"$top/new"
  [ "$(wc -l <"$top/new")" = 10 ] || fail "island $i measured $(wc -l <"$top/new") points more instead of 10: $(cat "$work/log/tune-$i.txt")"
  [ -z "$(comm -12 "$top/new" "$top/before.points")" ] || fail "island $i measured what the others had: $(comm -12 "$top/new" "$top/before.points")"
done
[ "$(points merged.sqlite)" -gt "$first" ] || fail "nothing new was merged"
awk -v a="$before" -v b="$(best_of merged.sqlite)" 'BEGIN { exit !(b <= a) }' || fail "the best got worse: $before, then $(best_of merged.sqlite)"
echo "three islands of 30: $first points; of 40: $(points merged.sqlite)"

# ---- accounting ----
if [ $has_accounting = no ]; then
  echo "sacct: not run, $why"
  exit 0
fi
array=$(job tune)
forgotten() { [ -z "$(squeue --noheader --states=all --jobs="$array" 2>/dev/null)" ]; }
wait_for "squeue to forget the array" forgotten
known() { [ "$(sacct --noheader --allocations --parsable2 --jobs="$array" --format=JobID,State | grep -c "^${array}_[123]|COMPLETED$")" = 3 ]; }
wait_for "sacct to know the array" known
status >"$top/status.txt" || fail "--status"
grep -q '^3 tasks: 3 done$' "$top/status.txt" || fail "--status by sacct: $(cat "$top/status.txt")"
grep -q "^Behind them: merge (job $(job merge)): COMPLETED, final (job $(job final)): COMPLETED\$" "$top/status.txt" || fail "stages by sacct: $(cat "$top/status.txt")"
grep -q "part-1.sqlite .* $node " "$top/status.txt" || fail "nodes by sacct: $(cat "$top/status.txt")"
# A task that failed and one that was cancelled, with nothing of them but accounting's word.
mkdir -p "$top/ends"
printf 'launch=(bash -c %q)\n' 'case $SLURM_ARRAY_TASK_ID in 1) exit 7 ;; 2) exec sleep 600 ;; *) exec "$0" "$@" ;; esac' >"$top/ends/template.sh"
submit ends "${islands[@]}" --budget 10
array=$(job tune)
runs() { is_state "${array}_2" RUNNING; }
wait_for "task 2 to run" runs
scancel "${array}_2"
wait_for "the jobs" ended
wait_for "squeue to forget the array" forgotten
status >"$top/status.txt" || fail "--status"
grep -q '^3 tasks: 1 done 1 stopped 1 failed$' "$top/status.txt" || fail "--status by sacct: $(cat "$top/status.txt")"
grep -q 'part-1.sqlite .* failed .* FAILED *$' "$top/status.txt" && grep -q 'part-2.sqlite .* stopped .* CANCELLED *$' "$top/status.txt" || fail "--status by sacct: $(cat "$top/status.txt")"
echo "sacct: knows what squeue has forgotten: $(head -1 "$top/status.txt"), ${SECONDS} s"

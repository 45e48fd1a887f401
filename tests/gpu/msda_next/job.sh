#!/bin/bash
# Measures msda_next on the GPU of this machine in about two minutes (180 s at most): job.sh TOOL [OUT]
#   1. every point of msda_next.ini for five subjects, validated, raced, finalists compared in turns;
#   2. duels: the best two points without new knobs against the best three with, in three sessions of their own, in turns;
#   3. ncu, if there is one: the best old and new point of two subjects.
# Leaves OUT/results.md to read, OUT/next.jsonl (all rows), OUT/duel.jsonl and OUT/ncu.csv.
set -u
tool=$(realpath "$1")
out=${2:-${OUT:-.}}
here=$(realpath "$(dirname "$0")")
mkdir -p "$out"
out=$(realpath "$out")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache XDG_DATA_HOME=$work/data
results=$out/results.md
started=$SECONDS
left() { echo $((${LIMIT:-175} - (SECONDS - started))); }

# Variants → the space with these points alone, in the folder of the kernel. Knobs that say whether others are active stand first in their clause: an
# expression that reads an inactive knob would not bind.
ini() {
  local variant first rest all=""
  for variant in "$@"; do
    first=$(tr ';' '\n' <<<"$variant" | grep -E '^(ALGO|SCHEDULE|CORNERS|HEADS|PREP)=')
    rest=$(tr ';' '\n' <<<"$variant" | grep -vE '^(ALGO|SCHEDULE|CORNERS|HEADS|PREP)=')
    all+="${all:+ || }($(printf '%s\n%s' "$first" "$rest" | sed -E 's/=/ == /' | paste -sd'&' | sed 's/&/ \&\& /g'))"
  done
  sed -E "s|^(source *= *)|\1$here/|; s|^(include *= *)|\1$here/|" "$here/msda_next.ini"
  printf '\n[constraint duel]\nexpr = %s\nwhy  = a duel\n' "$all"
}
# Rows of the newest export: lines "NS VARIANT", sorted.
times() { grep '"k":"ok"' "$1" | sed -nE 's/.*"v":"([^"]*)".*"ns":([0-9.]+).*/\2 \1/p' | sort -n; }
is_old() { grep 'TRIM=0' | grep -v 'FOLD=1'; }
is_new() { grep 'TRIM=1'; }
# Only the knobs that differ from point to point.
brief() { sed -E 's/(BLEND|BORDER|EXCHANGE|LEVELS|LOAD_HINT|PREFETCH|RECORD|STORE_HINT|VALUE_HINT|VEC|STAGED_LEVELS)=[^;]*;?//g; s/;$//'; }
rows() { awk '{ printf "| %.1f | `%s` |\n", $1 / 1000, $2 }'; }

{ echo "# msda_next"; "$tool" device 2>/dev/null | head -5 | sed 's/^/    /'; } >"$results"

subject() { # shape workload seconds
  local shape=$1 workload=$2 db=$work/next.sqlite seconds
  seconds=$(($(left) - 5 < $3 ? $(left) - 5 : $3))
  [ "$seconds" -gt 8 ] || { echo "$shape $workload: no time left" >>"$results"; return; }
  "$tool" tune --gpu auto --space "$here/msda_next.ini" --shape "$shape" --workload "$workload" --time "$seconds" --db "$db" --quiet >"$work/tune.txt" 2>&1
  echo "$shape $workload: exit $?, $((SECONDS - started)) s since the start"
  "$tool" export --jsonl --shape "$shape" --workload "$workload" --db "$db" -o "$work/$shape.$workload.jsonl" >/dev/null || return
  cat "$work/$shape.$workload.jsonl" >>"$out/next.jsonl"
  times "$work/$shape.$workload.jsonl" >"$work/times"
  {
    printf '\n## %s, %s\n\n' "$shape" "$workload"
    grep -vE '^$' "$work/tune.txt" | tail -12 | sed 's/^/    /'
    echo; echo "failures, other than pruned: $("$tool" show --failures --json --shape "$shape" --workload "$workload" --db "$db" | grep -o '"outcome":"[a-z_]*"' | sort | uniq -c | grep -v pruned | paste -sd,)"
    printf '\n| µs | without new knobs |\n|---|---|\n'; is_old <"$work/times" | head -4 | brief | rows
    printf '\n| µs | with |\n|---|---|\n'; is_new <"$work/times" | head -12 | brief | rows
    printf '\n| best µs | of points that have |\n|---|---|\n'
    for word in TRIM=0 TRIM=1 FOLD=1 SWAPPED=bit SWAPPED=sign FETCH=last FETCH=first WEIGHTS=with_points WEIGHTS=at_once WIDEN=add WIDEN=mma SUM=2 SUM=4 COARSE=last COARSE=first SCHEDULE=grid SCHEDULE=persistent SCHEDULE=dynamic \
      ALGO=direct ALGO=coarse_smem LANES=4 LANES=8; do
      grep -E "(^| |;)$word(;|\$)" "$work/times" | { if [ "$word" = TRIM=0 ]; then cat; else is_new; fi; } | head -1 | awk -v w="$word" '{ printf "| %.1f | %s |\n", $1 / 1000, w }'
    done
  } >>"$results"
  is_old <"$work/times" | head -2 | cut -d' ' -f2 >"$work/$shape.$workload.old"
  is_new <"$work/times" | head -3 | cut -d' ' -f2 >"$work/$shape.$workload.new"
}

duel() { # shape workload
  local shape=$1 workload=$2
  [ -s "$work/$shape.$workload.new" ] && [ -s "$work/$shape.$workload.old" ] && [ "$(left)" -gt 15 ] || return
  mapfile -t points < <(cat "$work/$shape.$workload.old" "$work/$shape.$workload.new")
  ini "${points[@]}" >"$work/duel.ini"
  : >"$work/duel.times"
  for session in 1 2 3; do
    "$tool" tune --gpu auto --space "$work/duel.ini" --shape "$shape" --workload "$workload" --no-race --seed "$session" --db "$work/duel.$shape.$workload.$session.sqlite" --quiet >"$work/duel.txt" 2>&1
    "$tool" export --jsonl --db "$work/duel.$shape.$workload.$session.sqlite" -o "$work/duel.jsonl" >/dev/null && cat "$work/duel.jsonl" >>"$out/duel.jsonl" && times "$work/duel.jsonl" >>"$work/duel.times"
  done
  {
    printf '\n### Duel: %s, %s (medians of three sessions)\n\n| µs, each | |\n|---|---|\n' "$shape" "$workload"
    for point in "${points[@]}"; do
      echo "| $(grep -F " $point" "$work/duel.times" | awk '{ printf "%s%.1f", (NR > 1 ? ", " : ""), $1 / 1000 }') | \`$(brief <<<"$point")\` |"
    done
    echo; echo "the last session's finalists:"; grep -vE '^$' "$work/duel.txt" | tail -6 | sed 's/^/    /'
  } >>"$results"
}

counters=gpu__time_duration.sum,smsp__inst_executed.sum,smsp__issue_active.avg.pct_of_peak_sustained_active,sm__cycles_active.min,sm__cycles_active.avg,sm__cycles_active.max,\
l1tex__data_pipe_lsu_wavefronts.sum,l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed,l1tex__data_pipe_lsu_wavefronts_mem_shared.sum,l1tex__data_bank_conflicts_pipe_lsu.sum,\
l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum,lts__t_sectors_srcunit_tex.sum,lts__t_sectors.avg.pct_of_peak_sustained_elapsed,\
smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio,smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio,\
smsp__average_warps_issue_stalled_no_instruction_per_issue_active.ratio,smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio,\
smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio,smsp__average_warps_issue_stalled_wait_per_issue_active.ratio,smsp__average_warps_issue_stalled_not_selected_per_issue_active.ratio

profile() { # shape workload old|new
  local shape=$1 workload=$2 point ncu
  ncu=${NCU:-$(command -v ncu || ls /usr/local/cuda*/bin/ncu 2>/dev/null | head -1)}
  [ -n "$ncu" ] && [ -s "$work/$shape.$workload.$3" ] && [ "$(left)" -gt 12 ] || return
  point=$(head -1 "$work/$shape.$workload.$3")
  ini "$point" >"$work/one.ini"
  timeout "$(left)" "$ncu" --csv --print-units base --clock-control none --cache-control all --target-processes all --kernel-name 'regex:^msda_(direct|coarse_smem)$' --launch-skip 1 --launch-count 1 --metrics "$counters" \
    "$tool" tune --gpu auto --space "$work/one.ini" --shape "$shape" --workload "$workload" --no-race --variant-limit 120 --db "$work/ncu.$shape.$workload.$3.sqlite" --quiet >"$work/ncu.txt" 2>&1
  { echo "# $shape $workload $3 $point"; grep '^"' "$work/ncu.txt" || tail -5 "$work/ncu.txt"; } >>"$out/ncu.csv"
  {
    printf '\n### ncu: %s, %s, best %s point: `%s`\n\n' "$shape" "$workload" "$3" "$(brief <<<"$point")"
    grep '^"' "$work/ncu.txt" | awk -F'","' 'NR > 1 { sub(/"$/, "", $NF); print "    " $(NF - 2) " " $NF }'
  } >>"$results"
}

subject detr_enc_b4 local2 45
subject seed48 local15 40
duel seed48 local15
duel detr_enc_b4 local2
subject detr_enc_b1 local2 35
subject seed48 uniform 25
subject seed48 local4 25
for which in old new; do profile seed48 local15 $which; profile detr_enc_b4 local2 $which; done
duel detr_enc_b1 local2
duel seed48 uniform
duel seed48 local4
echo "$((SECONDS - started)) s" | tee -a "$results"

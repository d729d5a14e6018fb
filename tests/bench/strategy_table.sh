#!/usr/bin/env bash
# Measures how fast the searches are, and prints a table: each program under several searches, the median
# of some runs. Usage: tests/bench/strategy_table.sh [RUNS [SECONDS [PROGRAM...]]] (after a build of mc and counts in
# build/, or in $BUILD). A search that takes more than SECONDS (default 60) is left out; a PROGRAM is as in 'ainc 7'.
# Nothing else should run meanwhile.
set -euo pipefail

runs=${1:-5} most=${2:-60}
BUILD=${BUILD:-build}
mc=$BUILD/tools/mc counts=$BUILD/tests/programs/counts
if [[ ! -x $mc || ! -x $counts ]]; then
  printf '%s or %s is missing: build mc and counts first, or set BUILD to the folder of a build\n' "$mc" "$counts" >&2
  exit 2
fi
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/json_field.sh"
report=$(mktemp)
trap 'rm -f "$report"' EXIT

searches='
odpor                               | --strategy=odpor
odpor, from the beginning each time | --strategy=odpor --no-checkpoints
odpor, every access                 | --strategy=odpor --no-shared-sites
the same, no race detection         | --strategy=odpor --no-shared-sites --internal-no-detection
source                              | --strategy=source
dpor                                | --strategy=dpor
'
programs=("${@:3}")
if ((${#programs[@]} == 0)); then
  programs=('lastzero 10' 'lastzero 15' 'readers 13' 'readers 15' 'ainc 7' 'ainc 9' 'indexer 15' 'indexer 16' 'lockinc 7'
    'lockinc 8' 'cinc 4' 'cinc 5' 'fib 5' 'fib 6')
fi

# Seconds of the search itself, or nothing if it did not end.
measure() { # PROGRAM mc-arguments...
  local program=$1
  shift
  read -ra words <<<"$program"
  "$mc" --quiet --pp=all --time="${most}s" --json="$report" "$@" "$counts" -- "${words[@]}" >/dev/null
  [[ $("$json_field" "$report" jobs.0.complete) == true ]] || return 0
  "$json_field" "$report" jobs.0.seconds
}

printf '| program | search | executions | given up | transitions | seconds | executions/s | ns/transition | MB |\n'
printf '|---|---|---|---|---|---|---|---|---|\n'
for program in "${programs[@]}"; do
  while IFS='|' read -r name options; do
    [[ -z ${name// /} ]] && continue
    read -ra options <<<"$options"
    times=()
    for ((run = 0; run < runs; ++run)); do
      seconds=$(measure "$program" "${options[@]}")
      [[ -n $seconds ]] || break
      times+=("$seconds")
    done
    ((${#times[@]} == runs)) || continue
    printf '%s\n' "${times[@]}" | sort -g | sed -n "$(((runs + 1) / 2))p" | awk \
      -v program="${program/ /(}" -v name="$(sed 's/ *$//' <<<"$name")" -v executions="$("$json_field" "$report" executions)" \
      -v blocked="$("$json_field" "$report" executions_blocked)" -v transitions="$("$json_field" "$report" transitions)" \
      -v kilobytes="$("$json_field" "$report" max_rss_kb)" '{
        printf "| %s | %s | %d | %d | %d | %.3f | %d | %d | %d |\n", program ")", name, executions, blocked, transitions, $1,
          executions / $1, 1e9 * $1 / transitions, kilobytes / 1024
      }'
  done <<<"$searches"
done

#!/usr/bin/env bash
# Measures how good the estimates of odpor are, and prints a table: what mc says of the whole after 1, 10 and 50 percent of
# the executions, as a part of what they come to in the end. No times, so it does not matter what else runs.
# Usage: tests/bench/estimate_table.sh (after a build of mc and counts in build/, or in $BUILD).
set -euo pipefail

BUILD=${BUILD:-build}
mc=$BUILD/tools/mc counts=$BUILD/tests/programs/counts
if [[ ! -x $mc || ! -x $counts ]]; then
  printf '%s or %s is missing: build mc and counts first, or set BUILD to the folder of a build\n' "$mc" "$counts" >&2
  exit 2
fi
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/json_field.sh"
report=$(mktemp)
trap 'rm -f "$report"' EXIT

programs=('ainc 7' 'cinc 4' 'readers 13' 'lastzero 10' 'indexer 15' 'lockinc 7' 'fib 5' 'twice 4' 'wcas 8')

# search PROGRAM mc-arguments...
search() {
  read -ra words <<<"$1"
  shift
  "$mc" --quiet --strategy=odpor --pp=all --json="$report" "$@" "$counts" -- "${words[@]}" >/dev/null
}

printf '| program | executions | after 1 %% | after 10 %% | after 50 %% |\n|---|---|---|---|---|\n'
for program in "${programs[@]}"; do
  search "$program"
  total=$("$json_field" "$report" executions)
  printf '| %s) | %d |' "${program/ /(}" "$total"
  for percent in 1 10 50; do
    search "$program" --executions=$((total * percent / 100))
    awk -v estimate="$("$json_field" "$report" jobs.0.estimated_total)" -v total="$total" 'BEGIN { printf " %.2f |", estimate / total }'
  done
  printf '\n'
done

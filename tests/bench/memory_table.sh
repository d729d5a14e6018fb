#!/usr/bin/env bash
# Measures how much memory odpor takes, and prints two tables. First, a search cut after more and more executions: it takes no
# more memory for that. Second, programs whose plans grow, with and without a cap: what the cap costs.
# Usage: tests/bench/memory_table.sh [EXECUTIONS [PROGRAM...]] (after a build of mc and counts in build/, or in $BUILD).
# At most so many executions (default 10000000: several minutes), and these programs under a cap, as in 'lastzero 13'.
set -euo pipefail

most=${1:-10000000}
programs=("${@:2}")
((${#programs[@]} > 0)) || programs=('lastzero 13' 'lastzero 15' 'readers 13' 'readers 15')
BUILD=${BUILD:-build}
mc=$BUILD/tools/mc counts=$BUILD/tests/programs/counts
if [[ ! -x $mc || ! -x $counts ]]; then
  printf '%s or %s is missing: build mc and counts first, or set BUILD to the folder of a build\n' "$mc" "$counts" >&2
  exit 2
fi
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/json_field.sh"
report=$(mktemp)
trap 'rm -f "$report"' EXIT

# search PROGRAM mc-arguments...
search() {
  read -ra words <<<"$1"
  shift
  "$mc" --quiet --strategy=odpor --pp=all --json="$report" "$@" "$counts" -- "${words[@]}" >/dev/null
}
value() { "$json_field" "$report" "$1"; }
megabytes() { awk -v kb="$(value max_rss_kb)" 'BEGIN { printf "%.1f", kb / 1024 }'; }

printf '| program | executions | seconds | MB |\n|---|---|---|---|\n'
for executions in $((most / 100)) $((most / 10)) "$most"; do
  search 'lockinc 11' --executions="$executions"
  printf '| lockinc(11) | %s | %.1f | %s |\n' "$(value executions)" "$(value jobs.0.seconds)" "$(megabytes)"
done

printf '\n| program | memory for requests | executions | verdict | seconds | MB | spilled |\n|---|---|---|---|---|---|---|\n'
for program in "${programs[@]}"; do
  for bytes in '' 1000000 300000 100000; do
    search "$program" ${bytes:+--internal-request-memory=$bytes}
    printf '| %s) | %s | %s | %s | %.2f | %s | %s |\n' "${program/ /(}" "${bytes:-any}" "$(value executions)" "$(value verdict)" \
      "$(value jobs.0.seconds)" "$(megabytes)" "$(value spilled_requests)"
  done
done

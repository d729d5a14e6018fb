# What the end-to-end tests share. Sourced, not run.
#
# From the environment (CMake sets them): MC, MC_CXX, MC_CC: the tools; SOURCE, BUILD: the two trees.
# Offers: $work, a folder of this test's own; build, run_mc, field, and the check_... functions; `finish` at the end.
set -uo pipefail

SOURCE=${SOURCE:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
BUILD=${BUILD:-$SOURCE/build}
MC=${MC:-$BUILD/tools/mc}
MC_CXX=${MC_CXX:-$BUILD/tools/mc-c++}
MC_CC=${MC_CC:-$BUILD/tools/mc-cc}
# Whatever folder a test goes to. (mc-c++ and mc-cc are one file: no readlink of the last part.)
for variable in SOURCE BUILD MC MC_CXX MC_CC; do
  path=${!variable}
  [[ $path == /* ]] || printf -v "$variable" %s "$PWD/$path"
done
here=$SOURCE/tests/e2e
programs=$SOURCE/tests/programs

work=$(mktemp -d "${TMPDIR:-/tmp}/mc-e2e.XXXXXX")
trap 'rm -rf "$work"' EXIT
checks=0
failures=0

. "$here/json_field.sh"

say_failure() {
  failures=$((failures + 1))
  printf 'FAILED %s\n' "$1"
  [[ -z ${last_command:-} ]] || printf '  command: %s\n' "$last_command"
  [[ -z ${last_line:-} ]] || printf '  last line: %s\n' "$last_line"
  [[ ! -s $work/stderr ]] || sed 's/^/  stderr: /' "$work/stderr" | head -n 8
}

# check NAME EXPECTED ACTUAL
check() {
  checks=$((checks + 1))
  [[ $2 == "$3" ]] || say_failure "$1: expected '$2', got '$3'"
}

# check_one_of NAME "A|B|..." ACTUAL
check_one_of() {
  checks=$((checks + 1))
  [[ "|$2|" == *"|$3|"* ]] || say_failure "$1: expected one of '$2', got '$3'"
}

# check_at_least NAME LEAST ACTUAL
check_at_least() {
  checks=$((checks + 1))
  [[ $3 =~ ^[0-9]+$ ]] && (($3 >= $2)) || say_failure "$1: expected at least $2, got '$3'"
}

# check_at_most NAME MOST ACTUAL
check_at_most() {
  checks=$((checks + 1))
  [[ $3 =~ ^[0-9]+$ ]] && (($3 <= $2)) || say_failure "$1: expected at most $2, got '$3'"
}

# check_matches NAME REGEX TEXT
check_matches() {
  checks=$((checks + 1))
  [[ $3 =~ $2 ]] || say_failure "$1: nothing matches '$2' in '$3'"
}

# check_lacks NAME REGEX TEXT
check_lacks() {
  checks=$((checks + 1))
  [[ ! $3 =~ $2 ]] || say_failure "$1: '$2' should not match '$3'"
}

finish() {
  printf '%d checks, %d failed\n' "$checks" "$failures"
  ((checks > 0 && failures == 0))
  exit
}

# build OUTPUT SOURCE [flags...]: compiles for mc, by the file's language. Flags that name libraries may follow.
build() {
  local output=$1 source=$2
  shift 2
  local compiler=("$MC_CXX" -std=c++20)
  [[ $source == *.c ]] && compiler=("$MC_CC" -std=c11)
  "${compiler[@]}" -Wall -Wextra "$source" "$@" -o "$output" 2>"$output.log" && return
  failures=$((failures + 1))
  printf 'FAILED to compile %s %s\n' "$source" "$*"
  head -n 20 "$output.log"
  return 1
}

# build_in_parallel: reads lines "OUTPUT SOURCE [flags...]" and builds them, as many at once as there are processors.
build_in_parallel() {
  export -f build
  export MC_CXX MC_CC failures
  # A blank at the end of a line would join it with the next one.
  sed 's|[[:space:]]*$||' | xargs -L 1 -P "$(nproc)" bash -c 'build "$@" >&2' build || failures=$((failures + 1))
}

# run_mc ARGUMENTS...: runs mc with --json. Sets status, last_line; leaves $work/{stdout,stderr,result.json}.
run_mc() {
  last_command="mc $*"
  rm -f "$work/result.json"
  timeout --kill-after=5 "${mc_timeout:-600}" "$MC" --output="$work/mc-out" --json="$work/result.json" "$@" \
    >"$work/stdout" 2>"$work/stderr" </dev/null
  status=$?
  last_line=$(tail -n 1 "$work/stdout")
}

# field PATH...: from the JSON of the last run_mc, one value a line.
field() { "$json_field" "$work/result.json" "$@" 2>/dev/null; }

# check_consistent NAME: exit status, last line and JSON of the last run say the same.
check_consistent() {
  local verdict
  verdict=$(field verdict)
  case $verdict in
    verified) check "$1: status" 0 "$status" && check_matches "$1: last line" '^mc: VERIFIED' "$last_line" ;;
    no-bug-found) check "$1: status" 0 "$status" && check_matches "$1: last line" '^mc: NO BUG FOUND' "$last_line" ;;
    bug) check "$1: status" 1 "$status" && check_matches "$1: last line" '^mc: BUG' "$last_line" ;;
    error) check_one_of "$1: status" '2|1' "$status" && check_matches "$1: last line" '^mc: ERROR' "$last_line" ;;
    *) say_failure "$1: no verdict (status $status)" ;;
  esac
}

# check_bug NAME KIND ALSO...: the last run reported a bug of this kind, and no others but ALSO.
check_bug() {
  local name=$1 kind=$2 kinds other
  shift 2
  check_consistent "$name"
  kinds=$(field 'bugs.*.kind' | sort -u)
  check_matches "$name" "(^|[[:space:]])$kind($|[[:space:]])" "$kinds"
  for other in $kinds; do
    check_one_of "$name: kinds" "$(tr ' ' '|' <<<"$kind $*")" "$other"
  done
}

# check_verified NAME
check_verified() {
  check_consistent "$1"
  check "$1" verified "$(field verdict)"
}

# line_of FILE MARK: the number of the line that has the comment `// @MARK` (or /* @MARK */).
line_of() { grep -n "@$2\b" "$1" | head -n 1 | cut -d: -f1; }

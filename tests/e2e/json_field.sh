# The reader of mc's JSON, compiled once per build tree: $json_field FILE path.to.a.field prints its value.
# Sourced, not run, with BUILD set.
json_field=$BUILD/tests/e2e/json_field
mkdir -p "$BUILD/tests/e2e"
(
  json_field_source=$(dirname "${BASH_SOURCE[0]}")/json_field.cc
  flock 9
  [[ $json_field -nt $json_field_source ]] ||
    "${CXX:-g++}" -std=c++17 -O1 "$json_field_source" -o "$json_field"
) 9>"$BUILD/tests/e2e/json_field.lock" || exit 1

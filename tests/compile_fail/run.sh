#!/usr/bin/env bash
# Mistakes against Clew's templates must read well: each case must give exactly one compile error,
# with the text that its first line expects.
# usage: run.sh COMPILER INCLUDE_DIRECTORY
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
compile=("$1" -std=c++20 -fsyntax-only -I "$2")
failed=0

fail() {
  echo "FAILED $1: $2" >&2
  failed=1
}

"${compile[@]}" "$here/compiles.cpp" || { echo "compiles.cpp must compile" >&2; exit 1; }

for case in "$here"/cases/*.cpp; do
  name=$(basename "$case" .cpp)
  expected=$(sed -n '1s,^// expect: ,,p' "$case")
  [[ -n $expected ]] || { fail "$name" "its first line is not '// expect: <regular expression>'"; continue; }
  if output=$(LC_ALL=C "${compile[@]}" "$case" 2>&1); then
    fail "$name" "it compiles"
    continue
  fi
  errors=$(grep -E ':[0-9]+: (fatal )?error: ' <<<"$output")
  if (($(wc -l <<<"$errors") != 1)); then
    fail "$name" "more than one error:"
    echo "$errors" >&2
  elif ! grep -qE "$expected" <<<"$errors"; then
    fail "$name" "expected /$expected/, got:"
    echo "$errors" >&2
  fi
done

((failed == 0)) && echo "all cases give the one error that they should"
exit "$failed"

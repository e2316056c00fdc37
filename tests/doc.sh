#!/bin/sh
# Runs the examples of the manual pages: what they print must match what the pages say.
# Usage: doc.sh [page]...   Environment: BENCH, the program.
#
# In a page, the comment  .\" example: NAME.lua ARGUMENTS  before a literal display names the file
# it becomes and how it is run; each  .\" prints: REGEX  after it must match a line (\t is a tab).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
BENCH=${BENCH:-bin/bench}
case $BENCH in
*/*) BENCH=$(cd "$(dirname "$BENCH")" && pwd)/$(basename "$BENCH") ;;
esac
[ $# -gt 0 ] || set -- "$here"/../man/*.[1-9]
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
examples=0
failed=0

# Writes example N of a page to $work: N.lua.name, N.args, N.prints and the script itself.
split()
{
  awk -v work="$work" '
    sub(/^\.\\" example: /, "") {
      n++; args = $0; sub(/^[^ ]+ */, "", args)
      name = $1; folder = work "/" n; system("mkdir -p " folder)
      printf "%s\n", name >(folder "/name"); printf "%s\n", args >(folder "/args")
      printf "" >(folder "/prints")
      waiting = 1
      next
    }
    sub(/^\.\\" prints: /, "") { print >(folder "/prints"); next }
    waiting && /^\.Bd/ { inside = 1; waiting = 0; next }
    inside && /^\.Ed/ { inside = 0; next }
    inside { sub(/^\\&/, ""); gsub(/\\e/, "\\"); print >(folder "/" name) }
    END { print n + 0 }' "$1"
}

# page, folder of the example
check()
{
  name=$(cat "$2/name")
  # shellcheck disable=SC2046 # the arguments of an example are words
  (cd "$2" && env -u BENCH_COMPAT "$BENCH" "$name" $(cat args) >out 2>&1) || {
    echo "$1: $name failed:"
    cat "$2/out"
    return 1
  }
  while IFS= read -r pattern; do
    grep -qP -- "$pattern" "$2/out" && continue
    echo "$1: $name printed no line like: $pattern"
    cat "$2/out"
    return 1
  done <"$2/prints"
}

for page in "$@"; do
  rm -rf "${work:?}"/*
  count=$(split "$page")
  i=0
  while [ "$i" -lt "$count" ]; do
    i=$((i + 1))
    check "$(basename "$page")" "$work/$i" || failed=$((failed + 1))
    examples=$((examples + 1))
  done
done
echo "$examples examples, $failed failed"
[ "$examples" -gt 0 ] && [ "$failed" -eq 0 ]

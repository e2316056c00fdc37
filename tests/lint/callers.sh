#!/bin/sh
# Fails on what the program or a module defines for others and no other object uses, and on what
# a header of src declares and nothing defines.  Scripts call what exports.list names.  A call from
# a test is not enough: a function that only tests call serves no user.  What its own file uses may
# be external for the sake of a test.  Usage: callers.sh build-directory [source root]
set -eu
export LC_ALL=C # one order for sort, comm and join
here=$(cd "$(dirname "$0")" && pwd)
symbols=$("$here/objects.sh" "${1:?build directory}")
cd "${2:-$here/../..}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Names in sources that this build does not compile: a lock library is absent, a processor differs.
elsewhere()
{
  echo "$symbols" | sed 's/ .*//; s/.*://; s/\.o$/.c/' | sort -u >"$work/compiled"
  "$here/files.sh" '*.c' | grep '^src/' | sort | comm -23 - "$work/compiled" |
    while read -r file; do awk -f "$here/strip.awk" "$file"; done |
    grep -oE 'bn_[a-z0-9_]+' | sort -u
}

# What scripts call.
exported()
{
  grep -oE 'bn_[a-z0-9_]+' src/script/api/exports.list 2>/dev/null || :
}

declared()
{
  "$here/files.sh" '*.h' | grep '^src/' | while read -r file; do
    awk -f "$here/strip.awk" "$file" | awk -v file="$file" -f "$here/declared.awk"
  done
}

elsewhere >"$work/elsewhere" || :
{
  echo "$symbols" | awk '$3 == "U" { print $2 }'
  cat "$work/elsewhere"
  exported
} | sort -u >"$work/used"
{
  echo "$symbols" | awk '$3 == "D" { print $2 }'
  cat "$work/elsewhere"
} | sort -u >"$work/defined"

# name, source
judge()
{
  uses=$(awk -f "$here/strip.awk" "$2" 2>/dev/null | grep -ow "$1" | wc -l)
  if [ "$uses" -lt 2 ]; then
    echo "$2: nothing uses $1"
  elif ! grep -qw "$1" "$work/tests"; then
    echo "$2: no other file uses $1, so it should be static"
  fi
}

"$here/files.sh" '*.c' '*.h' | grep -E '^(tests|perf)/' | xargs -r cat >"$work/tests"
complaints=$(
  echo "$symbols" | awk '$3 == "D" && $2 ~ /^bn_/ { print $2, $1 }' |
    sed 's/ .*:/ /; s/\.o$/.c/' | sort -u | join -v 1 - "$work/used" |
    while read -r name source; do judge "$name" "$source"; done
  declared | sort -k 2 | join -1 2 -2 1 -v 1 - "$work/defined" |
    sed 's/\(.*\) \(.*\)/\2: nothing defines \1/'
)
[ -z "$complaints" ] || { echo "$complaints"; exit 1; }

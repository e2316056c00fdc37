#!/bin/sh
# Fails on files over 800 lines (1200 with the words "lint: table" in the first ten), functions over
# 60 lines (80 with a switch, or with those words within) and lines over 100 columns.
# Usage: length.sh [source root]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "${1:-$here/../..}"

columns()
{
  "$here/files.sh" '*.[ch]' '*.lua' '*.sh' '*.awk' quickstart check .ci/run |
    grep -v '^tests/compat/golden/' |
    LC_ALL=C.UTF-8 xargs -r awk '
      length($0) > 100 { printf "%s:%d: %d columns\n", FILENAME, FNR, length($0) }'
}

# A function is what stands between an opening and a closing brace in the first column.
functions()
{
  "$here/files.sh" '*.[ch]' | xargs -r awk '
    function finish() {
      if (file != "" && lines > (table ? 1200 : 800)) printf "%s: %d lines\n", file, lines
    }
    FNR == 1 { finish(); file = FILENAME; table = 0; inside = 0 }
    { lines = FNR }
    FNR <= 10 && /lint: table/ { table = 1 }
    /^\{/ { inside = 1; start = FNR; limit = 60 }
    inside && /(^|[^a-z_])switch \(|lint: table/ { limit = 80 }
    inside && /^\}/ {
      inside = 0
      if (FNR - start + 1 > limit)
        printf "%s:%d: function of %d lines\n", FILENAME, start, FNR - start + 1
    }
    END { finish() }'
}

complaints=$(columns; functions)
[ -z "$complaints" ] || { echo "$complaints"; exit 1; }

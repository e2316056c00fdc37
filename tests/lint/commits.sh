#!/bin/sh
# Fails on commits whose message is not as CONTRIBUTING.md has it: a subject "area: imperative" of
# at most 60 columns, an empty line, and a body that says why, of lines of at most 72 columns.
# Looks at the commits after BASE, else at the last 200; at none that is older than the rule, and
# at none where there is no history: in a package.  Usage: commits.sh [source root [BASE]]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "${1:-$here/../..}"
# 2026-11-21 10:42:09 UTC, by the time of the commit: a shallow clone has no older ones to name.
rule=1795257729

[ -e .git ] && git rev-parse -q --verify HEAD >/dev/null 2>&1 || exit 0

judge() # hash; the message comes on standard input
{
  LC_ALL=C.UTF-8 awk -v commit="$1" '
    function complain(text) { printf "%.12s: %s: %s\n", commit, text, $0 }
    NR == 1 && !/^[a-z][-a-z0-9 ,.\/_]*: [^ ]/ { complain("no subject \"area: what it does\"") }
    NR == 1 && length($0) > 60 { complain("a subject of " length($0) " columns") }
    NR == 1 && /\.$/ { complain("a subject with a final period") }
    NR == 2 && $0 != "" { complain("no empty line after the subject") }
    # A word that is longer than a line cannot be broken.
    NR > 1 && length($0) > 72 && / / { complain("a line of " length($0) " columns") }
    NR > 2 && !/^[ \t]*$/ && !/^[A-Z][A-Za-z-]*-by: / { body = 1 }
    END { if (!body) { $0 = ""; complain("no body that says why") } }'
}

complaints=$(git log --no-merges --since="@$rule" -n 200 --format=%H ${2:+"$2.."} |
  while read -r commit; do git log -1 --format=%B "$commit" | judge "$commit"; done)
[ -z "$complaints" ] || { echo "$complaints"; exit 1; }

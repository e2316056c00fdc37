#!/bin/sh
# Fails on functions we do not call, on preprocessor conditions within functions and on C files
# without their head (licence line, then a comment).  Usage: banned.sh [source root]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "${1:-$here/../..}"

# file
banned()
{
  awk -f "$here/strip.awk" "$1" | awk -v file="$1" '
    function word(names) { return $0 ~ ("(^|[^A-Za-z0-9_.>])(" names ")([^A-Za-z0-9_]|$)") }
    function call(names) { return $0 ~ ("(^|[^A-Za-z0-9_.>])(" names ")[ ]*\\(") }
    function complain(text) { printf "%s:%d: %s\n", file, NR, text }
    BEGIN {
      test = file ~ /^(tests|perf)\//
      may_exit = test || file ~ /^src\/(main|base\/spawn)\.c$/ ||
                 file ~ /^src\/hosts\/(agent|bridge|control|nest|starter)\.c$/ ||
                 file ~ /^src\/(engine\/signals|script\/vm\/stackguard)\.c$/
      may_print = test || file ~ /^src\/((main|base\/log|option\/opthelp)\.c|(cli|report|study)\/)/
    }
    call("atoi|atol|atoll|atof|strtok|strcpy|strcat|sprintf|vsprintf|gets") {
      complain("a function that cannot report errors or bounds")
    }
    call("pthread_cancel|alloca|rand|srand|random|srandom") { complain("not used here") }
    call("exit|abort|_exit|_Exit|quick_exit") && !may_exit {
      complain("only main, the receiver of signals, the controller, agents and bridges exit")
    }
    (call("printf|puts|putchar|perror|vprintf") || word("stdout|stderr")) && !may_print {
      complain("only log, report, study and cli print")
    }
    word("asm|__asm__|__asm") { complain("inline assembly") }
    /^\{/ || /^[a-z].*\).*\{[ \t]*$/ { inside = 1 }
    inside && /^[ \t]*#[ \t]*(if|elif|else)/ { complain("a condition within a function") }
    /^\}/ { inside = 0 }'
}

# file
head_of()
{
  awk -v file="$1" '
    NR == 1 && $0 != "/* SPDX-License-Identifier: GPL-2.0-or-later */" {
      printf "%s:1: no licence line\n", file
    }
    NR == 2 && $0 !~ /^\/\*/ { printf "%s:2: no comment that says what the file is for\n", file }
    NR == 2 { exit }' "$1"
}

complaints=$("$here/files.sh" '*.[ch]' | while read -r file; do
  head_of "$file"
  banned "$file"
done)
[ -z "$complaints" ] || { echo "$complaints"; exit 1; }

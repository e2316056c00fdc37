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
    # The words stand in one expression too, so that most lines are looked at once.
    function list(names) {
      any = any (any ? "|" : "") names
      return "(^|[^A-Za-z0-9_.>])(" names ")"
    }
    function call(names) { return list(names) "[ ]*\\(" }
    function word(names) { return list(names) "([^A-Za-z0-9_]|$)" }
    function complain(text) { printf "%s:%d: %s\n", file, NR, text }
    BEGIN {
      test = file ~ /^(tests|perf)\//
      may_exit = test || file ~ /^src\/(main|base\/(alloc|spawn))\.c$/ ||
                 file ~ /^src\/hosts\/(agent|bridge|controller|temp_folder)\.c$/ ||
                 file == "src/engine/watchdog.c"
      may_print = test || file ~ /^src\/((main|base\/log|option\/opthelp)\.c|(cli|report|study)\/)/
      careless = call("atoi|atol|atoll|atof|strtok|strcpy|strcat|sprintf|vsprintf|gets")
      unused = call("pthread_cancel|alloca|rand|srand|random|srandom")
      ends = call("exit|abort|_exit|_Exit|quick_exit")
      prints = call("printf|puts|putchar|perror|vprintf") "|" word("stdout|stderr")
      assembly = word("asm|__asm__|__asm")
    }
    $0 ~ any {
      if ($0 ~ careless) complain("a function that cannot report errors or bounds")
      if ($0 ~ unused) complain("not used here")
      if (!may_exit && $0 ~ ends)
        complain("only main, alloc, the watchdog, the controller, agents and bridges exit")
      if (!may_print && $0 ~ prints) complain("only log, report, study and cli print")
      if ($0 ~ assembly && file !~ /^src\/base\/fiber_/) complain("inline assembly")
    }
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

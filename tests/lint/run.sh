#!/bin/sh
# Runs the lints and prints a line for each; exit status 1 if one failed.
# Usage: run.sh source-root build-directory [lint...]; without names all but Clang's analyser, which
# takes minutes.
set -u
root=$(cd "$1" && pwd)
build=$(cd "$2" && pwd)
shift 2
lint=$root/tests/lint
failed=0

run() # name, arguments
{
  name=$1
  shift
  if output=$("$lint/$name.sh" "$@" 2>&1); then
    echo "ok    $name"
  else
    echo "FAIL  $name"
    echo "$output" | sed 's/^/      /'
    failed=1
  fi
}

[ $# -gt 0 ] || set -- layers length clang banned waits words headers format shell listed \
  libraries packages luacheck luaglobals dialects optionlists figurelists commits circles callers \
  globals exports needed kernels selftest

for name; do
  case $name in
  analyze | clang) run "$name" "$root" "$build" ;;
  callers) run callers "$build" "$root" ;;
  exports) run exports "$build" "$root/src/script/api/exports.list" ;;
  circles | globals | needed | kernels) run "$name" "$build" ;;
  selftest) run selftest ;;
  *) run "$name" "$root" ;;
  esac
done
exit $failed

#!/bin/sh
# Runs every lint and prints a line for each; exit status 1 if one failed.
# Usage: run.sh source-root build-directory
set -u
root=$(cd "$1" && pwd)
build=$(cd "$2" && pwd)
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

for name in layers length banned waits words headers format shell listed libraries packages \
  luaglobals dialects commits; do
  run "$name" "$root"
done
run analyze "$root" "$build"
run circles "$build"
run callers "$build" "$root"
run globals "$build"
run exports "$build" "$root/src/script/api/exports.list"
run needed "$build"
run kernels "$build"
run selftest
exit $failed

#!/bin/sh
# Fails unless the program exports exactly src/script/api/exports.list, each module exactly the
# descriptor of its kind (bench_driver), and no module expects a symbol of ours from the program.
# Usage: exports.sh build-directory [exports.list]
set -eu
build=${1:?build directory}
list=${2:-$(dirname "$0")/../../src/script/api/exports.list}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

# Copies of libc variables and the symbols of the C runtime are not ours.
runtime='@|^(_init|_fini|__bss_start|_?edata|_?end|(__)?data_start|_IO_stdin_used)$'

exported()
{
  nm -D --defined-only "$1" | awk '{ print $NF }' | grep -vE "$runtime" | sort || true
}

sed 's/#.*//; s,/\*.*\*/,,g; s/[{};]/ /g' "$list" | tr -s ' \t' '\n\n' |
  sed '/^$/d' | sort >"$work/wanted"
if grep -q '[*?[]' "$work/wanted"; then
  echo "$list: name each symbol, without wildcards"
  status=1
fi
exported "$build/bin/bench" >"$work/found"
diff "$work/wanted" "$work/found" >"$work/diff" || {
  sed -n 's,^< ,bin/bench: not exported: ,p; s,^> ,bin/bench: not listed: ,p' "$work/diff"
  status=1
}

# A module of kind K lies in lib/bench/Ks and exports bench_K.
modules=0
for module in "$build"/lib/bench/*/*.so; do
  [ -e "$module" ] || continue
  modules=$((modules + 1))
  kind=$(basename "$(dirname "$module")")
  wanted=bench_${kind%s}
  for symbol in $(exported "$module"); do
    [ "$symbol" = "$wanted" ] || { echo "$module: exports $symbol"; status=1; }
  done
  exported "$module" | grep -qx "$wanted" || {
    echo "$module: does not export $wanted"
    status=1
  }
  nm -D --undefined-only "$module" | awk -v module="$module" '
    $NF ~ /^(bn|sb|db)_/ { print module ": expects " $NF; bad = 1 } END { exit bad }' || status=1
done
[ "$modules" -gt 0 ] || { echo "$build: no module was built"; status=1; }
exit $status

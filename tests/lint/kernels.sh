#!/bin/sh
# Fails unless the loops of the memory test access memory as they must, by the program's own code:
# words of 64 bits, none of them merged, dropped or made of vectors; in order eight different ones
# in a round of the loop, at random one.  Looks at x86-64 only.  Usage: kernels.sh build-directory
set -eu
program=${1:?build directory}/bin/bench
here=$(dirname "$0")

objdump -f "$program" | grep -q 'elf64-x86-64' || exit 0
code=$(mktemp)
trap 'rm -f "$code"' EXIT
objdump -d --no-show-raw-insn "$program" >"$code"

status=0
while read -r name kind order; do
  awk -v name="$name" -v kind="$kind" -v order="$order" -f "$here/kernels.awk" "$code" || status=1
done <<'END'
memory_read_seq load sequential
memory_write_seq store sequential
memory_write_remaining_seq store sequential
memory_read_uniform load random
memory_write_uniform store random
memory_write_remaining_uniform store random
END
exit $status

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
seq_read load sequential
seq_write store sequential
seq_write_remaining store sequential
rnd_read_any load random
rnd_write_any store random
rnd_write_remaining_any store random
END
exit $status

#!/bin/sh
# The vector kernels of the memory test against STREAM as its definition has it, compiled here for
# this processor: MiB per second by STREAM's way of counting, on arrays of 128 MiB.
set -eu
. "$(dirname "$0")/lib.sh"

# kernel, threads
ours()
{
  "$BENCH_BIN" memory --memory-kernel="$1" --threads="$2" --memory-block-size=128M \
    --memory-total-size=0 --time=1 run 2>/dev/null |
    sed -n 's/.*transferred (\(.*\) MiB.*/\1/p'
}

# kernel, threads
stream()
{
  OMP_NUM_THREADS=$2 "$PERF_TMP/stream" "$1"
}

perf_init 'memory --memory-kernel: MiB per second, the reference is STREAM'
${CC:-cc} -O3 -march=native -mcmodel=medium -fopenmp -o "$PERF_TMP/stream" "$PERF_DIR/stream.c"
for threads in 1 2; do
  for kernel in copy scale add triad; do
    perf_row "$kernel, $threads thread(s)" '>=0.95' "ours $kernel $threads" \
      "stream $kernel $threads"
  done
done
perf_end

#!/bin/sh
# The mutex test against the reference: milliseconds that the threads' single events take.
set -eu
PERF_PAIRS=${PERF_PAIRS:-9}
. "$(dirname "$0")/lib.sh"

# program, --threads
took()
{
  BENCH_COMPAT=1.0 "$1" mutex --threads="$2" --mutex-num=4096 --mutex-locks=50000 \
    --mutex-loops=10000 run 2>/dev/null |
    awk '/^ *avg:/ { print $2 }'
}

perf_init 'mutex: milliseconds per event'
for threads in 1 2 16; do
  perf_row "mutex, $threads thread(s)" 0.97..1.03 \
    "took '$BENCH_BIN' $threads" "took '$REFERENCE_BIN' $threads"
done
perf_end

#!/bin/sh
# Scores of the threads test against the reference: events per second of locks, yields and unlocks.
set -eu
PERF_PAIRS=${PERF_PAIRS:-9}
. "$(dirname "$0")/lib.sh"

# program, --threads
score()
{
  BENCH_COMPAT=1.0 "$1" threads --threads="$2" --time="$PERF_SECONDS" run 2>/dev/null |
    awk '/^ *total time:/ { sub(/s$/, "", $3); time = $3 }
         /^ *total number of events:/ { printf "%.8g\n", $5 / time }'
}

perf_init 'threads: events per second'
for threads in 64 2; do
  perf_row "threads, $threads threads" 0.97..1.03 \
    "score '$BENCH_BIN' $threads" "score '$REFERENCE_BIN' $threads"
done
perf_end

#!/bin/sh
# Score of the cpu test against the reference: the same arithmetic must take the same time.
# PERF_CLOCK=processor: events per second of processor time, for a machine with other work on it.
set -eu
. "$(dirname "$0")/lib.sh"

# program, --cpu-max-prime, --threads
score()
{
  "$measure" run "$1" cpu --cpu-max-prime="$2" --threads="$3" --time="$PERF_SECONDS" run |
    awk -v clock="${PERF_CLOCK:-elapsed}" '
      /^ *events per second:/ { score = $4 }
      /^ *total number of events:/ { events = $5 }
      /^processor time:/ { used = $3 }
      END { print(clock == "processor" ? events / used : score) }'
}

perf_init "cpu: events per second (${PERF_CLOCK:-elapsed})"
measure=$(perf_measure)
for limit in 10000 15000; do
  for threads in 1 2; do
    perf_row "cpu --cpu-max-prime=$limit, $threads thread(s)" 0.97..1.03 \
      "score '$BENCH_BIN' $limit $threads" "score '$REFERENCE_BIN' $limit $threads"
  done
done
perf_end

#!/bin/bash
# Repeats parts of the test suite for hours.
# Usage: tests/soak.sh BUILD PART..., or make soak [SOAK='calls faults'] [VARIABLE=N]
# Each part is a line with its numbers; the last line is "N passed, N failed".  `make soak` sets the
# variables that say how much of each part is done:
#   reports      SOAK_RUNS=200        interrupts runs of each report format, and fills their disks
#   signals      SOAK_RUNS=200        interrupts runs and `prepare` of each workload
#   documents    SOAK_DOCUMENTS=2000  gives damaged documents to the commands that read them
#   hosts        SOAK_SCHEDULES=50    breaks runs on hosts; ranks of each launcher on each network
#   calls        SOAK_STEP=1          lets each (or every N-th) allocation and write of runs fail
#   servercalls  SOAK_STEP=1          the same with MariaDB and PostgreSQL, and each connect
#   faults       SOAK_FAULTS=200      freezes, kills and locks servers, and breaks connections
#   sessions     SOAK_EVENTS=600      compares sessions with that many events for numbers of workers
#   resets       SOAK_SECONDS=1800    resets one connection of twenty; looks at memory, descriptors
#   checks       SOAK_CHECKS=100      checks the rows of order_entry that often, beside its load
#   fuzz         FUZZ_SECONDS=600     builds the fuzz targets with clang, and runs each
# `calls` and `servercalls` meet allocations at which LuaJIT and libmariadb crash.  These crashes
# are no faults of bench; the lines below that of the part name them.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$1" && pwd)
logs=$build/soak-logs
shift
mkdir -p "$logs"
passed=0
failed=0

# The tests that failed or could not run count as failed, skipped ones too.
tests() # part, pytest arguments...
{
  local log=$logs/$1.log began=$SECONDS good bad word=ok
  BENCH=$build/bin/bench PYTHONDONTWRITEBYTECODE=1 env --default-signal=HUP,INT,QUIT,TERM \
    "${PYTHON3:-python3}" -m pytest -q -rA --tb=short -p no:cacheprovider "${@:2}" >"$log" 2>&1
  good=$(grep -c '^PASSED ' "$log")
  bad=$(grep -cE '^(FAILED|ERROR|SKIPPED) ' "$log")
  [ $((good + bad)) -gt 0 ] || bad=1
  tell "$1" "$good" "$bad" $((SECONDS - began))
  sed -n 's/^soak: /      /p' "$log"
}

tell() # part, passed, failed, seconds
{
  local word=ok
  [ "$3" -eq 0 ] || word=FAIL
  printf '%-4s  %-12s %4d passed, %d failed  (%d s)\n' "$word" "$1" "$2" "$3" "$4"
  [ "$3" -eq 0 ] || grep -E '^(FAILED|ERROR|SKIPPED) |SUMMARY: ' "$logs/$1.log" |
    cut -c 1-200 | head -n 20 | sed 's/^/      /'
  passed=$((passed + $2))
  failed=$((failed + $3))
}

part_reports() { BENCH_FAULTS=$SOAK_RUNS tests reports "$root/tests/cli/test_report_faults.py"; }

part_documents()
{
  BENCH_DOCUMENTS=$SOAK_DOCUMENTS tests documents "$root/tests/cli/test_hostile_documents.py"
}

part_signals()
{
  BENCH_SIGNALS=$SOAK_RUNS tests signals "$root/tests/cli/test_signal_moments.py" \
    "$root/tests/servers/test_signal_moments_sql.py"
}

part_hosts()
{
  BENCH_ALL_NETWORKS=1 BENCH_SCHEDULES=$SOAK_SCHEDULES tests hosts \
    "$root/tests/hosts/test_loss.py" "$root/tests/hosts/test_network.py" \
    "$root/tests/hosts/test_schedules.py"
}

part_calls() { BENCH_TORTURE=$SOAK_STEP tests calls "$root/tests/cli/test_torture.py"; }

part_servercalls()
{
  BENCH_TORTURE=$SOAK_STEP tests servercalls "$root/tests/servers/test_torture_servers.py"
}

part_faults()
{
  BENCH_FAULT_SCHEDULES=$(((SOAK_FAULTS + 1) / 2)) tests faults \
    "$root/tests/servers/test_fault_schedules.py"
}

part_sessions()
{
  BENCH_SESSION_EVENTS=$SOAK_EVENTS tests sessions "$root/tests/servers/test_sessions_equal.py"
}

part_resets() { BENCH_RESETS=$SOAK_SECONDS tests resets "$root/tests/servers/test_resets.py"; }

part_checks()
{
  BENCH_ORDER_CHECKS=$SOAK_CHECKS tests checks -k beside_a_run \
    "$root/tests/servers/test_order_entry_check_servers.py"
}

# Fuzz targets need a build of their own.
part_fuzz()
{
  local log=$logs/fuzz.log began=$SECONDS good bad
  mkdir -p "$build/soak-fuzz"
  (cd "$build/soak-fuzz" &&
    "$root/configure" --quiet CC=clang --enable-fuzzing --enable-asan --enable-ubsan &&
    make -s -k fuzz FUZZ_SECONDS="$FUZZ_SECONDS") >"$log" 2>&1
  bad=$?
  good=$(grep -c '^stat::number_of_executed_units' "$log")
  [ "$bad" -eq 0 ] || bad=1
  tell fuzz "$good" "$bad" $((SECONDS - began))
  awk '/^== / { name = $2 } /^stat::number_of_executed_units/ { print "      " name " " $2 }' "$log"
}

for part; do
  declare -F "part_$part" >/dev/null || {
    echo "soak: there is no part '$part'" >&2
    exit 1
  }
  "part_$part"
done
echo "logs: $logs"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

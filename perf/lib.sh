# shellcheck shell=sh
# The scripts of this folder share these: pairs of runs in alternation, medians, ratios, facts about
# the host.  Sourced, not run.  Environment: BENCH_BIN, REFERENCE_BIN, PERF_PAIRS, PERF_SECONDS.
#
#   . "$(dirname "$0")/lib.sh"
#   perf_init 'what is compared'
#   perf_row 'label' '0.97..1.03' 'command for ours' 'command for the reference'
#   perf_value 'label' '<=3' 'command'
#   perf_end
#
# Commands are evaluated by this shell (functions may be named) and print one number.  Targets are
# LOW..HIGH, <=HIGH, >=LOW, or - for none.

BENCH_BIN=${BENCH_BIN:-bin/bench}
REFERENCE_BIN=${REFERENCE_BIN:-/usr/bin/sysbench}
PERF_PAIRS=${PERF_PAIRS:-5}
PERF_SECONDS=${PERF_SECONDS:-3}
PERF_DIR=$(cd "$(dirname "$0")" && pwd)
perf_missed=0

# The full path of a program.
perf_find()
{
  perf_path=$(command -v "$1") && perf_path=$(realpath "$perf_path") || {
    echo "cannot run '$1': set BENCH_BIN and REFERENCE_BIN" >&2
    return 1
  }
  echo "$perf_path"
}

# Title.  Prints what is needed to read the numbers later.  Runs go on in an empty folder, because
# the reference looks for scripts in ./src/lua too and would take ours.
perf_init()
{
  BENCH_BIN=$(perf_find "$BENCH_BIN") || exit 2
  REFERENCE_BIN=$(perf_find "$REFERENCE_BIN") || exit 2
  unset BENCH_COMPAT
  PERF_TMP=$(mktemp -d)
  trap 'rm -rf "$PERF_TMP"' EXIT
  trap 'exit 130' INT TERM
  cd "$PERF_TMP"
  echo "# $1"
  echo "# $(perf_host)"
  echo "# $("$BENCH_BIN" --version) against $("$REFERENCE_BIN" --version)," \
    "medians of $PERF_PAIRS pairs"
  printf '%-44s %12s %12s %7s %-16s %s\n' row ours reference ratio '(of pairs)' wanted
}

perf_host()
{
  perf_cpu=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
  echo "${perf_cpu:-unknown processor}, $(nproc) processors, Linux $(uname -r)," \
    "load $(cut -d ' ' -f 1 /proc/loadavg), $(date -u +%Y-%m-%dT%H:%MZ)"
}

# Reads numbers, one per line.
perf_median()
{
  sort -g |
    awk '{ v[NR] = $1 } END { if (NR) print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'
}

# number, target: "met", "missed", or nothing when no target was set
perf_judge()
{
  awk -v x="$1" -v t="$2" 'BEGIN {
    low = -1e300; high = 1e300
    if (t == "-") exit
    if (sub(/^<=/, "", t)) high = t
    else if (sub(/^>=/, "", t)) low = t
    else { split(t, b, /\.\./); low = b[1]; high = b[2] }
    print(x + 0 >= low + 0 && x + 0 <= high + 0 ? "met" : "missed")
  }'
}

# A command that must print a number.
perf_number()
{
  perf_out=$(eval "$1") || perf_out=
  case $perf_out in
  [0-9]* | -[0-9]*) echo "$perf_out" ;;
  *)
    echo "no number came from: $1" >&2
    return 1
    ;;
  esac
}

# label, target, command, command.  Who goes first changes with every pair, so that neither profits
# from what the machine does meanwhile; the ratio is the median of the ratios of the pairs.
perf_row()
{
  perf_ours=$PERF_TMP/ours perf_ref=$PERF_TMP/ref perf_i=0
  : >"$perf_ours" && : >"$perf_ref"
  while [ "$perf_i" -lt "$PERF_PAIRS" ]; do
    if [ $((perf_i % 2)) -eq 0 ]; then
      perf_number "$3" >>"$perf_ours" && perf_number "$4" >>"$perf_ref" || perf_i=failed
    else
      perf_number "$4" >>"$perf_ref" && perf_number "$3" >>"$perf_ours" || perf_i=failed
    fi
    [ "$perf_i" != failed ] || break
    perf_i=$((perf_i + 1))
  done
  # Nothing that is compared here costs nothing: a 0 comes from a run that failed.
  if awk '$1 == 0 { found = 1 } END { exit !found }' "$perf_ours" "$perf_ref"; then
    echo "a run measured 0: $1" >&2
    perf_i=failed
  fi
  if [ "$perf_i" = failed ]; then
    printf '%-44s failed\n' "$1"
    perf_missed=1
    return
  fi
  paste "$perf_ours" "$perf_ref" | awk '{ print $1 / $2 }' | sort -g >"$PERF_TMP/ratios"
  perf_ratio=$(perf_median <"$PERF_TMP/ratios")
  perf_verdict=$(perf_judge "$perf_ratio" "$2")
  [ "$perf_verdict" != missed ] || perf_missed=1
  printf '%-44s %12.6g %12.6g %7.3f %-16s %s %s\n' "$1" "$(perf_median <"$perf_ours")" \
    "$(perf_median <"$perf_ref")" "$perf_ratio" \
    "($(awk 'NR == 1 { low = $1 } END { printf "%.3f..%.3f", low, $1 }' "$PERF_TMP/ratios"))" \
    "$2" "$perf_verdict"
}

# label, target, command: a number that stands alone, measured once
perf_value()
{
  if perf_x=$(perf_number "$3"); then
    perf_verdict=$(perf_judge "$perf_x" "$2")
    [ "$perf_verdict" != missed ] || perf_missed=1
    printf '%-44s %12.6g %12s %7s %-16s %s %s\n' "$1" "$perf_x" - - - "$2" "$perf_verdict"
  else
    printf '%-44s failed\n' "$1"
    perf_missed=1
  fi
}

# Compiles the measuring program beside the other temporary files and prints its path.
perf_measure()
{
  [ -x "$PERF_TMP/measure" ] ||
    ${CC:-cc} -O2 -D_GNU_SOURCE -o "$PERF_TMP/measure" "$PERF_DIR/measure.c" >&2
  echo "$PERF_TMP/measure"
}

# Exit status 1 when a target was missed or a row failed.
perf_end()
{
  exit "$perf_missed"
}

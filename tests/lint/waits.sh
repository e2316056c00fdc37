#!/bin/sh
# Fails on calls that block, start a thread or wake one in base/ and engine/ outside base/wait.c:
# a wait there says what it waits for and what bounds it.  base/spawn.c collects a child that has
# said that it ends.  Fails too on a wait that tests/unit/test_run_waits.c does not list.
# Usage: waits.sh [source root]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "${1:-$here/../..}"

check() # file
{
  awk -f "$here/strip.awk" "$1" | awk -v file="$1" '
    function call(names) { return $0 ~ ("(^|[^A-Za-z0-9_.>])(" names ")[ ]*\\(") }
    BEGIN { clock = file == "src/base/clock.c"; spawn = file == "src/base/spawn.c" }
    call("pthread_(create|join|timedjoin_np|clockjoin_np|tryjoin_np)") ||
    call("pthread_(cond_[a-z]+|condattr_[a-z]+|barrier_[a-z]+|kill|sigqueue)") &&
      $0 !~ /pthread_cond_destroy[ ]*\(/ && $0 !~ /pthread_kill\(atomic_load\(&receiver/ ||
    call("cnd_[a-z]+|thrd_[a-z]+|sem_[a-z]+|futex|syscall") ||
    call("sleep|usleep|nanosleep|pause|sigsuspend|sigwait|sigwaitinfo|sigtimedwait") ||
    call("poll|ppoll|select|pselect|epoll_p?wait2?|waitid|wait3|wait4") ||
    (call("waitpid") && !spawn) ||
    (call("clock_nanosleep") && !clock) {
      printf "%s:%d: only base/wait.c blocks, starts threads and wakes them\n", file, NR
    }'
}

# A wait that no test enters.  Simulated runs have no sockets: test_loop.c waits for them.
untested()
{
  [ "$1" != src/engine/loop.c ] || return 0
  grep -ohE 'struct bn_wait [a-z_]+ = \{"[^"]*"' "$1" | sed 's/.*{//' | while read -r what; do
    grep -qF "{$what," tests/unit/test_run_waits.c 2>/dev/null ||
      echo "$1: tests/unit/test_run_waits.c does not list the wait for $what"
  done
}

complaints=$("$here/files.sh" '*.[ch]' | grep -E '^src/(base|engine)/' | while read -r file; do
  [ "$file" = src/base/wait.c ] || check "$file"
  untested "$file"
done)
[ -z "$complaints" ] || { echo "$complaints"; exit 1; }

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asks for the limits of the host, and says which is too low. */
#include "engine/room.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/log.h"
#include "measure/limits.h"

/* Every host allows so many; smaller runs need not ask. */
enum { FEWEST = 16 };
/* The kernel refuses a mapping that is larger than its memory, whatever is in use. */
enum { LARGE_STACK = 64 << 20 };

/* A session with SQLite has a database, its log, its index and its journal open. */
static unsigned files_of(unsigned sessions)
{
  enum { OF_SESSION = 4, OTHERS = 256 };

  return sessions * OF_SESSION + OTHERS;
}

void bn_room_allow_files(unsigned sessions)
{
  const rlim_t wanted = files_of(sessions);
  struct rlimit limit;

  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
    return;
  limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
  (void)setrlimit(RLIMIT_NOFILE, &limit);
}

/* The lowest number that is free is about how many are in use. */
static struct bn_limits_range files_now(void)
{
  const int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
  struct bn_limits_range range = {.used = fd, .soft = -1, .hard = -1};
  struct rlimit limit;

  if (fd >= 0)
    (void)close(fd);
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    range.soft = limit.rlim_cur != RLIM_INFINITY ? (int64_t)limit.rlim_cur : -1;
    range.hard = limit.rlim_max != RLIM_INFINITY ? (int64_t)limit.rlim_max : -1;
  }
  return range;
}

static bool tell_all(const struct bn_limits *l)
{
  bool enough = true;

  for (size_t i = 0; i < l->n; i++)
    if (bn_demand_tell(&l->limit[i].demand) == BN_REFUSED)
      enough = false;
  return enough;
}

bool bn_room_check(unsigned sessions, uint64_t stack_bytes, bool connects)
{
  struct bn_limits limits;
  bool enough;

  if (sessions < FEWEST)
    return true;
  bn_limits_read(&limits, "", sessions, stack_bytes);
  enough = tell_all(&limits);
  if (connects) {
    const struct bn_limits_range range = files_now();

    bn_limits_files(&limits, "", sessions, &range);
    enough = tell_all(&limits) && enough;
  }
  return enough;
}

/* "ulimit -n allows 1024 open files, and no more are left: ..." */
static void say_met(struct bn_buf *b, const struct bn_demand *d, int64_t wanted)
{
  (void)bn_buf_printf(b, "%s allows %lld %s, and no more are left: ", d->by, (long long)d->allowed,
                      d->what);
  bn_demand_remedy(b, d->remedy, wanted);
  (void)bn_buf_str(b, d->instead);
}

void bn_room_explain(struct bn_err *err, unsigned sessions, uint64_t stack_bytes)
{
  const size_t len = strlen(err->text);
  struct bn_limits limits;
  const struct bn_demand *d;
  struct bn_buf b;

  bn_buf_init(&b, 0);
  bn_limits_read(&limits, "", sessions, stack_bytes);
  d = bn_limits_met(&limits, sessions);
  if (d != NULL)
    say_met(&b, d, d->needed + d->others + d->reserved);
  else if (stack_bytes > LARGE_STACK)
    (void)bn_buf_str(&b, "use a smaller --thread-stack-size");
  if (b.len > 0)
    (void)snprintf(err->text + len, sizeof err->text - len, ": %s", b.data);
  bn_buf_done(&b);
}

/* A session that failed may have closed a few when this is asked. */
static bool are_files_left(void)
{
  enum { A_FEW = 16 };
  int fd[A_FEW], n = 0;
  bool left;

  do
    fd[n] = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
  while (fd[n] >= 0 && ++n < A_FEW);
  left = n == A_FEW || errno != EMFILE;
  while (n > 0)
    (void)close(fd[--n]);
  return left;
}

/* The text does not depend on how many sessions have failed before, so that it is told once. */
void bn_room_tell_files(unsigned sessions)
{
  const unsigned wanted = files_of(sessions);
  struct bn_limits limits;
  struct bn_limits_range range;
  struct bn_buf b;

  if (are_files_left() || !bn_log_has_asides())
    return;
  bn_buf_init(&b, 0);
  range = files_now();
  range.used = 0;
  bn_limits_files(&limits, "", wanted, &range);
  say_met(&b, &limits.limit[limits.n - 1].demand, wanted);
  if (b.data != NULL)
    bn_log_refusal(b.data);
  bn_buf_done(&b);
}

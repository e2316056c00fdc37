/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Buffers messages that standard error does not take at once, and writes them in a thread. */
#include "base/held.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/wait.h"

enum { HELD_MAX = 1 << 20 };

static const uint64_t patience_ns = BN_NSEC_PER_SEC / 10;

static const struct bn_wait slow_reader = {"standard error", BN_BOUND_DEADLINE};
static const struct bn_wait any_reader = {"the reader of standard error", BN_BOUND_READER};
static const struct bn_wait returning = {"the writer of standard error to return",
                                         BN_BOUND_RETURNING};

/* --- writes that do not wait
   ------------------------------------------------------------------- */

static mode_t type_of_stderr(void)
{
  struct stat st;

  return fstat(STDERR_FILENO, &st) == 0 ? st.st_mode & S_IFMT : S_IFREG;
}

/* Older kernels do not know the flag for pipes and return EOPNOTSUPP. */
static ssize_t write_to_pipe(const char *text, size_t len)
{
  const struct iovec piece = {(void *)(uintptr_t)text, len};

  return pwritev2(STDERR_FILENO, &piece, 1, -1, RWF_NOWAIT);
}

bool bn_held_try(const char *text, size_t len)
{
  if (!bn_wait_is_writable(STDERR_FILENO))
    return false;
  if (type_of_stderr() == S_IFIFO) {
    if (write_to_pipe(text, len) >= 0)
      return true;
    if (errno == EAGAIN)
      return false;
  }
  return write(STDERR_FILENO, text, len) >= 0 || errno != EAGAIN;
}

/* A terminal or a socket that has room for less than it was asked to take blocks. */
static bool may_block(mode_t type)
{
  return type == S_IFSOCK || (type == S_IFCHR && isatty(STDERR_FILENO));
}

/* Returns the number of bytes that were written, 0 if the next ones would have to wait.  Bytes of a
   failed write count as written.  A pipe takes pieces of that size completely or not at all. */
static size_t write_now(const char *text, size_t len)
{
  const mode_t type = type_of_stderr();
  const size_t most = len < PIPE_BUF ? len : PIPE_BUF;
  ssize_t n;

  if (may_block(type) || !bn_wait_is_writable(STDERR_FILENO))
    return 0;
  n = type == S_IFIFO ? write_to_pipe(text, most) : write(STDERR_FILENO, text, most);
  if (n < 0)
    return errno == EAGAIN || errno == EOPNOTSUPP ? 0 : most;
  return (size_t)n;
}

/* --- the writer ------------------------------------------------------------------------------- */

static void write_all(const struct bn_buf *text)
{
  size_t written = 0;

  while (written < text->len) {
    ssize_t n;

    (void)bn_wait_writable(STDERR_FILENO, UINT64_MAX);
    n = write(STDERR_FILENO, text->data + written, text->len - written);
    if (n < 0 && errno != EAGAIN && errno != EINTR)
      return;
    written += n > 0 ? (size_t)n : 0;
  }
}

/* The caller holds the lock. */
static void report_lost(struct bn_held *h)
{
  (void)bn_buf_printf(&h->text,
                      "(%u message%s left out: standard error was not read for too long)\n",
                      h->lost, h->lost == 1 ? "" : "s");
  h->lost = 0;
}

static void *writer_main(void *arg)
{
  struct bn_held *h = arg;

  (void)pthread_mutex_lock(&h->lock);
  while (h->text.len > 0) {
    struct bn_buf text = h->text;

    bn_buf_init(&h->text, 0);
    h->taken = text.len;
    (void)pthread_mutex_unlock(&h->lock);
    write_all(&text);
    bn_buf_done(&text);
    (void)pthread_mutex_lock(&h->lock);
    h->taken = 0;
    if (h->lost > 0)
      report_lost(h);
  }
  h->runs = h->slow = false;
  bn_wait_wake(&h->changed);
  (void)pthread_mutex_unlock(&h->lock);
  return NULL;
}

/* The caller holds the lock.  A writer that has ended has released it. */
static void held_start(struct bn_held *h)
{
  if (h->made)
    bn_wait_join(&returning, h->writer);
  h->made = h->runs = bn_wait_spawn(&h->writer, 0, writer_main, h) == 0;
}

/* --- messages --------------------------------------------------------------------------------- */

/* The caller holds the lock. */
static void held_add(struct bn_held *h, const char *text, const char *end)
{
  const size_t len = strlen(text) + strlen(end), old_len = h->text.len;

  if (len <= HELD_MAX && old_len + h->taken <= HELD_MAX - len && bn_buf_str(&h->text, text) == 0 &&
      bn_buf_str(&h->text, end) == 0)
    return;
  h->text.len = old_len;
  h->text.failed = false;
  h->lost++;
}

/* The caller holds the lock. */
static void held_drain(struct bn_held *h)
{
  size_t written = 0, n;

  while (written < h->text.len &&
         (n = write_now(h->text.data + written, h->text.len - written)) > 0)
    written += n;
  h->text.len -= written;
  if (h->text.len == 0)
    return;
  memmove(h->text.data, h->text.data + written, h->text.len);
  held_start(h);
}

/* The caller holds the lock. */
static void held_await(struct bn_held *h)
{
  const uint64_t until_ns = bn_clock_mono() + patience_ns;

  while (h->runs && !h->slow)
    h->slow = !bn_wait_until(&slow_reader, &h->changed, &h->lock, until_ns);
  h->slow = h->slow && h->runs;
}

bool bn_held_put(struct bn_held *h, const char *text, const char *end)
{
  bool on;

  (void)pthread_mutex_lock(&h->lock);
  on = h->on;
  if (on) {
    held_add(h, text, end);
    if (!h->runs)
      held_drain(h);
    held_await(h);
  }
  (void)pthread_mutex_unlock(&h->lock);
  return on;
}

void bn_held_begin(struct bn_held *h)
{
  (void)pthread_mutex_lock(&h->lock);
  if (!h->can_wait)
    h->can_wait = bn_wait_init(&h->changed) == 0;
  h->on = h->can_wait;
  (void)pthread_mutex_unlock(&h->lock);
}

void bn_held_end(struct bn_held *h)
{
  (void)pthread_mutex_lock(&h->lock);
  h->on = false;
  while (h->runs)
    (void)bn_wait_until(&any_reader, &h->changed, &h->lock, UINT64_MAX);
  if (h->made)
    bn_wait_join(&returning, h->writer);
  h->made = false;
  write_all(&h->text); /* the rest, if the writer could not be started */
  bn_buf_done(&h->text);
  (void)pthread_mutex_unlock(&h->lock);
}

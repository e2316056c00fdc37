/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps what a full standard error does not take. */
#include "base/held.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/wait.h"

enum { HELD_MAX = 1 << 20 };

/* Another thread may fill a pipe between the look and the write.  Terminals, and pipes of older
   kernels, do not know the flag. */
bool bn_held_write(const char *text, size_t len)
{
  const struct iovec piece = {(void *)(uintptr_t)text, len};
  struct stat st;

  if (!bn_wait_is_writable(STDERR_FILENO))
    return false;
  if (fstat(STDERR_FILENO, &st) == 0 && S_ISFIFO(st.st_mode)) {
    if (pwritev2(STDERR_FILENO, &piece, 1, -1, RWF_NOWAIT) >= 0)
      return true;
    if (errno == EAGAIN)
      return false;
  }
  return write(STDERR_FILENO, text, len) >= 0 || errno != EAGAIN;
}

/* With the lock.  A pipe takes pieces of that size whole or not at all. */
static void drain(struct bn_held *h)
{
  while (h->gone < h->text.len) {
    const size_t left = h->text.len - h->gone, len = left < PIPE_BUF ? left : PIPE_BUF;

    if (!bn_held_write(h->text.data + h->gone, len))
      break;
    h->gone += len;
  }
  if (h->gone > 0)
    bn_buf_shift(&h->text, &h->gone);
}

/* With the lock. */
static void keep(struct bn_held *h, const char *text, const char *end)
{
  const size_t len = strlen(text) + strlen(end);

  drain(h);
  if (len > HELD_MAX || h->text.len > HELD_MAX - len)
    return;
  (void)bn_buf_str(&h->text, text);
  (void)bn_buf_str(&h->text, end);
  drain(h);
}

bool bn_held_put(struct bn_held *h, const char *text, const char *end)
{
  bool on;

  (void)pthread_mutex_lock(&h->lock);
  on = h->on;
  if (on)
    keep(h, text, end);
  (void)pthread_mutex_unlock(&h->lock);
  return on;
}

void bn_held_begin(struct bn_held *h)
{
  (void)pthread_mutex_lock(&h->lock);
  h->on = true;
  (void)pthread_mutex_unlock(&h->lock);
}

struct bn_buf bn_held_end(struct bn_held *h, size_t *gone)
{
  struct bn_buf text;

  (void)pthread_mutex_lock(&h->lock);
  h->on = false;
  text = h->text;
  *gone = h->gone;
  bn_buf_init(&h->text, 0);
  h->gone = 0;
  (void)pthread_mutex_unlock(&h->lock);
  return text;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Allocates, and ends the process with a sentence if there is no memory. */
#include "base/alloc.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/wait.h"

static const struct bn_wait process_end = {"the end of the process", BN_BOUND_LEFT_BEHIND};

/* `arg` is set before before_exit, and read after it.  It stays when before_exit becomes NULL:
   another thread may have read before_exit just before. */
static struct {
  _Atomic(void (*)(void *)) before_exit;
  void *_Atomic arg;
  atomic_bool failed; /* set before bn_alloc_fail reads before_exit */
} alloc;

/* The first thread that fails ends the process; others wait for that.  The sentence is dropped if
   standard error takes nothing now. */
void bn_alloc_fail(void)
{
  static const char text[] = "out of memory: bench ends\n";
  void (*before_exit)(void *);

  if (atomic_exchange(&alloc.failed, true))
    bn_wait_park(&process_end);
  if (bn_wait_is_writable(STDERR_FILENO))
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
  before_exit = atomic_load(&alloc.before_exit);
  if (before_exit != NULL)
    before_exit(atomic_load(&alloc.arg));
  _exit(EXIT_FAILURE); /* exit(3) would call functions that may need memory */
}

void bn_alloc_before_exit(void (*fn)(void *arg), void *arg)
{
  if (fn != NULL)
    atomic_store(&alloc.arg, arg); /* it comes first: a thread that sees fn calls it with arg */
  atomic_store(&alloc.before_exit, fn);
}

bool bn_alloc_has_failed(void)
{
  return atomic_load(&alloc.failed);
}

/* Returns p, or ends the process if it is NULL. */
static void *alloc_check(void *p)
{
  if (p == NULL)
    bn_alloc_fail();
  return p;
}

/* Returns n, or 1 for 0: libc may return NULL for a size of 0, as it does if memory is lacking. */
static size_t alloc_at_least_one(size_t n)
{
  return n > 0 ? n : 1;
}

void *bn_alloc(size_t n, size_t size)
{
  return alloc_check(calloc(alloc_at_least_one(n), alloc_at_least_one(size)));
}

void *bn_alloc_try_aligned(size_t alignment, size_t n, size_t size)
{
  /* n * size, rounded up below, would overflow. */
  if (size > 0 && n > (SIZE_MAX - alignment) / size)
    return NULL;
  /* aligned_alloc takes only multiples of the alignment. */
  const size_t bytes = (n * size + alignment - 1) / alignment * alignment;
  void *const p = aligned_alloc(alignment, bytes);

  return p != NULL ? memset(p, 0, bytes) : NULL;
}

void *bn_alloc_aligned(size_t alignment, size_t size)
{
  return alloc_check(bn_alloc_try_aligned(alignment, 1, size));
}

void *bn_alloc_resize(void *p, size_t n, size_t size)
{
  return alloc_check(reallocarray(p, alloc_at_least_one(n), alloc_at_least_one(size)));
}

void *bn_alloc_grow(void *array, size_t n, size_t size)
{
  /* The capacity is the least power of two that is at least n, or 0 if n is 0.  So the array is
     full exactly if n is 0 or a power of two. */
  const bool is_full = (n & (n - 1)) == 0;

  if (!is_full)
    return array;
  return bn_alloc_resize(array, n == 0 ? 1 : 2 * n, size);
}

char *bn_alloc_text(const char *text)
{
  return alloc_check(strdup(text));
}

char *bn_alloc_copy(const char *text)
{
  return text != NULL ? bn_alloc_text(text) : NULL;
}

char *bn_alloc_part(const char *text, size_t len)
{
  return alloc_check(strndup(text, len));
}

FILE *bn_alloc_stream(char **text, size_t *len)
{
  return alloc_check(open_memstream(text, len));
}

void bn_alloc_stream_close(FILE *out)
{
  if (fclose(out) != 0)
    bn_alloc_fail();
}

char *bn_alloc_vprint(const char *fmt, va_list ap)
{
  char *text = NULL;

  return alloc_check(vasprintf(&text, fmt, ap) >= 0 ? text : NULL);
}

char *bn_alloc_print(const char *fmt, ...)
{
  char *text;
  va_list ap;

  va_start(ap, fmt);
  text = bn_alloc_vprint(fmt, ap);
  va_end(ap);
  return text;
}

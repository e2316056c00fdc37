/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Growable byte buffer with a stated maximum. */
#include "base/buf.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { FIRST_CAP = 64 };
static const size_t max_len = PTRDIFF_MAX - 1; /* no object is larger, terminator included */

void bn_buf_init(struct bn_buf *b, size_t max)
{
  *b = (struct bn_buf){.max = max};
}

void bn_buf_done(struct bn_buf *b)
{
  free(b->data);
  *b = (struct bn_buf){.max = b->max};
}

void bn_buf_wipe(struct bn_buf *b)
{
  if (b->data != NULL)
    explicit_bzero(b->data, b->len);
  bn_buf_done(b);
}

void bn_buf_clear(struct bn_buf *b)
{
  b->len = 0;
  b->failed = false;
  if (b->data != NULL)
    b->data[0] = '\0';
}

/* Doubles the capacity until `need` bytes fit; need is at most PTRDIFF_MAX.  By doubling, n bytes
   that are added one by one are copied less than 2n times.  Returns 0, or -1 if there is no memory
   for a buffer with a maximum. */
static int buf_grow(struct bn_buf *b, size_t need)
{
  size_t cap = b->cap == 0 ? FIRST_CAP : b->cap;

  while (cap < need)
    cap *= 2;
  char *const data = realloc(b->data, cap);

  if (data == NULL) {
    if (b->max == 0)
      bn_alloc_fail();
    return -1;
  }
  b->data = data;
  b->cap = cap;
  return 0;
}

/* The slow path of bn_buf_reserve, with its results. */
static __attribute__((noinline)) int buf_reserve_more(struct bn_buf *b, size_t more)
{
  const size_t limit = b->max == 0 || b->max > max_len ? max_len : b->max;
  const bool is_allowed = !b->failed && b->len <= limit && more <= limit - b->len;

  /* The terminator needs one byte more. */
  if (is_allowed && (b->len + more < b->cap || buf_grow(b, b->len + more + 1) == 0))
    return 0;
  b->failed = true;
  return -1;
}

int bn_buf_reserve(struct bn_buf *b, size_t more)
{
  const bool has_room = !b->failed && more < b->cap - b->len;
  const bool is_allowed = b->max == 0 || b->len + more <= b->max;

  return __builtin_expect(has_room && is_allowed, 1) ? 0 : buf_reserve_more(b, more);
}

int bn_buf_add(struct bn_buf *b, const void *data, size_t len)
{
  if (bn_buf_reserve(b, len) != 0)
    return -1;
  if (len != 0)
    memcpy(b->data + b->len, data, len);
  b->len += len;
  b->data[b->len] = '\0';
  return 0;
}

int bn_buf_str(struct bn_buf *b, const char *s)
{
  return bn_buf_add(b, s, strlen(s));
}

int bn_buf_char(struct bn_buf *b, char c)
{
  return bn_buf_add(b, &c, 1);
}

/* Prints into the unused capacity after the content.  Returns the length of the whole text, which
   need not have fitted, or a negative number, as vsnprintf does. */
__attribute__((format(printf, 2, 0))) static int buf_print_at_end(struct bn_buf *b, const char *fmt,
                                                                  va_list ap)
{
  return vsnprintf(b->data == NULL ? NULL : b->data + b->len, b->cap - b->len, fmt, ap);
}

/* The first attempt tells the length; there is a second one only if the text did not fit. */
int bn_buf_printf(struct bn_buf *b, const char *fmt, ...)
{
  va_list ap;

  va_start(ap, fmt);
  const int len = buf_print_at_end(b, fmt, ap);

  va_end(ap);
  const bool fits = len >= 0 && (size_t)len < b->cap - b->len; /* before reserve raises cap */

  if (len < 0 || bn_buf_reserve(b, (size_t)len) != 0) {
    b->failed = true;
    if (b->len < b->cap)
      b->data[b->len] = '\0'; /* the failed attempt has overwritten the terminator */
    return -1;
  }
  if (!fits) {
    va_start(ap, fmt);
    (void)buf_print_at_end(b, fmt, ap);
    va_end(ap);
  }
  b->len += (size_t)len;
  return 0;
}

/* Adds the four characters of Base64, of six bits each, for n bytes, 1 to 3.  Missing bytes count
   as 0, and '=' takes the place of a character that is made of missing bytes alone. */
static int buf_add_group(struct bn_buf *b, const unsigned char *byte, size_t n)
{
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const uint32_t first = byte[0], second = n > 1 ? byte[1] : 0, third = n > 2 ? byte[2] : 0;
  const uint32_t bits = first << 16 | second << 8 | third;
  const char text[4] = {digits[bits >> 18], digits[bits >> 12 & 63],
                        n > 1 ? digits[bits >> 6 & 63] : '=', n > 2 ? digits[bits & 63] : '='};

  return bn_buf_add(b, text, sizeof text);
}

int bn_buf_base64(struct bn_buf *b, const void *data, size_t len)
{
  const unsigned char *bytes = data;
  int rc = 0;

  for (size_t i = 0; rc == 0 && i < len; i += 3)
    rc = buf_add_group(b, bytes + i, len - i < 3 ? len - i : 3);
  return rc;
}

void bn_buf_shift(struct bn_buf *b, size_t *consumed)
{
  /* As half of the content is dropped at once, each byte moves at most once on average. */
  if (*consumed == 0 || *consumed < b->len / 2)
    return;
  const size_t remaining = b->len - *consumed;

  memmove(b->data, b->data + *consumed, remaining);
  explicit_bzero(b->data + remaining, *consumed);
  b->len = remaining;
  *consumed = 0;
}

char *bn_buf_take(struct bn_buf *b)
{
  char *text = NULL;

  if (bn_buf_add(b, "", 0) == 0) { /* allocates the terminator if nothing was added */
    text = b->data;
    b->data = NULL;
  }
  bn_buf_done(b);
  return text;
}

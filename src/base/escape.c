/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text of others (a server, a file) in a form that a terminal only shows. */
#include "base/escape.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct sequence {
  unsigned char mask, lead; /* of the first byte */
  size_t len;
  uint32_t least; /* smaller values have a shorter sequence */
};

static const struct sequence sequences[] = {
    {0xe0, 0xc0, 2, 0x80}, {0xf0, 0xe0, 3, 0x800}, {0xf8, 0xf0, 4, 0x10000}};

/* The value of a sequence; UINT32_MAX: it is not UTF-8.  The 0 at the end is no continuation. */
static uint32_t decode(const unsigned char *s, const struct sequence *q)
{
  uint32_t c = s[0] & (unsigned char)~q->mask;

  for (size_t i = 1; i < q->len; i++) {
    if ((s[i] & 0xc0) != 0x80)
      return UINT32_MAX;
    c = c << 6 | (s[i] & 0x3f);
  }
  return c >= q->least && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff) ? c : UINT32_MAX;
}

static bool is_shown(uint32_t c)
{
  return c != UINT32_MAX && c >= 0xa0 && !(c >= 0x2028 && c <= 0x202e) &&
         !(c >= 0x2066 && c <= 0x2069);
}

/* Bytes at s that stay as they are; 0: the first one is escaped, and so are the continuations of
   its sequence, which are none by themselves. */
static size_t shown_len(const unsigned char *s, const char *keep)
{
  if (s[0] < 0x80)
    return (s[0] >= 0x20 && s[0] != 0x7f) || strchr(keep, s[0]) != NULL ? 1 : 0;
  for (size_t i = 0; i < sizeof sequences / sizeof *sequences; i++)
    if ((s[0] & sequences[i].mask) == sequences[i].lead)
      return is_shown(decode(s, &sequences[i])) ? sequences[i].len : 0;
  return 0;
}

size_t bn_escape(char *out, size_t size, const char *text, const char *keep)
{
  static const char digits[] = "0123456789abcdef";
  const unsigned char *s = (const unsigned char *)text;
  size_t len = 0, end = 0;

  while (*s != '\0') {
    const char escape[4] = {'\\', 'x', digits[*s >> 4], digits[*s & 15]};
    const size_t shown = shown_len(s, keep), n = shown > 0 ? shown : sizeof escape;

    if (end == len && n < size && len < size - n) {
      memcpy(out + len, shown > 0 ? (const char *)s : escape, n);
      end += n;
    }
    len += n;
    s += shown > 0 ? shown : 1;
  }
  if (size > 0)
    out[end] = '\0';
  return len;
}

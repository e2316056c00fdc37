/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Escapes text from outside (a server, a file) so that a terminal only displays it. */
#include "base/escape.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* A form of the sequences of UTF-8 with several bytes. */
struct sequence {
  unsigned char mask, lead; /* bits of the first byte */
  size_t len;
  uint32_t least; /* smaller values have a shorter sequence */
};

static const struct sequence sequences[] = {
    {0xe0, 0xc0, 2, 0x80}, {0xf0, 0xe0, 3, 0x800}, {0xf8, 0xf0, 4, 0x10000}};

/* Returns the character that the sequence at s stands for, or UINT32_MAX if s is not UTF-8: a byte
   is missing, a shorter sequence exists, or the number is above U+10FFFF or belongs to a surrogate,
   U+D800 to U+DFFF.  The final 0 of a text is not taken for a byte of a sequence, so nothing after
   it is read. */
static uint32_t escape_decode(const unsigned char *s, const struct sequence *q)
{
  uint32_t c = s[0] & (unsigned char)~q->mask;

  for (size_t i = 1; i < q->len; i++) {
    if ((s[i] & 0xc0) != 0x80)
      return UINT32_MAX;
    c = c << 6 | (s[i] & 0x3f);
  }
  const bool is_surrogate = c >= 0xd800 && c <= 0xdfff;

  return c >= q->least && c <= 0x10ffff && !is_surrogate ? c : UINT32_MAX;
}

/* Returns whether a character outside of ASCII is copied.  It is not if it is a control character
   (C1, below U+00A0), separates lines (U+2028, U+2029), or changes the direction of text (U+202A to
   U+202E, U+2066 to U+2069). */
static bool escape_is_harmless(uint32_t c)
{
  return c >= 0xa0 && !(c >= 0x2028 && c <= 0x202e) && !(c >= 0x2066 && c <= 0x2069);
}

/* A character, or a byte that is not part of a character. */
struct piece {
  size_t len;
  bool is_copied; /* as it is */
};

/* What becomes of bytes that are not UTF-8.  KEEP_LETTERS copies those that are letters in
   encodings with one byte for each character, such as Latin-1: these begin at 0xa0. */
enum non_utf8 { ESCAPE_ALL, KEEP_LETTERS };

/* Returns the character or byte at s, which is not the final 0.  A control character is copied only
   if it is in `keep`. */
static struct piece escape_piece_at(const unsigned char *s, const char *keep,
                                    enum non_utf8 non_utf8)
{
  if (s[0] < 0x80) {
    const bool is_control = s[0] < 0x20 || s[0] == 0x7f;

    return (struct piece){.len = 1, .is_copied = !is_control || strchr(keep, s[0]) != NULL};
  }
  for (size_t i = 0; i < sizeof sequences / sizeof *sequences; i++) {
    const struct sequence *q = &sequences[i];
    uint32_t c;

    if ((s[0] & q->mask) != q->lead)
      continue;
    c = escape_decode(s, q);
    if (c != UINT32_MAX)
      return (struct piece){.len = q->len, .is_copied = escape_is_harmless(c)};
  }
  return (struct piece){.len = 1, .is_copied = non_utf8 == KEEP_LETTERS && s[0] >= 0xa0};
}

/* An escaped copy in progress. */
struct copy {
  char *out;
  size_t size;
  size_t len;    /* of the whole result */
  size_t copied; /* bytes of it in `out` */
};

/* Appends n bytes if all of them fit.  Once something did not fit, nothing is appended any more, so
   that the copy is always the beginning of the result. */
static void escape_put(struct copy *c, const char *data, size_t n)
{
  const bool is_complete = c->copied == c->len;
  const bool fits = n < c->size && c->len < c->size - n; /* with the final 0 */

  if (is_complete && fits) {
    memcpy(c->out + c->len, data, n);
    c->copied += n;
  }
  c->len += n;
}

/* Appends "\xNN". */
static void escape_put_byte(struct copy *c, unsigned char byte)
{
  static const char digits[] = "0123456789abcdef";
  const char escape[4] = {'\\', 'x', digits[byte >> 4], digits[byte & 15]};

  escape_put(c, escape, sizeof escape);
}

/* Copies and escapes a text, and returns the length, as bn_escape does. */
static size_t escape_text(char *out, size_t size, const char *text, const char *keep,
                          enum non_utf8 non_utf8)
{
  struct copy c = {.out = out, .size = size};
  struct piece p;

  for (const unsigned char *s = (const unsigned char *)text; *s != '\0'; s += p.len) {
    p = escape_piece_at(s, keep, non_utf8);
    if (p.is_copied) {
      escape_put(&c, (const char *)s, p.len);
      continue;
    }
    for (size_t i = 0; i < p.len; i++)
      escape_put_byte(&c, s[i]);
  }
  if (size > 0)
    out[c.copied] = '\0';
  return c.len;
}

size_t bn_escape(char *out, size_t size, const char *text, const char *keep)
{
  return escape_text(out, size, text, keep, ESCAPE_ALL);
}

size_t bn_escape_message(char *out, size_t size, const char *text)
{
  return escape_text(out, size, text, "\n\t", KEEP_LETTERS);
}

char *bn_escape_new(const char *text, const char *keep)
{
  const size_t size = bn_escape(NULL, 0, text, keep) + 1;
  char *copy = bn_alloc(1, size);

  (void)bn_escape(copy, size, text, keep);
  return copy;
}

char *bn_escape_copy(const char *text)
{
  const size_t size = bn_escape_message(NULL, 0, text) + 1;
  char *copy = bn_alloc(1, size);

  (void)bn_escape_message(copy, size, text);
  return copy;
}

void bn_escape_markdown(char *out, size_t size, const char *text)
{
  const size_t half = size / 2;
  char *to = out;

  /* The escaped text is in the upper half, and grows to at most twice its length from the beginning
     on, so that no character is overwritten before it was read. */
  (void)bn_escape(out + half, size - half, text, "");
  for (const char *s = out + half; *s != '\0'; s++) {
    const char c = *s;

    if (strchr("\\|`*<>[]~&", c) != NULL)
      *to++ = '\\';
    *to++ = c;
  }
  *to = '\0';
}

/* If a call fails, all calls after it fail too, so that the result of the last one is enough. */
int bn_escape_shell_word(struct bn_buf *b, const char *text)
{
  (void)bn_buf_char(b, '\'');
  for (; *text != '\0'; text++) {
    if (*text == '\'')
      (void)bn_buf_str(b, "'\\''");
    else
      (void)bn_buf_char(b, *text);
  }
  return bn_buf_char(b, '\'');
}

void bn_escape_error(struct bn_err *err)
{
  char shown[sizeof err->text];

  if (err == NULL)
    return;
  (void)bn_escape(shown, sizeof shown, err->text, "");
  memcpy(err->text, shown, sizeof shown);
}

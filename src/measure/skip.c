/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the lists of records and the histograms of totals in the text of a document by their depth
   and their names. */
#include "measure/skip.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "measure/hist_codec.h"

/* The members of a group are in a map in a list in a map.  Its total is a map, in which a map of
   raw numbers has the map of histograms. */
enum { GROUP_DEPTH = 3, RAW_DEPTH = GROUP_DEPTH + 2, HISTOGRAMS_DEPTH };

/* A text that is read and shortened in place. */
struct skipping {
  const char *at, *end; /* the text that is still to be read */
  const char *done;     /* the text before it has been moved to `to` or left out */
  char *to;             /* the end of the shortened text */
  int depth;            /* of the maps and lists that s->at is in */
  bool in_histograms;   /* `histograms` is the last name that a map of raw numbers had */
  struct bn_buf hist;   /* the text of a histogram; room for the next one stays */
};

/* Goes to the next quote or bracket, or to the end of all. */
static void skip_to_mark(struct skipping *s)
{
  static const bool is_mark[1 << CHAR_BIT] = {
      ['"'] = true, ['['] = true, [']'] = true, ['{'] = true, ['}'] = true};

  while (s->at < s->end && !is_mark[(unsigned char)*s->at])
    s->at++;
}

/* Goes past a bracket.  Returns by how much it changes the depth. */
static int skip_pass_bracket(struct skipping *s)
{
  const char bracket = *s->at++;

  return bracket == '[' || bracket == '{' ? 1 : -1;
}

/* Goes past a quoted text, which begins at s->at, or to the end of all if it has no end. */
static void skip_pass_text(struct skipping *s)
{
  for (s->at++; s->at < s->end && *s->at != '"'; s->at++)
    if (*s->at == '\\')
      s->at++;
  s->at = s->at < s->end ? s->at + 1 : s->end; /* a final backslash has led one byte too far */
}

static void skip_pass_space(struct skipping *s)
{
  while (s->at < s->end && *s->at != '\0' && strchr(" \t\r\n", *s->at) != NULL)
    s->at++;
}

/* The word whose eight bytes are all `byte`. */
#define SKIP_EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Returns how many bytes of a word are `c`, which is ASCII. */
static unsigned skip_count_byte(uint64_t word, char c)
{
  const uint64_t other = word ^ SKIP_EACH((unsigned char)c); /* a byte is 0 where the word has c */
  const uint64_t low_bits = SKIP_EACH(0x7f);
  const uint64_t found = ~(((other & low_bits) + low_bits) | other | low_bits) >> 7;

  return (unsigned)((found * SKIP_EACH(1)) >> 56); /* the highest byte is the sum of all */
}

/* Returns whether a word has a bracket or a backslash.  May also be true if it has '|' or other
   characters than ASCII. */
static bool skip_may_have_bracket(uint64_t word)
{
  const uint64_t lower = word | SKIP_EACH('a' - 'A'); /* '[', '\\', ']' become '{', '|', '}' */
  const uint64_t from_brace = lower + SKIP_EACH(0x80 - '{'),
                 above_brace = lower + SKIP_EACH(0x7f - '}');

  return (((from_brace & ~above_brace) | word) & SKIP_EACH(0x80)) != 0;
}

/* Goes past a list, which begins at s->at, and sets *n_lines to the number of its newlines.
   Returns false, at the end of the text, if the list has no end.  Most of a document is such lists,
   so eight characters without a bracket are passed at once.  Other characters make no branch that a
   processor cannot foresee. */
static bool skip_pass_list(struct skipping *s, size_t *n_lines)
{
  static const signed char change[1 << CHAR_BIT] = {['['] = 1, ['{'] = 1, [']'] = -1, ['}'] = -1};
  const char *at = s->at, *const end = s->end;
  unsigned is_quoted = 0;
  int depth = 0;
  uint64_t word;
  size_t n = 0;

  do {
    const char c = *at++;

    if (c == '\\' && at < end)
      at++;
    is_quoted ^= c == '"';
    depth += is_quoted != 0 ? 0 : change[(unsigned char)c];
    n += c == '\n';
    while (depth > 0 && (size_t)(end - at) > sizeof word) {
      memcpy(&word, at, sizeof word);
      if (skip_may_have_bracket(word))
        break;
      is_quoted ^= skip_count_byte(word, '"') & 1;
      n += skip_count_byte(word, '\n');
      at += sizeof word;
    }
  } while (depth > 0 && at < end);
  s->at = at;
  *n_lines = n;
  return depth == 0;
}

/* Moves the text from s->done up to `end` to the shortened text. */
static void skip_keep_to(struct skipping *s, const char *end)
{
  const size_t len = (size_t)(end - s->done);

  memmove(s->to, s->done, len);
  s->to += len;
  s->done = end;
}

/* Returns whether the text from `name` up to s->at is a quoted name. */
static bool skip_is_name(const struct skipping *s, const char *name, const char *quoted)
{
  const size_t len = (size_t)(s->at - name);

  return len == strlen(quoted) && memcmp(name, quoted, len) == 0;
}

/* Leaves out the values of the list whose name has just been read, unless no list with an end
   follows.  Its newlines are kept, so that the lines of errors stay those of the file. */
static void skip_leave_out_list(struct skipping *s)
{
  const char *list;
  size_t n_lines;

  skip_pass_space(s);
  if (s->at == s->end || *s->at != ':')
    return;
  s->at++;
  skip_pass_space(s);
  list = s->at;
  if (s->at == s->end || *s->at != '[' || !skip_pass_list(s, &n_lines))
    return;
  skip_keep_to(s, list + 1);
  memset(s->to, '\n', n_lines);
  s->to += n_lines;
  s->done = s->at - 1; /* the ']' is moved with what follows */
}

/* Reads a number of at most 18 digits, which fits into 64 bits.  Returns the text after it, or NULL
   if there is none, or if it begins with a 0 that JSON does not allow. */
static const char *skip_read_number(const char *at, const char *end, int64_t *number)
{
  enum { DIGITS_MOST = 18 };
  const bool is_negative = at < end && *at == '-';
  const char *digits = at + is_negative;

  *number = 0;
  for (at = digits; at < end && *at >= '0' && *at <= '9' && at - digits < DIGITS_MOST; at++)
    *number = *number * 10 + (*at - '0');
  if (is_negative)
    *number = -*number;
  const bool has_needless_zero = at - digits > 1 && *digits == '0';

  return at > digits && !has_needless_zero ? at : NULL;
}

/* Makes the text of a histogram in s->hist from the list at s->at.  Returns the end of the list;
   NULL: it has no end, white space, or anything but counts and numbers of empty buckets before
   them. */
static const char *skip_encode_list(struct skipping *s)
{
  const char *at = s->at;
  int64_t number = 0;
  bool after_gap;

  bn_buf_clear(&s->hist);
  do {
    after_gap = number < 0;
    at = skip_read_number(at + 1 /* after '[' or ',' */, s->end, &number);
    if (at == NULL || (after_gap && number < 0))
      return NULL;
    bn_hist_codec_put_number(&s->hist, number);
  } while (at < s->end && *at == ',');
  return at < s->end && *at == ']' && number >= 0 && !s->hist.failed ? at + 1 : NULL;
}

/* Puts a text in place of the list of a histogram at s->at.  The text is not longer than the list,
   because no number takes more characters in it.  Leaves the list if it has another form than that
   in which bench writes it. */
static void skip_shorten_histogram(struct skipping *s)
{
  const char *end = skip_encode_list(s);

  if (end == NULL) {
    s->depth += skip_pass_bracket(s);
    return;
  }
  skip_keep_to(s, s->at);
  *s->to++ = '"';
  memcpy(s->to, s->hist.data, s->hist.len);
  s->to += s->hist.len;
  *s->to++ = '"';
  s->at = s->done = end;
}

/* Goes past a quoted text, which may be the name of a list of records or of the histograms. */
static void skip_pass_name(struct skipping *s)
{
  const char *name = s->at;

  skip_pass_text(s);
  if (s->depth == RAW_DEPTH)
    s->in_histograms = skip_is_name(s, name, "\"histograms\"");
  else if (s->depth == GROUP_DEPTH &&
           (skip_is_name(s, name, "\"intervals\"") || skip_is_name(s, name, "\"checkpoints\"")))
    skip_leave_out_list(s);
}

size_t bn_skip_to_totals(char *text, size_t len)
{
  struct skipping s = {
      .at = text, .end = text + len, .done = text, .to = text, .hist = {.max = len}};

  for (skip_to_mark(&s); s.at < s.end; skip_to_mark(&s)) {
    if (*s.at == '"')
      skip_pass_name(&s);
    else if (*s.at == '[' && s.depth == HISTOGRAMS_DEPTH && s.in_histograms)
      skip_shorten_histogram(&s);
    else
      s.depth += skip_pass_bracket(&s);
  }
  skip_keep_to(&s, s.end);
  bn_buf_done(&s.hist);
  return (size_t)(s.to - text);
}

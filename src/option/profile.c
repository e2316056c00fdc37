/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the phases of a profile and compiles them to linear pieces. */
#include "option/profile.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/mask.h"
#include "base/units.h"
#include "option/words.h"

/* Each period of a sine is made of 128 straight pieces, whose area differs from that of the wave by
   less than 0.02 % in each half of it. */
enum { SINE_PIECES = 128, SHOWN_MAX = 60 /* bytes of a phase that a message shows */ };

static const char blanks[] = " \t\r\n";

/* A profile that is being read.  A function below that returns a bool returns false if the text is
   wrong: `pos` is then the place of the error, and `error` says what is wrong. */
struct profile_reader {
  const char *text, *pos;
  const char *form; /* of this phase, for messages; NULL: not known yet */
  char error[192];
  struct bn_profile *out;
};

/* Says what is wrong at that place of the text, and returns false. */
__attribute__((format(printf, 3, 4))) static bool
profile_refuse(struct profile_reader *r, const char *pos, const char *fmt, ...)
{
  va_list ap;

  r->pos = pos;
  va_start(ap, fmt);
  (void)vsnprintf(r->error, sizeof r->error, fmt, ap);
  va_end(ap);
  return false;
}

static void profile_skip_blanks(struct profile_reader *r)
{
  r->pos += strspn(r->pos, blanks);
}

/* Skips a word that must stand here. */
static bool profile_expect(struct profile_reader *r, const char *word)
{
  return bn_words_skip(&r->pos, word) || profile_refuse(r, r->pos, "'%s' is missing", word);
}

/* The values of each kind of curve, and the words for them in messages and forms. */
static const struct {
  const char *value, *form;
  const char *missing; /* message: the text is no value */
  const char *refused; /* message: a trace has a value that is not allowed */
  int max;             /* the greatest value that is allowed */
} curves[] = {
    [BN_PROFILE_RATE] = {"rate", "RATE", "not a rate", "the rate is too great", INT32_MAX},
    [BN_PROFILE_THREADS] = {"number of threads", "THREADS", "not a number of threads",
                            "not a whole number of threads, or too great", 1000000},
};

static bool profile_is_too_great(const struct profile_reader *r, double value)
{
  return value > curves[r->out->of].max;
}

/* Returns whether the value is a number of threads that is not whole.  Rates may have fractions. */
static bool profile_is_fraction_of_threads(const struct profile_reader *r, double value)
{
  return r->out->of == BN_PROFILE_THREADS && value != floor(value);
}

/* Reads a value of the curve. */
static bool profile_read_value(struct profile_reader *r, double *value)
{
  const char *const begin = r->pos, *const name = curves[r->out->of].value;
  const int max = curves[r->out->of].max;

  *value = 0;
  if (!bn_units_read(&r->pos, value))
    return profile_refuse(r, r->pos, "%s", curves[r->out->of].missing);
  if (profile_is_too_great(r, *value))
    return profile_refuse(r, begin, "the %s is greater than %d", name, max);
  if (profile_is_fraction_of_threads(r, *value))
    return profile_refuse(r, begin, "the %s is not whole; at most %d", name, max);
  return true;
}

/* Reads a time greater than 0, in seconds. */
static bool profile_read_time(struct profile_reader *r, double *s)
{
  const char *const begin = r->pos;
  double ns;

  *s = 0;
  if (!bn_units_read_ns(&r->pos, &ns))
    return profile_refuse(r, r->pos, "not a time, such as 500ms, 30s, 5m or 1h");
  *s = ns / 1e9;
  return *s > 0 || profile_refuse(r, begin, "the time is 0");
}

/* --- pieces --- */

/* Adds a piece at the end of the curve, which makes the phases longer by span_s. */
static bool profile_add_piece(struct profile_reader *r, double start_rate, double end_rate,
                              double span_s)
{
  struct bn_profile *out = r->out;

  if (out->n_pieces == BN_PROFILE_PIECES)
    return profile_refuse(r, r->pos, "the profile has more than %d changes", BN_PROFILE_PIECES);
  if (out->span_s + span_s > INT32_MAX)
    return profile_refuse(r, r->pos, "the profile is longer than %d seconds", INT32_MAX);
  out->piece = bn_alloc_grow(out->piece, out->n_pieces, sizeof *out->piece);
  out->piece[out->n_pieces++] =
      (struct bn_rate_piece){.start_rate = start_rate, .end_rate = end_rate, .span_s = span_s};
  out->span_s += span_s;
  out->most = fmax(out->most, fmax(start_rate, end_rate));
  return true;
}

/* Returns the phase that is being read. */
static struct bn_profile_phase *profile_get_phase(const struct profile_reader *r)
{
  return &r->out->phase[r->out->n_phases - 1];
}

/* --- phases --- */

/* The functions profile_read_ramp to profile_read_trace read a phase after its word, in the form
   that `forms` has for it, and add its pieces.  Rates and heights are values of the curve; `s` and
   names that end in _s are seconds. */

/* FROM..TO/TIME */
static bool profile_read_ramp(struct profile_reader *r)
{
  double from, to, s;

  return profile_read_value(r, &from) && profile_expect(r, "..") && profile_read_value(r, &to) &&
         profile_expect(r, "/") && profile_read_time(r, &s) && profile_add_piece(r, from, to, s);
}

/* RATE/TIME */
static bool profile_read_hold(struct profile_reader *r)
{
  double rate, s;

  return profile_read_value(r, &rate) && profile_expect(r, "/") && profile_read_time(r, &s) &&
         profile_add_piece(r, rate, rate, s);
}

/* Adds a piece of s seconds for each step, up to the last one that does not go beyond `to`. */
static bool profile_add_steps(struct profile_reader *r, double from, double to, double by, double s)
{
  const double rounding_error = 1e-9; /* of a step: a step that misses `to` by it counts */
  const double n_steps = floor(fabs(to - from) / by + rounding_error);
  const double step = to < from ? -by : by;

  for (double k = 0; k <= n_steps; k++) {
    const double rate = fmax(0, from + step * k);

    if (!profile_add_piece(r, rate, rate, s))
      return false;
  }
  return true;
}

/* Steps down are written with '-' in the place of '+'. */
static bool profile_read_step(struct profile_reader *r)
{
  double from, to, by, s;
  const char *sign;

  if (!profile_read_value(r, &from) || !profile_expect(r, "..") || !profile_read_value(r, &to))
    return false;
  sign = r->pos;
  if (!profile_expect(r, to < from ? "-" : "+") || !profile_read_value(r, &by))
    return false;
  if (by <= 0)
    return profile_refuse(r, sign + 1, "the step is 0");
  return profile_expect(r, "/") && profile_read_time(r, &s) &&
         profile_add_steps(r, from, to, by, s);
}

/* Reads " for TIME"; if it is missing, *s stays what it is. */
static bool profile_read_for(struct profile_reader *r, double *s)
{
  profile_skip_blanks(r);
  if (!bn_words_skip(&r->pos, "for"))
    return true;
  profile_skip_blanks(r);
  return profile_read_time(r, s);
}

/* Adds SINE_PIECES pieces for each period of a wave of s seconds, which begins at the mean and
   rises first.  The last period may be cut short. */
static bool profile_add_wave(struct profile_reader *r, double mean, double height, double period_s,
                             double s)
{
  double rate = mean;

  for (double k = 0; k * period_s / SINE_PIECES < s; k++) {
    const double from_s = k * period_s / SINE_PIECES;
    const double to_s = fmin(s, (k + 1) * period_s / SINE_PIECES);
    const double next = fmax(0, mean + height * sin(2 * M_PI * fmod(to_s / period_s, 1)));

    if (to_s > from_s && !profile_add_piece(r, rate, next, to_s - from_s))
      return false;
    rate = next;
  }
  return true;
}

/* Without "for" there is one period. */
static bool profile_read_sine(struct profile_reader *r)
{
  double mean, height, period_s, s;
  const char *begin;

  if (!profile_read_value(r, &mean) || !profile_expect(r, "+-"))
    return false;
  begin = r->pos;
  if (!profile_read_value(r, &height))
    return false;
  if (height > mean)
    return profile_refuse(r, begin, "the %s would fall below 0", curves[r->out->of].value);
  if (!profile_expect(r, "/") || !profile_read_time(r, &period_s))
    return false;
  s = period_s;
  return profile_read_for(r, &s) && profile_add_wave(r, mean, height, period_s, s);
}

/* Adds s seconds of bursts.  Each period is two pieces: the burst, and a rest with the rate with
   which the phase before has ended.  The last period may be cut short. */
static bool profile_add_bursts(struct profile_reader *r, double rate, double burst_s,
                               double period_s, double s)
{
  const double base = r->out->piece[r->out->n_pieces - 1].end_rate;

  for (double k = 0; k * period_s < s; k++) {
    const double remaining_s = s - k * period_s;
    const double rest_s = fmin(remaining_s, period_s) - burst_s;

    if (!profile_add_piece(r, rate, rate, fmin(remaining_s, burst_s)))
      return false;
    if (remaining_s > burst_s && !profile_add_piece(r, base, base, rest_s))
      return false;
  }
  return true;
}

/* Without "for" there is one period. */
static bool profile_read_burst(struct profile_reader *r)
{
  double rate, burst_s, period_s, s;
  const char *begin;

  if (!profile_read_value(r, &rate) || !profile_expect(r, "/") || !profile_read_time(r, &burst_s))
    return false;
  profile_skip_blanks(r);
  if (!profile_expect(r, "every"))
    return false;
  profile_skip_blanks(r);
  begin = r->pos;
  if (!profile_read_time(r, &period_s))
    return false;
  if (period_s <= burst_s)
    return profile_refuse(r, begin, "not longer than the burst");
  s = period_s;
  if (!profile_read_for(r, &s))
    return false;
  profile_get_phase(r)->burst_s = burst_s;
  profile_get_phase(r)->period_s = period_s;
  return profile_add_bursts(r, rate, burst_s, period_s, s);
}

/* --- traces --- */

/* A row of a trace: from the second s on, the rate holds. */
struct profile_row {
  double s, rate;
};

/* Reads a row of a trace, and moves *pos past what it has read.  Returns what is wrong there, or
   NULL. */
static const char *profile_read_row(const struct profile_reader *r, const char **pos,
                                    struct profile_row *row)
{
  if (!bn_units_read(pos, &row->s))
    return "not a second";
  *pos += strspn(*pos, blanks);
  if (**pos == ',')
    *pos += 1 + strspn(*pos + 1, blanks);
  if (!bn_units_read(pos, &row->rate))
    return curves[r->out->of].missing;
  if (profile_is_too_great(r, row->rate) || profile_is_fraction_of_threads(r, row->rate))
    return curves[r->out->of].refused;
  *pos += strspn(*pos, blanks);
  return **pos == '\0' || **pos == '#' ? NULL : "more than two columns";
}

/* The rows of a trace that were read.  Each rate holds until the second of the next row, and the
   last one as long as the rate before it. */
struct profile_trace {
  struct profile_row last; /* its piece is not added yet */
  size_t rows;
  double span_s; /* between the last two rows */
};

/* Adds the piece of the row before, which ends at the second of this row, and keeps this row. */
static bool profile_add_row(struct profile_reader *r, struct profile_trace *t,
                            const struct profile_row *row)
{
  if (t->rows > 0) {
    t->span_s = row->s - t->last.s;
    if (!profile_add_piece(r, t->last.rate, t->last.rate, t->span_s))
      return false;
  }
  t->last = *row;
  t->rows++;
  return true;
}

/* Reads a line of a trace.  Empty lines, comments and a heading, which is a first line without a
   digit, are skipped. */
static bool profile_read_line(struct profile_reader *r, struct profile_trace *t, const char *line,
                              size_t number)
{
  const char *const begin = line + strspn(line, blanks);
  const bool is_heading = number == 1 && strpbrk(begin, "0123456789") == NULL;
  const char *pos = begin, *error;
  struct profile_row row;

  if (*begin == '\0' || *begin == '#' || is_heading)
    return true;
  error = profile_read_row(r, &pos, &row);
  if (error == NULL && t->rows > 0 && row.s <= t->last.s) {
    error = "the second is not after that of the row before";
    pos = begin;
  }
  if (error != NULL)
    return profile_refuse(r, r->pos, "line %zu of the file, column %zu: %s", number,
                          (size_t)(pos - line) + 1, error);
  return profile_add_row(r, t, &row);
}

/* Reads the rows of a trace, and adds the piece of the last one. */
static bool profile_read_file(struct profile_reader *r, FILE *file)
{
  struct profile_trace t = {.rows = 0};
  char *line = NULL;
  size_t size = 0, number = 0;
  bool ok = true;

  while (ok && getline(&line, &size, file) >= 0)
    ok = profile_read_line(r, &t, line, ++number);
  if (ok && ferror(file) != 0)
    ok = profile_refuse(r, r->pos, "cannot read the file: %s", strerror(errno));
  free(line);
  if (ok && t.rows < 2)
    return profile_refuse(r, r->pos, "a trace needs two rows; the file has %zu", t.rows);
  return ok && profile_add_piece(r, t.last.rate, t.last.rate, t.span_s);
}

/* Returns the length of the phase with which the text begins, without blanks at its end. */
static size_t profile_get_phase_len(const char *text)
{
  size_t len = strcspn(text, ";");

  while (len > 0 && strchr(blanks, text[len - 1]) != NULL)
    len--;
  return len;
}

/* The name of the file is the rest of the phase; it may have blanks, but no semicolon. */
static bool profile_read_trace(struct profile_reader *r)
{
  const char *const begin = r->pos;
  const size_t len = profile_get_phase_len(begin);
  FILE *file;
  char *path;
  bool ok;

  if (len == 0)
    return profile_refuse(r, r->pos, "the name of the file is missing");
  r->out->has_trace = true;
  path = bn_alloc_part(begin, len);
  file = fopen(path, "re");
  free(path);
  if (file == NULL)
    return profile_refuse(r, r->pos, "cannot open the file: %s", strerror(errno));
  ok = profile_read_file(r, file);
  (void)fclose(file);
  if (ok)
    r->pos += len;
  return ok;
}

/* --- the profile --- */

/* The forms of phases.  "@" stands for a value of the curve. */
static const struct {
  const char *word, *form;
  bool (*read)(struct profile_reader *r);
} forms[] = {
    {"ramp:", "ramp:@..@/TIME", profile_read_ramp},
    {"hold:", "hold:@/TIME", profile_read_hold},
    {"step:", "step:@..@+@/TIME", profile_read_step},
    {"sine:", "sine:@+-@/TIME [for TIME]", profile_read_sine},
    {"burst:", "burst:@/TIME every TIME [for TIME]", profile_read_burst},
    {"trace:", "trace:FILE", profile_read_trace},
};

/* Adds a phase with its text, which bn_profile_done frees even if the phase turns out to be
   wrong. */
static bool profile_begin_phase(struct profile_reader *r)
{
  struct bn_profile *out = r->out;

  if (out->n_phases == BN_PROFILE_PHASES)
    return profile_refuse(r, r->pos, "the profile has more than %d phases", BN_PROFILE_PHASES);
  out->phase = bn_alloc_grow(out->phase, out->n_phases, sizeof *out->phase);
  out->phase[out->n_phases++] = (struct bn_profile_phase){
      .text = bn_alloc_part(r->pos, profile_get_phase_len(r->pos)), .from_s = out->span_s};
  return true;
}

/* Reads a phase up to ';' or the end of the text. */
static bool profile_read_phase(struct profile_reader *r)
{
  const size_t n_forms = sizeof forms / sizeof forms[0];
  size_t i = 0;

  if (!profile_begin_phase(r))
    return false;
  while (i < n_forms && !bn_words_skip(&r->pos, forms[i].word))
    i++;
  if (i == n_forms)
    return profile_refuse(r, r->pos, "not a phase");
  r->form = forms[i].form;
  if (!forms[i].read(r))
    return false;
  profile_get_phase(r)->span_s = r->out->span_s - profile_get_phase(r)->from_s;
  profile_skip_blanks(r);
  if (*r->pos != ';' && *r->pos != '\0')
    return profile_refuse(r, r->pos, "the phase should end here");
  return true;
}

/* Appends a form with each '@' replaced by the placeholder. */
static void profile_add_form(struct bn_buf *b, const char *form, const char *placeholder)
{
  for (; *form != '\0'; form++) {
    if (*form == '@')
      (void)bn_buf_str(b, placeholder);
    else
      (void)bn_buf_char(b, *form);
  }
}

/* Writes which phase is wrong, where and why, and its form, or the words of all phases. */
static void profile_explain(const struct profile_reader *r, const char *phase, size_t number,
                            char message[BN_PROFILE_WRONG])
{
  const int len = (int)profile_get_phase_len(phase);
  char full[BN_MASK_MAX], masked[BN_MASK_MAX];
  struct bn_buf form = {.max = 0};

  /* The phase is cut to SHOWN_MAX only after passwords are masked, because a part of a password
     might not be found. */
  (void)snprintf(full, sizeof full, "%.*s", len, phase);
  if (r->form != NULL)
    profile_add_form(&form, r->form, curves[r->out->of].form);
  else
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
      (void)bn_buf_printf(&form, "%s%s", i > 0 ? ", " : "", forms[i].word);
  (void)snprintf(message, BN_PROFILE_WRONG, "phase %zu, '%.*s', column %zu: %s; allowed: %s",
                 number, SHOWN_MAX, bn_mask_text(full, masked), (size_t)(r->pos - r->text) + 1,
                 r->error, form.data);
  bn_buf_done(&form);
}

/* Reads all phases.  Returns 0, or -1 and the message. */
static int profile_read_phases(struct profile_reader *r, char message[BN_PROFILE_WRONG])
{
  for (size_t number = 1;; number++) {
    const char *phase;

    profile_skip_blanks(r);
    phase = r->pos;
    r->form = NULL;
    if (!profile_read_phase(r)) {
      profile_explain(r, phase, number, message);
      return -1;
    }
    if (*r->pos == '\0')
      return 0;
    r->pos++;
  }
}

int bn_profile_parse(const char *text, enum bn_profile_of kind, double lead_s,
                     struct bn_profile *out, char message[BN_PROFILE_WRONG])
{
  struct profile_reader r = {.text = text, .pos = text, .out = out};

  *out = (struct bn_profile){.of = kind};
  /* Piece 0 is the lead.  Its rate is 0 until the phases are known, because a burst that is the
     first phase falls back to the rate before it.  A single empty piece exceeds no limit. */
  (void)profile_add_piece(&r, 0, 0, 0);
  if (profile_read_phases(&r, message) != 0) {
    const bool has_trace = out->has_trace;

    bn_profile_done(out);
    out->has_trace = has_trace;
    return -1;
  }
  /* The lead has the rate with which piece 1, the first of the phases, begins. */
  const double rate = out->piece[1].start_rate;

  out->piece[0] = (struct bn_rate_piece){.start_rate = rate, .end_rate = rate, .span_s = lead_s};
  out->lead_s = lead_s;
  bn_rate_curve_sum(out->piece, out->n_pieces);
  return 0;
}

void bn_profile_done(struct bn_profile *p)
{
  for (size_t i = 0; i < p->n_phases; i++)
    free(p->phase[i].text);
  free(p->phase);
  free(p->piece);
  *p = (struct bn_profile){.n_pieces = 0};
}

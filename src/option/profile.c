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
#include "base/units.h"

/* Chords of so many parts of a wave have its area within 0.02 % in each half of it. */
enum { SINE_PIECES = 128 };

static const char blanks[] = " \t\r\n";

/* Functions that return a bool return false if the text is wrong; `at` is then where, and `wrong`
   says why. */
struct profile_reader {
  const char *text, *at;
  const char *form; /* of this phase, for messages; NULL: not known yet */
  char wrong[192];
  struct bn_profile *out;
};

__attribute__((format(printf, 2, 3))) static bool profile_fail(struct profile_reader *r,
                                                               const char *form, ...)
{
  va_list ap;

  va_start(ap, form);
  (void)vsnprintf(r->wrong, sizeof r->wrong, form, ap);
  va_end(ap);
  return false;
}

static void profile_skip_blanks(struct profile_reader *r)
{
  r->at += strspn(r->at, blanks);
}

/* Moves behind the word if it is there. */
static bool profile_word(struct profile_reader *r, const char *word)
{
  const size_t len = strlen(word);

  if (strncmp(r->at, word, len) != 0)
    return false;
  r->at += len;
  return true;
}

static bool profile_expect(struct profile_reader *r, const char *word)
{
  return profile_word(r, word) || profile_fail(r, "'%s' is missing", word);
}

/* The words of messages and forms for each kind of curve. */
static const struct {
  const char *value, *form;
  int most;
} curves[] = {
    [BN_PROFILE_RATE] = {"rate", "RATE", INT32_MAX},
    [BN_PROFILE_THREADS] = {"number of threads", "THREADS", 1000000},
};

/* Returns what is wrong with a value, or NULL. */
static const char *profile_wrong_value(const struct profile_reader *r, double value)
{
  if (value > curves[r->out->of].most)
    return "greater than";
  return r->out->of == BN_PROFILE_THREADS && value != floor(value) ? "not whole; at most" : NULL;
}

static bool profile_value(struct profile_reader *r, double *value)
{
  const char *const begin = r->at, *wrong;

  if (!bn_units_read(&r->at, value))
    return profile_fail(r, "not a %s", curves[r->out->of].value);
  wrong = profile_wrong_value(r, *value);
  if (wrong == NULL)
    return true;
  r->at = begin;
  return profile_fail(r, "the %s is %s %d", curves[r->out->of].value, wrong,
                      curves[r->out->of].most);
}

static bool profile_time(struct profile_reader *r, double *s)
{
  const char *const begin = r->at;
  double ns;

  if (!bn_units_read_ns(&r->at, &ns))
    return profile_fail(r, "not a time, such as 500ms, 30s, 5m or 1h");
  *s = ns / 1e9;
  if (*s > 0)
    return true;
  r->at = begin;
  return profile_fail(r, "the time is 0");
}

/* --- pieces --- */

/* Makes room for a thing behind n things; the room doubles. */
static void *profile_grow(void *things, size_t n, size_t size)
{
  return (n & (n - 1)) == 0 ? bn_alloc_resize(things, n == 0 ? 1 : 2 * n, size) : things;
}

static bool profile_add(struct profile_reader *r, double start_rate, double end_rate, double span_s)
{
  struct bn_profile *out = r->out;

  if (out->n_pieces == BN_PROFILE_PIECES)
    return profile_fail(r, "the profile has more than %d changes", BN_PROFILE_PIECES);
  if (out->span_s + span_s > INT32_MAX)
    return profile_fail(r, "the profile is longer than %d seconds", INT32_MAX);
  out->piece = profile_grow(out->piece, out->n_pieces, sizeof *out->piece);
  out->piece[out->n_pieces++] =
      (struct bn_rate_piece){.start_rate = start_rate, .end_rate = end_rate, .span_s = span_s};
  out->span_s += span_s;
  out->most = fmax(out->most, fmax(start_rate, end_rate));
  return true;
}

/* Returns the phase that is being read. */
static struct bn_profile_phase *profile_phase_of(const struct profile_reader *r)
{
  return &r->out->phase[r->out->n_phases - 1];
}

/* The first piece is that of the lead. */
static double profile_last_rate(const struct profile_reader *r)
{
  return r->out->piece[r->out->n_pieces - 1].end_rate;
}

/* --- phases --- */

static bool profile_ramp(struct profile_reader *r)
{
  double from, to, s;

  return profile_value(r, &from) && profile_expect(r, "..") && profile_value(r, &to) &&
         profile_expect(r, "/") && profile_time(r, &s) && profile_add(r, from, to, s);
}

static bool profile_hold(struct profile_reader *r)
{
  double rate, s;

  return profile_value(r, &rate) && profile_expect(r, "/") && profile_time(r, &s) &&
         profile_add(r, rate, rate, s);
}

/* The last step is the last one that does not pass `to`, but for rounding. */
static bool profile_step(struct profile_reader *r)
{
  double from, to, by, s, steps;
  const char *sign;

  if (!profile_value(r, &from) || !profile_expect(r, "..") || !profile_value(r, &to))
    return false;
  sign = r->at;
  if (!profile_expect(r, to < from ? "-" : "+") || !profile_value(r, &by))
    return false;
  if (by <= 0) {
    r->at = sign + 1;
    return profile_fail(r, "the step is 0");
  }
  if (!profile_expect(r, "/") || !profile_time(r, &s))
    return false;
  steps = floor(fabs(to - from) / by + 1e-9);
  for (double k = 0; k <= steps; k++) {
    const double rate = fmax(0, from + (to < from ? -by : by) * k);

    if (!profile_add(r, rate, rate, s))
      return false;
  }
  return true;
}

/* Reads " for TIME"; without it, *s stays what it is. */
static bool profile_for(struct profile_reader *r, double *s)
{
  profile_skip_blanks(r);
  if (!profile_word(r, "for"))
    return true;
  profile_skip_blanks(r);
  return profile_time(r, s);
}

/* Begins and ends at the mean, and rises first. */
static bool profile_sine(struct profile_reader *r)
{
  double mean, height, period_s, s, rate;
  const char *begin;

  if (!profile_value(r, &mean) || !profile_expect(r, "+-"))
    return false;
  begin = r->at;
  if (!profile_value(r, &height))
    return false;
  if (height > mean) {
    r->at = begin;
    return profile_fail(r, "the %s would fall below 0", curves[r->out->of].value);
  }
  if (!profile_expect(r, "/") || !profile_time(r, &period_s))
    return false;
  s = period_s;
  if (!profile_for(r, &s))
    return false;
  rate = mean;
  for (double k = 0; k * period_s / SINE_PIECES < s; k++) {
    const double from_s = k * period_s / SINE_PIECES;
    const double to_s = fmin(s, (k + 1) * period_s / SINE_PIECES);
    const double next = fmax(0, mean + height * sin(2 * M_PI * fmod(to_s / period_s, 1)));

    if (to_s > from_s && !profile_add(r, rate, next, to_s - from_s))
      return false;
    rate = next;
  }
  return true;
}

/* Each period begins with the burst; then the rate is that with which the phase before ended. */
static bool profile_burst(struct profile_reader *r)
{
  const double base = profile_last_rate(r);
  double rate, burst_s, period_s, s;
  const char *begin;

  if (!profile_value(r, &rate) || !profile_expect(r, "/") || !profile_time(r, &burst_s))
    return false;
  profile_skip_blanks(r);
  if (!profile_expect(r, "every"))
    return false;
  profile_skip_blanks(r);
  begin = r->at;
  if (!profile_time(r, &period_s))
    return false;
  if (period_s <= burst_s) {
    r->at = begin;
    return profile_fail(r, "not longer than the burst");
  }
  s = period_s;
  if (!profile_for(r, &s))
    return false;
  profile_phase_of(r)->burst_s = burst_s;
  profile_phase_of(r)->period_s = period_s;
  for (double k = 0; k * period_s < s; k++) {
    const double left_s = s - k * period_s;

    if (!profile_add(r, rate, rate, fmin(left_s, burst_s)) ||
        (left_s > burst_s && !profile_add(r, base, base, fmin(left_s, period_s) - burst_s)))
      return false;
  }
  return true;
}

/* --- traces --- */

struct profile_row {
  double s, rate;
};

/* Reads a row of a trace.  *at moves; returns what is wrong there, or NULL. */
static const char *profile_read_row(const struct profile_reader *r, const char **at,
                                    struct profile_row *row)
{
  if (!bn_units_read(at, &row->s))
    return "not a second";
  *at += strspn(*at, blanks);
  if (**at == ',')
    *at += 1 + strspn(*at + 1, blanks);
  if (!bn_units_read(at, &row->rate))
    return r->out->of == BN_PROFILE_RATE ? "not a rate" : "not a number of threads";
  if (profile_wrong_value(r, row->rate) != NULL)
    return r->out->of == BN_PROFILE_RATE ? "the rate is too great"
                                         : "not a whole number of threads, or too great";
  *at += strspn(*at, blanks);
  return **at == '\0' || **at == '#' ? NULL : "more than two columns";
}

/* Takes the rows of a trace: each rate holds until the next row's second, and the last one as long
   as that before it. */
struct profile_trace {
  struct profile_row last;
  size_t rows;
  double span_s;
};

static bool profile_trace_row(struct profile_reader *r, struct profile_trace *t,
                              const struct profile_row *row)
{
  t->span_s = row->s - t->last.s;
  if (t->rows++ > 0 && !profile_add(r, t->last.rate, t->last.rate, t->span_s))
    return false;
  t->last = *row;
  return true;
}

/* The first line may be a heading. */
static bool profile_trace_line(struct profile_reader *r, struct profile_trace *t, const char *line,
                               size_t number)
{
  const char *at = line + strspn(line, blanks), *fault;
  struct profile_row row;

  if (*at == '\0' || *at == '#' ||
      (number == 1 && strchr("0123456789", *at) == NULL && strpbrk(at, "0123456789") == NULL))
    return true;
  fault = profile_read_row(r, &at, &row);
  if (fault == NULL && t->rows > 0 && row.s <= t->last.s) {
    fault = "the second is not after that of the row before";
    at = line + strspn(line, blanks);
  }
  if (fault != NULL)
    return profile_fail(r, "line %zu of the file, column %zu: %s", number, (size_t)(at - line) + 1,
                        fault);
  return profile_trace_row(r, t, &row);
}

static bool profile_trace_file(struct profile_reader *r, FILE *file)
{
  struct profile_trace t = {.rows = 0};
  char *line = NULL;
  size_t size = 0, number = 0;
  bool ok = true;

  while (ok && getline(&line, &size, file) >= 0)
    ok = profile_trace_line(r, &t, line, ++number);
  if (ok && ferror(file) != 0)
    ok = profile_fail(r, "cannot read the file: %s", strerror(errno));
  free(line);
  if (ok && t.rows < 2)
    return profile_fail(r, "the file has %zu rows; a trace needs two", t.rows);
  return ok && profile_add(r, t.last.rate, t.last.rate, t.span_s);
}

/* Returns the length of the text up to the end of its phase, without blanks there. */
static size_t profile_text_len(const char *text)
{
  size_t len = strcspn(text, ";");

  while (len > 0 && strchr(blanks, text[len - 1]) != NULL)
    len--;
  return len;
}

static bool profile_trace(struct profile_reader *r)
{
  const char *const begin = r->at;
  const size_t len = profile_text_len(begin);
  FILE *file;
  char *path;
  bool ok;

  if (len == 0)
    return profile_fail(r, "the name of the file is missing");
  r->out->has_trace = true;
  path = bn_alloc_part(begin, len);
  file = fopen(path, "re");
  free(path);
  if (file == NULL)
    return profile_fail(r, "cannot open the file: %s", strerror(errno));
  ok = profile_trace_file(r, file);
  (void)fclose(file);
  if (ok)
    r->at += len;
  return ok;
}

/* --- the profile --- */

/* "@" stands for a value of the curve. */
static const struct {
  const char *word, *form;
  bool (*read)(struct profile_reader *r);
} forms[] = {
    {"ramp:", "ramp:@..@/TIME", profile_ramp},
    {"hold:", "hold:@/TIME", profile_hold},
    {"step:", "step:@..@+@/TIME", profile_step},
    {"sine:", "sine:@+-@/TIME [for TIME]", profile_sine},
    {"burst:", "burst:@/TIME every TIME [for TIME]", profile_burst},
    {"trace:", "trace:FILE", profile_trace},
};

static bool profile_begin_phase(struct profile_reader *r)
{
  struct bn_profile *out = r->out;

  if (out->n_phases == BN_PROFILE_PHASES)
    return profile_fail(r, "the profile has more than %d phases", BN_PROFILE_PHASES);
  out->phase = profile_grow(out->phase, out->n_phases, sizeof *out->phase);
  out->phase[out->n_phases++] = (struct bn_profile_phase){
      .text = bn_alloc_part(r->at, profile_text_len(r->at)), .from_s = out->span_s};
  return true;
}

static bool profile_phase(struct profile_reader *r)
{
  if (!profile_begin_phase(r))
    return false;
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
    if (profile_word(r, forms[i].word)) {
      r->form = forms[i].form;
      if (!forms[i].read(r))
        return false;
      profile_phase_of(r)->span_s = r->out->span_s - profile_phase_of(r)->from_s;
      profile_skip_blanks(r);
      return *r->at == ';' || *r->at == '\0' || profile_fail(r, "the phase should end here");
    }
  return profile_fail(r, "not a phase");
}

/* Writes a form with the name of the values. */
static void profile_print_form(const char *form, const char *value, char *out, size_t size)
{
  size_t len = 0;

  for (out[0] = '\0'; *form != '\0' && len + 1 < size; form++)
    len += (size_t)snprintf(out + len, size - len, *form == '@' ? "%s" : "%.1s",
                            *form == '@' ? value : form);
}

static void profile_explain(const struct profile_reader *r, const char *phase, size_t number,
                            char wrong[BN_PROFILE_WRONG])
{
  static const char any[] = "ramp:, hold:, step:, sine:, burst:, trace:";
  const size_t len = profile_text_len(phase);
  char form[64];

  profile_print_form(r->form != NULL ? r->form : any, curves[r->out->of].form, form, sizeof form);
  (void)snprintf(wrong, BN_PROFILE_WRONG, "phase %zu, '%.*s', column %zu: %s; allowed: %s", number,
                 len < 60 ? (int)len : 60, phase, (size_t)(r->at - r->text) + 1, r->wrong, form);
}

static int profile_read_phases(struct profile_reader *r, char wrong[BN_PROFILE_WRONG])
{
  for (size_t number = 1;; number++) {
    const char *phase;

    profile_skip_blanks(r);
    phase = r->at;
    r->form = NULL;
    if (!profile_phase(r)) {
      profile_explain(r, phase, number, wrong);
      return -1;
    }
    if (*r->at == '\0')
      return 0;
    r->at++;
  }
}

int bn_profile_parse(const char *text, enum bn_profile_of of, double lead_s, struct bn_profile *out,
                     char wrong[BN_PROFILE_WRONG])
{
  struct profile_reader r = {.text = text, .at = text, .out = out};

  *out = (struct bn_profile){.of = of};
  (void)profile_add(&r, 0, 0, 0);
  if (profile_read_phases(&r, wrong) != 0) {
    bn_profile_done(out);
    return -1;
  }
  out->piece[0].start_rate = out->piece[0].end_rate = out->piece[1].start_rate;
  out->piece[0].span_s = out->lead_s = lead_s;
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

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints templates with the figures of a view. */
#include "report/text/form.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/hist.h"
#include "base/units.h"

enum { FORM_TEXT = 48 }; /* bytes of a figure that is a text */

/* --- the current percentile and timing -------------------------------------------------------- */

void bn_form_init(struct bn_form *f, const struct bn_view *v, bool native)
{
  *f = (struct bn_form){.view = v, .native = native};
  bn_form_set_rank(f, native ? bn_view_greatest_rank(v) : 0);
}

void bn_form_set_rank(struct bn_form *f, size_t i)
{
  const struct bn_view *v = f->view;
  const bool of_events = f->timing == NULL;

  f->rank = 0;
  f->percentile_s = NAN;
  f->at_least = false;
  if (i < v->n_percents) {
    f->rank = v->percents[i];
    f->percentile_s = of_events ? v->percentile_s[i] : f->timing->percentile_s[i];
    f->at_least = f->native && of_events && bn_view_at_least(v, i);
  }
}

/* --- values ----------------------------------------------------------------------------------- */

enum value_type { VALUE_U64, VALUE_F64, VALUE_TEXT };

struct value {
  enum value_type type;
  uint64_t u64;
  double f64;
  char text[FORM_TEXT];
  bool at_least; /* the value is a lower bound */
};

static struct value form_u64_value(uint64_t n)
{
  return (struct value){.type = VALUE_U64, .u64 = n};
}

static struct value form_f64_value(double x)
{
  return (struct value){.type = VALUE_F64, .f64 = x};
}

/* Returns a formatted text, cut to FORM_TEXT - 1 bytes. */
__attribute__((format(printf, 1, 2))) static struct value form_text_value(const char *fmt, ...)
{
  struct value v = {.type = VALUE_TEXT};
  va_list ap;

  va_start(ap, fmt);
  (void)vsnprintf(v.text, sizeof v.text, fmt, ap);
  va_end(ap);
  return v;
}

/* Natively, `unfinished` counts the queued arrivals of --rate, too.  In dialects it does not, and
   neither does it in older documents, which have no `due`. */
uint64_t bn_form_count_in_flight(const struct bn_form *f)
{
  const struct bn_view *v = f->view;
  const uint64_t queued = f->native && v->due > 0 ? v->backlog : 0;

  return v->unfinished > queued ? v->unfinished - queued : 0;
}

/* Returns the maximum of the current timing, or of the events if there is no current timing.  Only
   the native report shows that the maximum of the events is a lower bound. */
static struct value form_find_maximum(const struct bn_form *f)
{
  const bool of_events = f->timing == NULL;
  struct value v = form_f64_value(of_events ? f->view->max_s : f->timing->max_s);

  v.at_least = f->native && of_events && f->view->max_at_least;
  return v;
}

/* Returns whether the `len` bytes of `name` are the text `other`. */
static bool form_is_name(const char *name, size_t len, const char *other)
{
  return strlen(other) == len && memcmp(name, other, len) == 0;
}

/* Returns the value of a figure of measure/figures.def by its name. */
static struct value form_find_figure(const struct bn_form *f, const char *name, size_t len)
{
  const struct bn_view_field *figure = bn_view_fields;

  while (figure->name != NULL && !form_is_name(name, len, figure->name))
    figure++;
  assert(figure->name != NULL); /* templates are constants of this program */
  if (figure->type == BN_VIEW_F64)
    return form_f64_value(bn_view_value(f->view, figure));
  return form_u64_value(bn_view_u64(f->view, figure));
}

/* Returns the value of a name that begins with "session".  A template with such names is only
   printed with a current session. */
static struct value form_find_session_value(const struct bn_form *f, const char *name, size_t len)
{
  const struct bn_session_view *s = f->session;

  if (form_is_name(name, len, "session"))
    return form_u64_value((uint64_t)(s - f->view->sessions));
  if (form_is_name(name, len, "session_events"))
    return form_u64_value(s->events);
  if (form_is_name(name, len, "session_min_s"))
    return form_f64_value(s->min_s);
  if (form_is_name(name, len, "session_avg_s"))
    return form_f64_value(s->avg_s);
  if (form_is_name(name, len, "session_max_s"))
    return form_f64_value(s->max_s);
  assert(form_is_name(name, len, "session_busy_s")); /* templates are constants of this program */
  return form_f64_value(s->busy_s);
}

/* Returns the value of a name in a template (form.h).  The values of the current timing come before
   the figures of the view, which have the names min_s, avg_s and max_s, too, for the events. */
static struct value form_find_value(const struct bn_form *f, const char *name, size_t len)
{
  static const char session[] = "session";
  const struct bn_timing *t = f->timing;

  if (form_is_name(name, len, "threads"))
    return form_u64_value(f->view->running);
  if (form_is_name(name, len, "in_flight"))
    return form_u64_value(bn_form_count_in_flight(f));
  if (form_is_name(name, len, "rank"))
    return form_text_value("%.15g", f->rank);
  if (form_is_name(name, len, "approx"))
    return form_text_value("approx. %3.15g percentile:", f->rank);
  if (form_is_name(name, len, "percentile_s"))
    return (struct value){.type = VALUE_F64, .f64 = f->percentile_s, .at_least = f->at_least};
  if (form_is_name(name, len, "timing"))
    return form_text_value("%s", f->timing_name);
  if (form_is_name(name, len, "max_s"))
    return form_find_maximum(f);
  if (t != NULL && form_is_name(name, len, "min_s"))
    return form_f64_value(t->min_s);
  if (t != NULL && form_is_name(name, len, "avg_s"))
    return form_f64_value(t->avg_s);
  if (strncmp(name, session, sizeof session - 1) == 0)
    return form_find_session_value(f, name, len);
  return form_find_figure(f, name, len);
}

/* --- units ------------------------------------------------------------------------------------ */

/* Converts a number to a whole number: NaN and negative numbers to 0, numbers that are too large to
   the largest.  A saved result may have any number, and C converts only numbers that fit. */
static uint64_t form_clamp_to_u64(double x)
{
  if (!(x > 0))
    return 0;
  return x < 0x1p64 ? (uint64_t)x : UINT64_MAX;
}

/* A figure is multiplied by the factor and divided by the divisor.  One of these is 1, so that the
   result is rounded once. */
static const struct {
  const char *name;
  double factor, divisor;
} units[] = {{"ms", 1e3, 1}, {"MiB", 1, 0x1p20}, {"MB", 1, 1e6}, {"%", 100, 1}};

/* Converts a value to the unit whose name has `len` bytes; "size" makes it a text. */
static void form_convert_value(struct value *v, const char *unit, size_t len)
{
  size_t i = 0;

  if (form_is_name(unit, len, "size")) {
    const uint64_t bytes = v->type == VALUE_U64 ? v->u64 : form_clamp_to_u64(v->f64);

    v->type = VALUE_TEXT;
    (void)bn_units_format_size(v->text, sizeof v->text, bytes, false /* iec */);
    return;
  }
  while (i < sizeof units / sizeof *units && !form_is_name(unit, len, units[i].name))
    i++;
  assert(i < sizeof units / sizeof *units); /* templates are constants of this program */
  v->f64 = (v->type == VALUE_U64 ? (double)v->u64 : v->f64) * units[i].factor / units[i].divisor;
  v->type = VALUE_F64;
}

static const char lower_bound_sign[] = "\u2265";

/* Returns the width that makes printf(3) fill `width` columns with a text that has the sign: printf
   counts the bytes of the sign, which takes one column. */
static int form_widen_for_sign(int width)
{
  const int extra_bytes = (int)strlen(lower_bound_sign) - 1;

  if (width == 0)
    return 0;
  return width > 0 ? width + extra_bytes : width - extra_bytes;
}

/* Formats a number right-aligned in at least `width` columns, if negative left-aligned in -width
   columns, with "≥" before a lower bound.  HUGE_VAL is a latency in milliseconds beyond the range
   of the histogram.  Returns text. */
static const char *form_format_number(char text[BN_FORM_NUMBER], int width, int decimals, double x,
                                      bool at_least)
{
  char digits[BN_FORM_NUMBER - 8];

  if (isinf(x)) {
    (void)snprintf(digits, sizeof digits, ">%.*f", decimals, BN_HIST_TOP_MS);
  } else if (at_least) {
    (void)snprintf(digits, sizeof digits, "%s%.*f", lower_bound_sign, decimals, x);
    width = form_widen_for_sign(width);
  } else {
    (void)snprintf(digits, sizeof digits, "%.*f", decimals, x);
  }
  (void)snprintf(text, BN_FORM_NUMBER, "%*s", width, digits);
  return text;
}

const char *bn_form_format_latency(char text[BN_FORM_NUMBER], int width, double s, bool at_least)
{
  const double ms = s * 1e3;

  if (!isnan(ms))
    return form_format_number(text, width, bn_units_count_decimals(ms, 2), ms, at_least);
  (void)snprintf(text, BN_FORM_NUMBER, "%*s", width, "-");
  return text;
}

void bn_form_print_times(const char *title, const double *s, size_t n, FILE *out)
{
  char number[BN_FORM_NUMBER];

  (void)fprintf(out, "    %-36s", title);
  for (size_t i = 0; i < n; i++)
    (void)fprintf(out, "%c%s", i == 0 ? ' ' : '/',
                  form_format_number(number, 0 /* width */, 2, s[i] * 1e3, false));
  (void)fputc('\n', out);
}

/* --- printing --------------------------------------------------------------------------------- */

/* The form of a value.  Negative widths align to the left, as in printf. */
struct layout {
  int width, decimals;
  bool is_latency;
};

/* Prints "-" in place of a number that is not known, in interval lines without padding, because
   they have no columns. */
static void form_print_unknown(const struct bn_form *f, const struct layout *l, FILE *out)
{
  const int width = f->view->span == BN_VIEW_INTERVAL ? 0 : l->width;

  (void)fprintf(out, "%*s", width, "-");
}

/* Prints "-" in place of a latency, because no event has ended.  An interval line also has the age
   of the oldest event in milliseconds, because this event may be stuck. */
static void form_print_no_latency(const struct bn_form *f, const struct layout *l, FILE *out)
{
  form_print_unknown(f, l, out);
  if (f->view->span == BN_VIEW_INTERVAL && f->view->oldest_s > 0)
    (void)fprintf(out, " (oldest %.0f)", f->view->oldest_s * 1e3);
}

/* Prints a number.  An unknown number is printed as "-", and in dialects as 0, as sysbench does.
   The native report shows more decimals of a small latency. */
static void form_print_f64(const struct bn_form *f, const struct layout *l, const struct value *v,
                           FILE *out)
{
  const double x = isnan(v->f64) && !f->native ? 0 : v->f64;
  int decimals = l->decimals;
  char text[BN_FORM_NUMBER];

  if (isnan(x)) {
    form_print_unknown(f, l, out);
    return;
  }
  if (f->native && l->is_latency)
    decimals = bn_units_count_decimals(x, l->decimals);
  (void)fputs(form_format_number(text, l->width, decimals, x, v->at_least), out);
}

/* Prints a value as its type and the layout ask for.  If no event has ended, dialects print a
   latency of 0. */
static void form_print_value(const struct bn_form *f, const struct layout *l, const struct value *v,
                             FILE *out)
{
  const bool has_no_latency = f->native && f->timing == NULL && f->view->events == 0;

  if (v->type == VALUE_U64)
    (void)fprintf(out, "%*llu", l->width, (unsigned long long)v->u64);
  else if (v->type == VALUE_TEXT)
    (void)fprintf(out, "%*s", l->width, v->text);
  else if (l->is_latency && has_no_latency && !v->at_least)
    form_print_no_latency(f, l, out);
  else
    form_print_f64(f, l, v, out);
}

/* Reads the number after the mark ':' or '.' at *cursor, and moves *cursor past it.  A mark without
   digits, as in ":size", stands for 0. */
static int form_read_number(const char **cursor)
{
  char *end;
  const long n = strtol(*cursor + 1, &end, 10);

  *cursor = end;
  return (int)n;
}

/* Prints the figure of the field "{NAME:WIDTH.DECIMALS~UNIT}" (form.h) at the start of a template.
   A width or decimals that are left out are 0.  Returns the template after the field. */
static const char *form_print_field(const struct bn_form *f, const char *template, FILE *out)
{
  const char *name = template + 1;
  const size_t len = strcspn(name, ":}");
  struct value v = form_find_value(f, name, len);
  const char *cursor = name + len;
  struct layout l = {.width = 0};
  size_t unit_len;

  if (*cursor == ':')
    l.width = form_read_number(&cursor);
  if (*cursor == '.')
    l.decimals = form_read_number(&cursor);
  l.is_latency = *cursor == '~';
  if (l.is_latency)
    cursor++;
  unit_len = strcspn(cursor, "}");
  if (unit_len > 0)
    form_convert_value(&v, cursor, unit_len);
  form_print_value(f, &l, &v, out);
  return cursor + unit_len + 1; /* after the '}' */
}

void bn_form_print(const struct bn_form *f, const char *template, FILE *out)
{
  const bool hides_rank = f->native && f->view->n_percents == 0;

  while (*template != '\0') {
    const size_t len = strcspn(template, "{[]");

    (void)fwrite(template, 1, len, out);
    template += len;
    if (*template == '{')
      template = form_print_field(f, template, out);
    else if (*template == '[' && hides_rank)
      template = strchr(template, ']');
    else if (*template != '\0') /* a bracket, which is not printed */
      template += 1;
  }
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints a line for each host, with its name at the end, because names are of any length.

   Groups also have a table of their events (tables.c).  That table covers the time of the run, and
   is in reports of checkpoints, too, when the processes are not known. */
#include "report/text/parts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/escape.h"
#include "base/log.h"
#include "base/units.h"
#include "report/text/form.h"

/* The widths of the columns. */
enum { THREADS = 7, RATE = 12, LATENCY = 10, ERRORS = 8, TIME = 9 };

/* Appends a blank and a number, or "-" if it is not known. */
static void members_append_f64(struct bn_buf *b, int width, double x)
{
  if (isfinite(x))
    (void)bn_buf_printf(b, " %*.*f", width, bn_units_count_decimals(x, 2), x);
  else
    (void)bn_buf_printf(b, " %*s", width, "-");
}

/* Appends the greatest percentile, with "≥" if it is a lower bound, or "-" if it is not known.
   v NULL: the host has sent no total. */
static void members_append_percentile(struct bn_buf *b, const struct bn_view *v)
{
  const bool has_percentiles = v != NULL && v->n_percents > 0;
  const size_t rank = has_percentiles ? bn_view_greatest_rank(v) : 0;
  char text[BN_FORM_NUMBER];

  (void)bn_buf_printf(b, " %s",
                      bn_form_format_latency(text, LATENCY,
                                             has_percentiles ? v->percentile_s[rank] : NAN,
                                             has_percentiles && bn_view_at_least(v, rank)));
}

const char *bn_text_format_member(char name[BN_TEXT_MEMBER], const struct bn_member *m)
{
  size_t len;

  /* The host gets half of the size, so that even a long name leaves room for the group. */
  (void)bn_escape(name, BN_TEXT_MEMBER / 2, m->host, "");
  len = strlen(name);
  if (m->group != NULL) {
    name[len++] = '/';
    (void)bn_escape(name + len, BN_TEXT_MEMBER - len, m->group, "");
  }
  return name;
}

/* If no member names a group, they are hosts, or groups of a single host: none is a sum. */
size_t bn_text_count_sums(const struct bn_group *g, size_t n)
{
  size_t sums = 0;

  while (sums < n && g[sums].member->group == NULL)
    sums++;
  return sums < n ? sums : 0;
}

/* Appends the name of a host, and why it was lost if it was. */
static void members_append_name(struct bn_buf *b, const struct bn_member *m)
{
  char shown[BN_TEXT_MEMBER];

  (void)bn_buf_printf(b, "  %s", bn_text_format_member(shown, m));
  if (m->lost == NULL)
    return;
  (void)bn_escape(shown, sizeof shown, m->lost, "");
  (void)bn_buf_printf(b, " (lost: %s)", shown);
}

/* The members that have a line: hosts, groups, or parts of groups on hosts. */
struct members {
  const struct bn_group *group; /* [n] */
  size_t n;
  bool has_groups, has_hosts; /* at least one of them */
};

/* Appends the figures of a host or group.  The figures of a lost host end with its last message. */
static void members_append_line(struct bn_buf *b, const struct bn_group *g, bool has_hosts)
{
  const struct bn_member *m = g->member;
  const struct bn_view *v = g->has_total ? &g->total.view : NULL;

  (void)bn_buf_printf(b, "%*u", THREADS, m->threads);
  members_append_f64(b, RATE, v != NULL ? v->events_per_s : NAN);
  members_append_percentile(b, v);
  if (v != NULL)
    (void)bn_buf_printf(b, " %*" PRIu64, ERRORS, v->errors);
  else
    (void)bn_buf_printf(b, " %*s", ERRORS, "-");
  members_append_f64(b, TIME, m->time_s);
  members_append_f64(b, TIME, m->processor_s);
  if (has_hosts) {
    members_append_f64(b, TIME, m->clock_error_s * 1e3);
    members_append_f64(b, TIME, m->start_lag_s * 1e3);
  }
  members_append_name(b, m);
}

/* Appends the heading.  All hosts have the same ranks, but a lost host may have sent no total, so
   the greatest rank is taken from a host that has sent one. */
static void members_append_heading(struct bn_buf *b, const struct members *all)
{
  const char *group_heading = all->has_hosts ? "host/group" : "group";
  char rank[24] = "-";

  for (size_t i = 0; i < all->n; i++) {
    const struct bn_view *v = &all->group[i].total.view;

    if (all->group[i].has_total && v->n_percents > 0)
      (void)snprintf(rank, sizeof rank, "p%.10g ms", v->percents[bn_view_greatest_rank(v)]);
  }
  (void)bn_buf_printf(b, "%*s %*s %*s %*s %*s %*s", THREADS, "threads", RATE, "events/s", LATENCY,
                      rank, ERRORS, "errors", TIME, "time s", TIME, "cpu s");
  if (all->has_hosts)
    (void)bn_buf_printf(b, " %*s %*s", TIME, "clock ms", TIME, "start ms");
  (void)bn_buf_printf(b, "  %s", all->has_groups ? group_heading : "host");
}

/* Prints the line and clears it.  out NULL: logs it to standard error. */
static void members_print_line(FILE *out, struct bn_buf *line)
{
  if (out != NULL)
    (void)fprintf(out, "    %s\n", line->data);
  else
    bn_log_stderr("%s", line->data);
  bn_buf_clear(line);
}

/* Returns a fact about the hosts of the run, or NaN if it is not known. */
static double members_find_f64(const struct bn_facts *f, const char *key)
{
  const struct bn_fact *fact = bn_facts_find(f, BN_HOSTS_SECTION, key);

  return fact != NULL && fact->type == BN_FACT_REAL ? fact->real : NAN;
}

/* Appends a remark if all hosts ran together for clearly less than span_s, the time of the report:
   the rates are per second of that time, and so lower than the hosts' joint rate.  The remark names
   this rate if it is known. */
static void members_append_remark(struct bn_buf *b, const struct bn_facts *f, double span_s)
{
  static const double tolerated_s = 0.1, tolerated_part = 0.01;
  const double together_s = members_find_f64(f, BN_HOSTS_TIME); /* NaN: not known */
  const double apart_s = span_s - together_s;
  const double rate = members_find_f64(f, BN_HOSTS_RATE);
  const struct bn_fact *seconds = bn_facts_find(f, BN_HOSTS_SECTION, BN_HOSTS_SECONDS);

  if (!isfinite(together_s) || apart_s <= fmin(tolerated_s, tolerated_part * span_s))
    return;
  (void)bn_buf_printf(b, "All %s ran together for %.4g s of %.4g s",
                      bn_facts_have_groups(f) ? "groups" : "hosts", together_s, span_s);
  if (isfinite(rate) && seconds != NULL && seconds->type == BN_FACT_WHOLE)
    (void)bn_buf_printf(b, ", with %.*f events/s in the first %" PRId64 " s",
                        bn_units_count_decimals(rate, 2), rate, seconds->whole);
}

/* Returns the members that have a line.  If the run has groups on several hosts, the first members
   are the sums of the groups over the hosts.  These have no line here, because they are in the
   table of the groups.  If it has groups but no sums, it ran on a single host, so no line names a
   host. */
static struct members members_list(const struct bn_group *g, size_t n, const struct bn_facts *f)
{
  const size_t n_sums = bn_text_count_sums(g, n);
  const bool has_groups = bn_facts_have_groups(f);

  return (struct members){.group = g + n_sums,
                          .n = n - n_sums,
                          .has_groups = has_groups,
                          .has_hosts = !has_groups || n_sums > 0};
}

void bn_text_print_members(FILE *out, const struct bn_group *g, size_t n, const struct bn_facts *f,
                           double span_s)
{
  const struct members all = members_list(g, n, f);
  struct bn_buf line = {.max = 0};

  if (out != NULL)
    (void)fprintf(out, "%s%s:\n", all.has_groups ? "Processes of the groups" : "Hosts",
                  all.has_hosts ? " (clock: greatest error; start: delay)" : "");
  members_append_heading(&line, &all);
  members_print_line(out, &line);
  for (size_t i = 0; i < all.n; i++) {
    members_append_line(&line, &all.group[i], all.has_hosts);
    members_print_line(out, &line);
  }
  members_append_remark(&line, f, span_s);
  if (line.len > 0)
    members_print_line(out, &line);
  if (out != NULL)
    (void)fputc('\n', out);
  bn_buf_done(&line);
}

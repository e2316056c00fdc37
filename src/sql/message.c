/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How failures are worded: the driver's texts with what it said filled in. */
#include "sql/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/escape.h"
#include "base/log.h"

static const char *const default_texts[BN_STEPS] = {
    [BN_STEP_CONNECT] = "unable to connect to %w, aborting...\nerror %e: %m",
    [BN_STEP_PREPARE] = "%c failed\nerror %e: %m",
    [BN_STEP_BIND] = "%c failed\nerror %e: %m",
    [BN_STEP_QUERY] = "%c returned error %e (%m) for query '%q'",
};

/* Without the statement, where it is not known any more. */
static const char text_unnamed[] = "%c returned error %e (%m)";

/* A bulk insert is half a megabyte; the reference cuts here too. */
enum { MESSAGE_MAX = 4095 };

struct bn_sql_shown bn_sql_shown(const struct bn_sql_diag *d)
{
  struct bn_sql_shown s;

  (void)bn_escape_message(s.text, sizeof s.text, d->text);
  return s;
}

/* What a server says may not steer a terminal.  Lines stay lines: libpq's texts have several. */
static void add_foreign(struct bn_buf *b, const char *text)
{
  const size_t len = bn_escape_message(NULL, 0, text);

  if (bn_buf_reserve(b, len) != 0)
    return;
  (void)bn_escape_message(b->data + b->len, len + 1, text);
  b->len += len;
}

static void add_field(struct bn_buf *b, char what, const struct bn_policy *policy,
                      const struct bn_sql_diag *d, const char *sql, size_t len)
{
  switch (what) {
  case 'c':
    (void)bn_buf_str(b, d->call);
    break;
  case 'e':
    (void)bn_buf_printf(b, "%u", (unsigned)d->code);
    break;
  case 'm':
    add_foreign(b, d->text);
    break;
  case 'q':
    (void)bn_buf_add(b, sql, len);
    break;
  case 'w':
    (void)bn_buf_str(b, d->where);
    break;
  case 'v':
    (void)bn_buf_str(b, policy->query_was);
    break;
  default:
    (void)bn_buf_char(b, what);
  }
}

/* One message: the line at *p, which moves to the next one.  NULL: no memory. */
static char *fill_in(const char **p, const struct bn_policy *policy, const struct bn_sql_diag *d,
                     const char *sql, size_t len)
{
  const char *at = *p;
  struct bn_buf b;

  bn_buf_init(&b, 0);
  for (; *at != '\0' && *at != '\n'; at++) {
    if (*at == '%' && at[1] != '\0')
      add_field(&b, *++at, policy, d, sql, len);
    else
      (void)bn_buf_char(&b, *at);
  }
  *p = *at == '\n' ? at + 1 : at;
  if (b.len > MESSAGE_MAX)
    b.data[MESSAGE_MAX] = '\0';
  return bn_buf_take(&b);
}

/* Without the lines that libpq adds. */
static void cut_after_line(char *text)
{
  text[strcspn(text, "\n")] = '\0';
}

void bn_sql_tell_remedy(const struct bn_driver *ops, const struct bn_sql_diag *d,
                        const char *before, _Atomic bool *told)
{
  const char *remedy = ops->remedy != NULL ? ops->remedy(d) : NULL;
  struct bn_sql_shown said;

  if (remedy == NULL || atomic_exchange(told, true))
    return;
  if (before == NULL) {
    bn_log_hint("%s", remedy);
    return;
  }
  said = bn_sql_shown(d);
  cut_after_line(said.text);
  bn_log_hint("%s: %s: %s", before, said.text, remedy);
}

bool bn_sql_message_varies(const char *state)
{
  static const char *const classes[] = {"22", "23", "40", "53"};

  for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
    if (strncmp(state, classes[i], 2) == 0)
      return true;
  return false;
}

/* What makes failures of several threads one failure: the SQLSTATE where texts of one reason
   differ, else the text.  NULL: no memory. */
static char *kind_of(enum bn_sql_step step, const struct bn_sql_diag *d)
{
  static const char *const names[BN_STEPS] = {[BN_STEP_CONNECT] = "connect",
                                              [BN_STEP_PREPARE] = "prepare",
                                              [BN_STEP_BIND] = "bind",
                                              [BN_STEP_QUERY] = "query"};
  const char *what = step == BN_STEP_CONNECT ? d->where : d->call;
  struct bn_buf b;

  bn_buf_init(&b, 0);
  (void)bn_buf_printf(&b, "%s%s%s: error %u", names[step],
                      what[0] == '\0' || what[0] == ' ' ? "" : " ", what, (unsigned)d->code);
  (void)bn_buf_printf(&b, ", SQLSTATE %s", d->state);
  if (step == BN_STEP_CONNECT || !bn_sql_message_varies(d->state))
    (void)bn_buf_printf(&b, ": %s", bn_sql_shown(d).text);
  return bn_buf_take(&b);
}

static void log_lines(bool alert, enum bn_sql_step step, const struct bn_sql_diag *d, char **line,
                      size_t n)
{
  char *kind = alert ? NULL : kind_of(step, d);

  for (size_t i = 0; alert && i < n; i++)
    bn_log_text(BN_ALERT, line[i]);
  if (!alert)
    bn_log_fatal_as(kind, (const char *const *)line, n);
  free(kind);
}

static size_t count_lines(const char *text)
{
  size_t n = 1;

  for (; *text != '\0'; text++)
    n += *text == '\n' && text[1] != '\0';
  return n;
}

void bn_sql_message(const struct bn_driver *ops, const struct bn_policy *policy,
                    enum bn_sql_step step, const struct bn_sql_diag *d, const char *sql, size_t len)
{
  const char *const *texts = ops->texts;
  const char *p = texts != NULL && texts[step] != NULL ? texts[step] : default_texts[step];
  const bool alert =
      policy->query_failures_are_alerts && step == BN_STEP_QUERY && !ops->fatal_queries;

  if (step == BN_STEP_QUERY && sql == NULL)
    p = text_unnamed;
  const size_t n = count_lines(p);
  char **line = calloc(n, sizeof *line);
  size_t done = 0;

  while (line != NULL && done < n && (line[done] = fill_in(&p, policy, d, sql, len)) != NULL)
    done++;
  if (done == n)
    log_lines(alert, step, d, line, n);
  else
    bn_log(alert ? BN_ALERT : BN_FATAL, "%s", bn_sql_shown(d).text);
  for (size_t i = 0; i < done; i++)
    free(line[i]);
  free((void *)line);
}

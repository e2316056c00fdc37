/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How failures are worded: the driver's texts with what it said filled in. */
#include "sql/message.h"

#include <stdio.h>

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

void bn_sql_message(const struct bn_driver *ops, const struct bn_policy *policy,
                    enum bn_sql_step step, const struct bn_sql_diag *d, const char *sql, size_t len)
{
  const char *const *texts = ops->texts;
  const char *p = texts != NULL && texts[step] != NULL ? texts[step] : default_texts[step];
  const bool alert =
      policy->query_failures_are_alerts && step == BN_STEP_QUERY && !ops->fatal_queries;
  struct bn_buf b;

  if (step == BN_STEP_QUERY && sql == NULL)
    p = text_unnamed;
  bn_buf_init(&b, 0);
  while (*p != '\0') {
    bn_buf_clear(&b);
    for (; *p != '\0' && *p != '\n'; p++) {
      if (*p == '%' && p[1] != '\0')
        add_field(&b, *++p, policy, d, sql, len);
      else
        (void)bn_buf_char(&b, *p);
    }
    bn_log(alert ? BN_ALERT : BN_FATAL, "%.*s", MESSAGE_MAX,
           b.failed || b.data == NULL ? bn_sql_shown(d).text : b.data);
    if (*p == '\n')
      p++;
  }
  bn_buf_done(&b);
}

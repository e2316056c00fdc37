/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A database driver in the test's hands, and a run for it to work in. */
#include "sqlfake.h"

#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "cm.h"
#include "dialect/dialect.h"

struct fake fake;

struct fake_conf {
  char *user;
  struct bn_list ignored;
};

struct fake_conn {
  bool open;
  unsigned place;
};

struct fake_stmt {
  struct fake_conn *conn;
  char text[200];
};

__attribute__((format(printf, 1, 2))) static void note(const char *fmt, ...)
{
  const size_t len = strlen(fake.log);
  va_list ap;

  va_start(ap, fmt);
  (void)vsnprintf(fake.log + len, sizeof fake.log - len, fmt, ap);
  va_end(ap);
}

static void fill(struct bn_sql_diag *d, int code, const char *state, const char *call)
{
  d->code = code;
  (void)snprintf(d->state, sizeof d->state, "%s", state != NULL ? state : "");
  d->call = call;
  (void)snprintf(d->text, sizeof d->text, "failure %d", code);
}

static struct fake_answer next_answer(void)
{
  const struct fake_answer done = {.rc = BN_SQL_DONE};

  return fake.next_answer < fake.n_answers ? fake.answer[fake.next_answer++] : done;
}

static enum bn_sql give(struct fake_answer a, struct bn_sql_result *r, struct bn_sql_diag *d)
{
  fake.cell = a.cell;
  *r = (struct bn_sql_result){.nrows = a.nrows,
                              .affected = a.affected,
                              .more = a.more,
                              .dry = a.dry,
                              .nfields = a.nrows > 0 ? 2 : 1};
  if (a.rc > BN_SQL_ROWS) {
    fill(d, a.code, a.state, "fake_query()");
    d->rolled_back = a.rolled_back;
  }
  return a.rc;
}

static enum bn_sql answer(struct bn_sql_result *r, struct bn_sql_diag *d)
{
  return give(next_answer(), r, d);
}

static bool connects(unsigned place, uint64_t deadline_ns)
{
  const uint64_t in_ns = bn_clock_mono() + (uint64_t)(fake.login_s * 1e9);

  if (fake.login_s > 0)
    bn_clock_sleep_until(in_ns < deadline_ns ? in_ns : deadline_ns);
  if ((fake.frozen >> place & 1) != 0 || bn_clock_mono() >= deadline_ns)
    return false;
  if (fake.refuse_connect == 0)
    return true;
  fake.refuse_connect--;
  return false;
}

static int fake_thread_init(void *self)
{
  (void)self;
  return fake.refuse_thread ? -1 : 0;
}

/* Drivers count in whole seconds. */
static void sleep_through(uint64_t deadline_ns)
{
  const uint64_t least_ns = bn_clock_mono() + (uint64_t)(fake.least_s * 1e9);

  bn_clock_sleep_until(least_ns > deadline_ns ? least_ns : deadline_ns);
}

static enum bn_sql fake_connect(void *self, void *conn, const struct bn_sql_target *t,
                                uint64_t deadline_ns, struct bn_sql_diag *d)
{
  struct fake_conn *c = conn;
  const unsigned place = t->ordinal % (fake.places > 0 ? fake.places : 1);

  (void)self;
  if (fake.connects < FAKE_MAX) {
    fake.began_ns[fake.connects] = bn_clock_mono();
    fake.deadline_ns[fake.connects] = deadline_ns;
  }
  note("connect %u", t->ordinal);
  for (size_t i = 0; i < t->n_overrides; i++)
    note(" %s=%s", t->override_name[i], t->override_value[i]);
  note(";");
  fake.connects++;
  fake.elsewhere = t->elsewhere;
  if (!connects(place, deadline_ns)) {
    if (fake.silent || (fake.frozen >> place & 1) != 0)
      sleep_through(deadline_ns);
    fill(d, 2002, "HY000", "fake_connect()");
    (void)snprintf(d->where, sizeof d->where, "nowhere");
    return BN_SQL_LOST;
  }
  assert_false(c->open);
  c->open = true;
  c->place = place;
  return BN_SQL_DONE;
}

static void fake_disconnect(void *conn)
{
  struct fake_conn *c = conn;

  c->open = false;
  fake.disconnects++;
  note("disconnect;");
}

static struct bn_sql_caps fake_caps(void)
{
  return fake.caps;
}

static enum bn_sql_class fake_classify(const struct bn_sql_diag *d)
{
  switch (d->code) {
  case 1213:
    return BN_CLASS_DEADLOCK;
  case 1290:
    return BN_CLASS_READ_ONLY;
  case 1461:
    return BN_CLASS_RESOURCE;
  case 2002:
  case 2013:
    return BN_CLASS_CONNECTION;
  default:
    return BN_CLASS_OTHER;
  }
}

/* Numbers from 2000 to 2999 are those of the client library, as MySQL's. */
static int fake_fails_as_text(const struct bn_sql_diag *d)
{
  return d->code / 1000 == 2 ? 1 : -1;
}

static bool fake_missing(const struct bn_sql_diag *d)
{
  return d->code == 1146;
}

static void fake_interrupt(void *conn)
{
  const struct fake_conn *c = conn;

  assert_true(c->open);
  fake.interrupts++;
}

static size_t fake_quote(void *conn, char *out, const char *in, size_t len)
{
  size_t n = 0;

  (void)conn;
  for (size_t i = 0; i < len; i++) {
    if (in[i] == '\'' || in[i] == '\\')
      out[n++] = '\\';
    out[n++] = in[i];
  }
  return n;
}

static enum bn_sql fake_query(void *conn, const char *sql, size_t len, struct bn_sql_result *r,
                              struct bn_sql_diag *d)
{
  const struct fake_conn *c = conn;
  struct fake_answer a;

  assert_true(c->open);
  assert_int_equal(sql[len], 0);
  fake.queries++;
  note("query %.*s;", (int)len, sql);
  a = next_answer();
  if (fake.tell != NULL)
    fake.tell(c->place, sql, &a);
  return give(a, r, d);
}

static bool loses_one_to_prepare(void)
{
  if (fake.refuse_prepare == 0)
    return false;
  if (fake.spare_prepare > 0) {
    fake.spare_prepare--;
    return false;
  }
  fake.refuse_prepare--;
  return true;
}

static enum bn_sql fake_prepare(void *conn, void *stmt, const char *sql, size_t len,
                                struct bn_sql_diag *d)
{
  struct fake_stmt *st = stmt;

  note("prepare %.*s;", (int)len, sql);
  st->conn = conn;
  assert_true(st->conn->open);
  if (fake.full) {
    fill(d, 1461, "42000", "fake_prepare()");
    return BN_SQL_EMULATE;
  }
  if (fake.cannot_prepare || loses_one_to_prepare()) {
    fill(d, fake.cannot_prepare ? 1295 : 2013, "HY000", "fake_prepare()");
    return fake.cannot_prepare ? BN_SQL_EMULATE : BN_SQL_LOST;
  }
  (void)snprintf(st->text, sizeof st->text, "%.*s", (int)len, sql);
  return BN_SQL_DONE;
}

static enum bn_sql fake_bind(void *stmt, const struct bn_sql_bind *b, size_t n,
                             struct bn_sql_diag *d)
{
  const struct fake_stmt *st = stmt;
  size_t marks = 0;

  (void)b;
  for (const char *p = st->text; *p != '\0'; p++)
    marks += *p == '?';
  note("bind %zu;", n);
  if (n == marks)
    return BN_SQL_DONE;
  fill(d, 2031, "HY000", "fake_bind()");
  return fake.miscount ? BN_SQL_MISCOUNT : BN_SQL_ERROR;
}

static enum bn_sql fake_prepare_all(void *conn, const struct bn_sql_unprepared *list, size_t n,
                                    size_t *done, struct bn_sql_diag *d)
{
  note("all %zu", n);
  *done = 0;
  if (fake.lost_together != 0 && --fake.lost_together == 0) {
    note(";");
    fill(d, 2013, "HY000", "fake_prepare()");
    return BN_SQL_LOST;
  }
  for (size_t i = 0; i < n && i < fake.together; i++) {
    struct fake_stmt *st = list[i].stmt;

    note(" %.*s", (int)list[i].len, list[i].sql);
    st->conn = conn;
    (void)snprintf(st->text, sizeof st->text, "%.*s", (int)list[i].len, list[i].sql);
    *done = i + 1;
  }
  note(";");
  fill(d, 1, "", "of no meaning");
  return BN_SQL_DONE;
}

static enum bn_sql fake_execute(void *stmt, struct bn_sql_result *r, struct bn_sql_diag *d)
{
  const struct fake_stmt *st = stmt;

  assert_true(st->conn->open);
  note("execute %s;", st->text);
  return answer(r, d);
}

static enum bn_sql fake_next(void *conn, void *stmt, struct bn_sql_result *r, struct bn_sql_diag *d)
{
  (void)conn;
  note("next%s;", stmt != NULL ? " of statement" : "");
  return answer(r, d);
}

static bool fake_fetch(void *conn, struct bn_sql_result *r, struct bn_sql_value *row)
{
  (void)conn;
  if (r->nrows == 0) {
    r->cut = fake.cut;
    return false;
  }
  r->nrows--;
  row[0] = (struct bn_sql_value){.ptr = "x", .len = 1};
  row[1] = (struct bn_sql_value){.ptr = NULL};
  for (size_t i = 0; fake.cell != NULL && i < 2; i++)
    row[i] = (struct bn_sql_value){.ptr = (*fake.cell)[i], .len = strlen((*fake.cell)[i])};
  fake.cell += fake.cell != NULL;
  return true;
}

static void fake_free(void *conn, struct bn_sql_result *r)
{
  (void)conn;
  (void)r;
  note("free;");
}

static void fake_close(void *stmt)
{
  (void)stmt;
  note("close;");
}

static enum bn_sql fake_load_begin(void *conn, const char *table, const char *columns,
                                   struct bn_sql_diag *d)
{
  (void)conn;
  (void)d;
  note("load %s(%s);", table, columns);
  return BN_SQL_DONE;
}

static enum bn_sql fake_load_rows(void *conn, const char *rows, size_t len, struct bn_sql_diag *d)
{
  (void)conn;
  (void)d;
  note("%.*s", (int)len, rows);
  return BN_SQL_DONE;
}

static enum bn_sql fake_load_end(void *conn, struct bn_sql_diag *d)
{
  (void)conn;
  note("end;");
  if (fake.load.rc != BN_SQL_DONE) {
    fill(d, fake.load.code, "HY000", "fake_load()");
    d->rolled_back = fake.load.rolled_back;
  }
  return fake.load.rc;
}

static const struct bn_opt fake_options[] = {
    {.name = "fake-user", .type = BN_STRING, .offset = offsetof(struct fake_conf, user)},
    {.name = "fake-ignore-errors", .type = BN_LIST, .offset = offsetof(struct fake_conf, ignored)},
    BN_OPT_END};

static enum bn_sql fake_unread(enum bn_sql_step step, bool prepared, struct bn_sql_diag *d)
{
  note(step == BN_STEP_PREPARE ? "unread prepare;"
       : prepared              ? "unread execute;"
                               : "unread query;");
  fill(d, 2014, "HY000", "fake_query()");
  return BN_SQL_ERROR;
}

static size_t fake_place(void *self, const struct bn_sql_target *t, char *name, size_t size)
{
  const unsigned places = fake.places > 0 ? fake.places : 1;

  (void)self;
  (void)snprintf(name, size, "place %u", t->ordinal % places);
  return places;
}

static const char *const fake_isolation[BN_ISOLATIONS] = {[BN_ISOLATION_SERIALIZABLE] =
                                                              "SET serializable"};

static const struct bn_sql_named fake_silence[] = {{2006, "HY000"}, {2013, "HY000"}, {0, NULL}};

static const struct bn_driver fake_driver = {
    .abi = BN_DRIVER_ABI,
    .size = sizeof(struct bn_driver),
    .name = "fake",
    .options = fake_options,
    .conf_size = sizeof(struct fake_conf),
    .conn_size = sizeof(struct fake_conn),
    .stmt_size = sizeof(struct fake_stmt),
    .thread_init = fake_thread_init,
    .connect = fake_connect,
    .disconnect = fake_disconnect,
    .caps = fake_caps,
    .classify = fake_classify,
    .ignore = {.option = "fake-ignore-errors", .key = BN_KEY_CODE},
    .interrupt = fake_interrupt,
    .quote = fake_quote,
    .query = fake_query,
    .prepare = fake_prepare,
    .bind = fake_bind,
    .execute = fake_execute,
    .next = fake_next,
    .fetch = fake_fetch,
    .free_result = fake_free,
    .close = fake_close,
    .load_begin = fake_load_begin,
    .load_rows = fake_load_rows,
    .load_end = fake_load_end,
    .isolation = fake_isolation,
    .unread = fake_unread,
    .missing = fake_missing,
    .fails_as_text = fake_fails_as_text,
    .place = fake_place,
    .prepare_all = fake_prepare_all,
    .silence = fake_silence};

void plan(struct fake_answer a)
{
  assert_true(fake.n_answers < FAKE_MAX);
  fake.answer[fake.n_answers++] = a;
}

static void set_kind(void *of, enum bn_kind kind)
{
  struct fixture *f = of;

  f->kind = kind;
}

static bool count_label(void *of, unsigned index, const char *label)
{
  struct fixture *f = of;

  return bn_labels_count(f->stats.labels[index], label, 1);
}

static void note_fact(void *of, const char *section, const char *key, const char *text)
{
  (void)of;
  (void)section;
  (void)key;
  (void)text;
}

static void fail_session(struct bn_session *s, const char *kind, const char *text)
{
  struct fixture *f = s->services->of;

  (void)kind;
  (void)text;
  f->failed++;
}

static void fail_run(void *of)
{
  struct fixture *f = of;

  f->failed++;
}

static void pause_session(struct bn_session *s, uint64_t until_ns)
{
  (void)s;
  bn_clock_sleep_until(until_ns);
}

/* Nobody interrupts. */
static void set_interrupt(struct bn_session *s, void (*fn)(void *arg), void *arg)
{
  (void)s;
  (void)fn;
  (void)arg;
}

static void make_session(struct fixture *f)
{
  assert_int_equal(bn_statset_init(&f->stats, 1, 1, bn_sqlsys_metrics(f->sys), 0), 0);
  bn_clock_init(&f->clock, BN_CLOCK_VDSO);
  atomic_init(&f->limit.until_ns, UINT64_MAX);
  f->conf.workers = f->conf.plan.threads;
  f->services = (struct bn_services){.of = f,
                                     .conf = &f->conf,
                                     .metrics = bn_sqlsys_metrics(f->sys),
                                     .set_kind = set_kind,
                                     .fact = note_fact,
                                     .count_label = count_label,
                                     .fail = fail_run,
                                     .fail_session = fail_session,
                                     .pause = pause_session,
                                     .set_interrupt = set_interrupt};
  f->s = &f->session;
  f->s->stat = f->stats.stat[0];
  f->s->limit = &f->limit;
  f->s->services = &f->services;
  bn_clock_reader_init(&f->s->clock, &f->clock);
}

void fixture_open(struct fixture *f, enum bn_version version)
{
  memset(f, 0, sizeof *f);
  fixture_open_with(f, version);
}

void fixture_open_with(struct fixture *f, enum bn_version version)
{
  static char name[] = "fake";
  static const struct bn_policy *const policies[] = {
      [BN_V05] = &bn_policy_05, [BN_V10] = &bn_policy_10, [BN_V11] = &bn_policy_bench};
  static struct fake_conf conf;

  memset(&fake, 0, sizeof fake);
  fake.caps = (struct bn_sql_caps){.syntax = BN_SYNTAX_MYSQL};
  f->conf.policy = policies[version];
  f->conf.plan.threads = 1;
  f->sql_conf.driver = name;
  conf.ignored = (struct bn_list){.item = &f->ignored, .n = f->ignored != NULL};
  f->row = (struct bn_sql_driver_entry){.name = "fake",
                                        .conf_size = sizeof conf,
                                        .conf = &conf,
                                        .ops = f->ops != NULL ? f->ops : &fake_driver};
  f->sys = bn_sqlsys_new(&f->sql_conf, f->conf.policy, &f->row, 1);
  assert_non_null(f->sys);
  make_session(f);
  f->drv = bn_sql_driver(f->sys, f->s, NULL);
}

struct bn_sql_conn *fixture_ignoring(struct fixture *f, char *ignored)
{
  memset(f, 0, sizeof *f);
  f->ignored = ignored;
  fixture_open_with(f, BN_V11);
  return bn_sql_connect(f->drv, f->s, NULL, NULL, 0);
}

void fixture_close(struct fixture *f)
{
  bn_sql_session_end(f->sys, f->s);
  bn_sqlsys_free(f->sys);
  bn_statset_done(&f->stats);
}

uint64_t counted(const struct fixture *f, unsigned counter)
{
  return bn_stat_get(&f->s->stat->counter[counter]);
}

static FILE *captured;
static int saved = -1;

void capture_begin(void)
{
  (void)fflush(stdout);
  captured = tmpfile();
  saved = dup(STDOUT_FILENO);
  assert_true(captured != NULL && saved >= 0);
  assert_true(dup2(fileno(captured), STDOUT_FILENO) >= 0);
}

const char *capture_end(void)
{
  static char text[16384];
  static unsigned number;
  char end[40], *at;
  size_t n;

  /* A message that was never there makes the log say what it kept back as repeated. */
  (void)snprintf(end, sizeof end, "end of capture %u\n", number++);
  bn_log(BN_NOTICE, "%s", end);
  (void)fflush(stdout);
  assert_true(dup2(saved, STDOUT_FILENO) >= 0);
  (void)close(saved);
  rewind(captured);
  n = fread(text, 1, sizeof text - 1, captured);
  text[n] = '\0';
  at = strstr(text, end);
  assert_non_null(at);
  *at = '\0';
  (void)fclose(captured);
  return text;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Drives one driver module hook by hook: commands from standard input, one JSON object per command
   to standard output.  Usage: driver_shell MODULE.so [--option=value …]

   With SHELL_WAITS=1 in the environment connections wait by a waiter, as with --workers. */
#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/driver.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "dialect/dialect.h"
#include "option/opt.h"
#include "sql/emulate.h"
#include "sql/errors.h"
#include "waiter.h"

enum { CONNS = 16, STMTS = 64, PARAMS = 12, FIELDS = 64 };

struct param {
  int64_t number;
  double real;
  char *text;
  size_t len;
  bool null;
};

struct statement {
  void *handle;
  char *text; /* a driver may read it until the statement is closed */
  struct param param[PARAMS];
  struct bn_sql_bind bind[PARAMS];
};

struct shell {
  const struct bn_driver *ops;
  void *self;
  struct bn_sql_errors ignored;
  void *conn[CONNS];
  unsigned at; /* the connection in use */
  unsigned ordinal;
  struct statement stmt[STMTS];
  struct bn_sql_result result;
  struct bn_sql_value row[FIELDS];
  pthread_t waker;
  bool waking;
  unsigned wake_ms;
  void *wake_conn;
  struct waiter waiter;
  bool waits;
};

static void put_text(const char *s, size_t len)
{
  (void)putchar('"');
  for (size_t i = 0; i < len; i++) {
    const unsigned char c = (unsigned char)s[i];

    if (c == '"' || c == '\\')
      printf("\\%c", c);
    else if (c < 0x20 || c >= 0x7f)
      printf("\\u%04x", c);
    else
      (void)putchar(c);
  }
  (void)putchar('"');
}

static void put_field(const char *name, const char *value)
{
  printf(", \"%s\": ", name);
  put_text(value, strlen(value));
}

static void answer(struct shell *s, enum bn_sql rc, const struct bn_sql_diag *d)
{
  static const char *const names[] = {"DONE", "ROWS", "ERROR", "LOST", "EMULATE", "MISCOUNT"};
  const struct bn_sql_result *r = &s->result;

  printf("{\"rc\": \"%s\"", names[rc]);
  if (rc <= BN_SQL_ROWS) {
    printf(", \"affected\": %" PRIu64 ", \"nrows\": %" PRIu64 ", \"nfields\": %u, \"more\": %s}\n",
           r->affected, r->nrows, r->nfields, r->more ? "true" : "false");
    return;
  }
  const enum bn_sql_class class = s->ops->classify(d);

  printf(", \"code\": %d, \"class\": %d, \"ignorable\": %s, \"rolled_back\": %s", d->code,
         (int)class, bn_sql_errors_have(&s->ignored, d, class) ? "true" : "false",
         d->rolled_back ? "true" : "false");
  put_field("state", d->state);
  put_field("call", d->call != NULL ? d->call : "");
  put_field("text", d->text);
  put_field("where", d->where);
  printf("}\n");
}

static void log_line(int level, const char *text)
{
  (void)fprintf(stderr, "%d %s\n", level, text);
}

static void ignore_level(int level)
{
  (void)level;
}

static void ignore_notice(const char *text)
{
  (void)text;
}

static const struct bn_driver_host plain_host = {.log = log_line,
                                                 .next_param = bn_sql_find_param,
                                                 .policy = &bn_policy_bench,
                                                 .now_ns = bn_clock_mono,
                                                 .verbosity = ignore_level,
                                                 .notice = ignore_notice,
                                                 .alloc = bn_alloc,
                                                 .resize = bn_alloc_resize,
                                                 .text = bn_alloc_text,
                                                 .print = bn_alloc_print};

static void *wake(void *arg)
{
  struct shell *s = arg;
  sigset_t wanted;
  int got;

  (void)sigemptyset(&wanted);
  (void)sigaddset(&wanted, SIGUSR1);
  if (s->wake_ms > 0)
    (void)usleep(s->wake_ms * 1000);
  else
    (void)sigwait(&wanted, &got);
  s->ops->interrupt(s->wake_conn);
  return NULL;
}

static void join_waker(struct shell *s)
{
  waiter_watch(&s->waiter, false);
  if (s->waking)
    (void)pthread_join(s->waker, NULL);
  s->waking = false;
}

static void drop_result(struct shell *s)
{
  if (s->conn[s->at] != NULL && s->result.rows != NULL)
    s->ops->free_result(s->conn[s->at], &s->result);
  memset(&s->result, 0, sizeof s->result);
}

static void close_stmt(struct shell *s, struct statement *st)
{
  if (st->handle != NULL)
    s->ops->close(st->handle);
  free(st->handle);
  free(st->text);
  st->handle = st->text = NULL;
}

static void close_all(struct shell *s)
{
  for (unsigned i = 0; i < STMTS; i++)
    close_stmt(s, &s->stmt[i]);
}

static void drop_conn(struct shell *s)
{
  if (s->conn[s->at] != NULL)
    s->ops->disconnect(s->conn[s->at]);
  free(s->conn[s->at]);
  s->conn[s->at] = NULL;
}

/* With all statements, whatever their connection. */
static void do_disconnect(struct shell *s, char *text)
{
  (void)text;
  drop_result(s);
  join_waker(s);
  close_all(s);
  drop_conn(s);
  printf("{\"rc\": \"DONE\"}\n");
}

/* connect [deadline_ms=N] [name=value …] */
static void do_connect(struct shell *s, char *text)
{
  const char *name[8], *value[8];
  struct bn_sql_target t = {.ordinal = s->ordinal++,
                            .override_name = name,
                            .override_value = value,
                            .waiter = s->waits ? &s->waiter.base : NULL};
  struct bn_sql_diag d = {0};
  uint64_t deadline_ns = UINT64_MAX;
  char *save = NULL;
  enum bn_sql rc;

  for (char *w = strtok_r(text, " ", &save); w != NULL && t.n_overrides < 8;
       w = strtok_r(NULL, " ", &save)) {
    char *eq = strchr(w, '=');

    *eq = '\0';
    if (strcmp(w, "deadline_ms") == 0) {
      deadline_ns = bn_clock_mono() + strtoull(eq + 1, NULL, 10) * 1000000;
      continue;
    }
    name[t.n_overrides] = w;
    value[t.n_overrides++] = eq + 1;
  }
  memset(&s->result, 0, sizeof s->result);
  free(s->conn[s->at]);
  s->conn[s->at] = calloc(1, s->ops->conn_size);
  rc = s->ops->connect(s->self, s->conn[s->at], &t, deadline_ns, &d);
  answer(s, rc, &d);
  if (rc != BN_SQL_DONE)
    drop_conn(s);
}

/* The result, which is the connection's, goes. */
static void do_use(struct shell *s, char *text)
{
  drop_result(s);
  s->at = (unsigned)strtoul(text, NULL, 10) % CONNS;
  printf("{\"rc\": \"DONE\"}\n");
}

static void do_query(struct shell *s, char *text)
{
  struct bn_sql_diag d = {0};
  enum bn_sql rc;

  drop_result(s);
  rc = s->ops->query(s->conn[s->at], text, strlen(text), &s->result, &d);
  join_waker(s);
  answer(s, rc, &d);
}

/* The number of a statement at the beginning of text, which moves behind it. */
static struct statement *slot(struct shell *s, char **text)
{
  const unsigned long n = strtoul(*text, text, 10);

  *text += **text == ' ';
  return &s->stmt[n % STMTS];
}

static void do_prepare(struct shell *s, char *text)
{
  struct statement *st = slot(s, &text);
  struct bn_sql_diag d = {0};
  enum bn_sql rc;

  drop_result(s);
  close_stmt(s, st);
  st->handle = calloc(1, s->ops->stmt_size);
  st->text = strdup(text);
  rc = s->ops->prepare(s->conn[s->at], st->handle, st->text, strlen(st->text), &d);
  answer(s, rc, &d);
}

/* int:5 double:1.5 text:abc blob:abc fill:1000 (that many x) null:text */
static void set_param(struct param *p, struct bn_sql_bind *b, const char *word)
{
  const char *value = strchr(word, ':') + 1;

  free(p->text);
  p->text = NULL;
  p->null = strncmp(word, "null", 4) == 0;
  *b = (struct bn_sql_bind){.type = BN_SQL_TEXT, .is_null = &p->null, .len = &p->len};
  if (strncmp(word, "int", 3) == 0) {
    p->number = strtoll(value, NULL, 10);
    *b = (struct bn_sql_bind){.type = BN_SQL_INT64, .is_null = &p->null, .data = &p->number};
  } else if (strncmp(word, "double", 6) == 0) {
    p->real = strtod(value, NULL);
    *b = (struct bn_sql_bind){.type = BN_SQL_DOUBLE, .is_null = &p->null, .data = &p->real};
  } else if (strncmp(word, "fill", 4) == 0) {
    p->len = strtoull(value, NULL, 10);
    p->text = malloc(p->len + 1);
    memset(p->text, 'x', p->len + 1); /* not terminated: only the length counts */
  } else {
    b->type = strncmp(word, "blob", 4) == 0 ? BN_SQL_BLOB : BN_SQL_TEXT;
    p->text = strdup(value);
    p->len = strlen(value);
  }
  if (b->data == NULL)
    b->data = p->text;
}

static void do_bind(struct shell *s, char *text)
{
  struct statement *st = slot(s, &text);
  struct bn_sql_diag d = {0};
  char *save = NULL;
  size_t n = 0;

  for (char *w = strtok_r(text, " ", &save); w != NULL && n < PARAMS;
       w = strtok_r(NULL, " ", &save))
    set_param(&st->param[n], &st->bind[n], w), n++;
  answer(s, s->ops->bind(st->handle, st->bind, n, &d), &d);
}

/* Other values of the same types, in the same places. */
static void do_set(struct shell *s, char *text)
{
  struct statement *st = slot(s, &text);
  char *save = NULL;
  size_t n = 0;

  for (char *w = strtok_r(text, " ", &save); w != NULL && n < PARAMS;
       w = strtok_r(NULL, " ", &save), n++) {
    st->param[n].null = strncmp(w, "null", 4) == 0;
    st->param[n].number = strtoll(strchr(w, ':') + 1, NULL, 10);
  }
  printf("{\"rc\": \"DONE\"}\n");
}

/* execute STMT [TIMES] */
static void do_execute(struct shell *s, char *text)
{
  struct statement *st = slot(s, &text);
  unsigned long times = strtoul(text, NULL, 10);
  struct bn_sql_diag d = {0};
  enum bn_sql rc;

  do {
    drop_result(s);
    rc = s->ops->execute(st->handle, &s->result, &d);
  } while (times-- > 1 && rc <= BN_SQL_ROWS);
  join_waker(s);
  answer(s, rc, &d);
}

static void do_next(struct shell *s, char *text)
{
  struct statement *st = *text != '\0' ? slot(s, &text) : NULL;
  struct bn_sql_diag d = {0};

  drop_result(s);
  answer(s, s->ops->next(s->conn[s->at], st != NULL ? st->handle : NULL, &s->result, &d), &d);
}

static void do_fetch(struct shell *s, char *text)
{
  const bool lengths = strcmp(text, "lengths") == 0;

  if (!s->ops->fetch(s->conn[s->at], &s->result, s->row)) {
    printf("null\n");
    return;
  }
  for (unsigned i = 0; i < s->result.nfields; i++) {
    printf("%s", i == 0 ? "[" : ", ");
    if (s->row[i].ptr == NULL)
      printf("null");
    else if (lengths)
      printf("%zu", s->row[i].len);
    else
      put_text(s->row[i].ptr, s->row[i].len);
  }
  printf("]\n");
}

static void do_close(struct shell *s, char *text)
{
  struct statement *st = slot(s, &text);

  drop_result(s);
  close_stmt(s, st);
  printf("{\"rc\": \"DONE\"}\n");
}

static void do_info(struct shell *s, char *text)
{
  struct bn_sql_about about = {.server = ""};
  struct bn_sql_info info = bn_sql_info_unknown();
  const int rc = s->ops->info(s->conn[s->at], &info);

  (void)text;
  s->ops->about(s->conn[s->at], &about);
  printf("{\"rc\": %d, \"max_connections\": %" PRId64 ", \"max_prepared\": %" PRId64, rc,
         info.max_connections, info.max_prepared_statements);
  put_field("version", about.server);
  printf("}\n");
}

static void do_quote(struct shell *s, char *text)
{
  char *out = malloc(2 * strlen(text) + 1);

  put_text(out, s->ops->quote(s->conn[s->at], out, text, strlen(text)));
  printf("\n");
  free(out);
}

/* Interrupts the connection in use from another thread, after so many milliseconds, or when SIGUSR1
   comes. */
static void do_interrupt(struct shell *s, char *text)
{
  s->wake_ms = (unsigned)strtoul(text, NULL, 10);
  s->wake_conn = s->conn[s->at];
  s->waking = pthread_create(&s->waker, NULL, wake, s) == 0;
  printf("{\"rc\": \"DONE\"}\n");
}

/* load TABLE COLUMNS ROWS, where ROWS has \n and \t for newlines and tabs */
static void do_load(struct shell *s, char *text)
{
  char *save = NULL;
  const char *table = strtok_r(text, " ", &save), *columns = strtok_r(NULL, " ", &save);
  struct bn_sql_diag d = {0};
  char *out = save;
  enum bn_sql rc;

  drop_result(s);
  for (const char *in = save; *in != '\0'; in++) {
    const bool special = in[0] == '\\' && (in[1] == 'n' || in[1] == 't');

    *out++ = special ? (in[1] == 'n' ? '\n' : '\t') : *in;
    in += special;
  }
  rc = s->ops->load_begin(s->conn[s->at], table, columns, &d);
  if (rc == BN_SQL_DONE)
    rc = s->ops->load_rows(s->conn[s->at], save, (size_t)(out - save), &d);
  if (rc == BN_SQL_DONE)
    rc = s->ops->load_end(s->conn[s->at], &d);
  answer(s, rc, &d);
}

/* Tells how often calls have waited by the waiter, and how often their thread slept elsewhere. */
static void do_waits(struct shell *s, char *text)
{
  (void)text;
  printf("{\"waits\": %u, \"slept\": %lu}\n", s->waiter.waits, s->waiter.slept_there);
}

static const struct {
  const char *name;
  void (*run)(struct shell *s, char *text);
} commands[] = {
    {"connect", do_connect}, {"disconnect", do_disconnect}, {"use", do_use},
    {"query", do_query},     {"prepare", do_prepare},       {"bind", do_bind},
    {"set", do_set},         {"execute", do_execute},       {"next", do_next},
    {"fetch", do_fetch},     {"close", do_close},           {"info", do_info},
    {"quote", do_quote},     {"interrupt", do_interrupt},   {"load", do_load},
    {"waits", do_waits},
};

static void obey(struct shell *s, char *line)
{
  char *text = line + strcspn(line, " \n");

  line[strcspn(line, "\n")] = '\0';
  if (*text == ' ')
    *text++ = '\0';
  for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
    if (strcmp(commands[i].name, line) == 0) {
      waiter_watch(&s->waiter, true);
      commands[i].run(s, text);
      waiter_watch(&s->waiter, false);
      (void)fflush(stdout);
      return;
    }
  }
  (void)fprintf(stderr, "unknown command '%s'\n", line);
  exit(2);
}

static void finish(struct shell *s)
{
  drop_result(s);
  close_all(s);
  for (unsigned i = 0; i < STMTS * PARAMS; i++)
    free(s->stmt[i / PARAMS].param[i % PARAMS].text);
  for (s->at = 0; s->at < CONNS; s->at++)
    drop_conn(s);
  if (s->ops->thread_done != NULL)
    s->ops->thread_done(s->self);
  s->ops->done(s->self);
}

static const struct bn_driver *open_module(const char *path)
{
  void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  const struct bn_driver *ops = module != NULL ? dlsym(module, "bench_driver") : NULL;

  if (ops == NULL)
    (void)fprintf(stderr, "%s\n", dlerror());
  return ops;
}

static int set_options(struct bn_optset *set, int argc, char **argv)
{
  for (int i = 2; i < argc; i++) {
    char *name = argv[i] + 2, *value = strchr(name, '=');

    if (value != NULL)
      *value++ = '\0';
    if (bn_optset_set(set, name, value, value) != 0)
      return -1;
  }
  return 0;
}

int main(int argc, char **argv)
{
  struct shell s = {.ops = argc > 1 ? open_module(argv[1]) : NULL};
  struct bn_optset *set = bn_optset_new(&bn_policy_bench);
  struct bn_driver_host host = plain_host;
  struct bn_err err = {0};
  char *line = NULL;
  size_t size = 0;
  bool started;
  void *conf;
  sigset_t wake_signal;

  /* bench has a handler: OpenSSL writes to the socket of a lost connection. */
  (void)signal(SIGPIPE, SIG_IGN);
  if (s.ops == NULL || set == NULL)
    return 2;
  (void)sigemptyset(&wake_signal);
  (void)sigaddset(&wake_signal, SIGUSR1);
  (void)pthread_sigmask(SIG_BLOCK, &wake_signal, NULL);
  waiter_open(&s.waiter);
  s.waits = getenv("SHELL_WAITS") != NULL;
  conf = calloc(1, s.ops->conf_size);
  started = bn_optset_add(set, "driver", s.ops->options, conf, false, &err) == 0 &&
            set_options(set, argc, argv) == 0 &&
            bn_sql_errors_read_driver(&s.ignored, s.ops, conf, &err) == 0;
  host.names_loss = bn_sql_errors_include_loss(&s.ignored, s.ops);
  started = started && s.ops->init(&s.self, conf, &host, &err) == 0 &&
            (s.ops->thread_init == NULL || s.ops->thread_init(s.self) == 0);
  printf("{\"rc\": \"%s\"", started ? "DONE" : "INIT");
  if (!started)
    put_field("text", err.text);
  printf("}\n");
  (void)fflush(stdout);
  while (started && getline(&line, &size, stdin) > 0)
    obey(&s, line);
  free(line);
  if (started)
    finish(&s);
  waiter_close(&s.waiter);
  bn_sql_errors_free(&s.ignored);
  bn_optset_free(set);
  free(conf);
  return started ? 0 : 1;
}

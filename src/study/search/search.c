/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs the probes of a search one after the other, and reads what they measured. */
#include "study/search/search.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/log.h"
#include "base/spawn.h"
#include "base/units.h"
#include "measure/store.h"
#include "option/opt.h"
#include "report/written.h"
#include "study/child.h"
#include "study/invocation.h"
#include "study/search/goal.h"
#include "study/search/hunt.h"
#include "study/search/searched.h"

enum { OVER_RATE, OVER_THREADS };

/* Exit statuses of a probe (engine/outcome.h) with a result, and of this subcommand. */
enum { PROBE_FAILED = 1, PROBE_VIOLATED = 3, PROBE_UNSERVED = 4, NOT_FOUND = 3 };

enum { MOST_THREADS = 1024, ADDED_MAX = 10, SIGNALLED = 128 };

static const char *const overs[] = {"rate", "threads", NULL};

enum { FORM_TEXT, FORM_JSON };

static const char *const formats[] = {"text", "json", NULL};

#define AT(member) .offset = offsetof(struct bn_search_conf, member)

const struct bn_opt bn_search_options[] = {
    {.name = "goal",
     .type = BN_STRING,
     .form = "=METRIC<LIMIT",
     AT(goal),
     .help = "conditions, as in --assert: p99<20ms,errors<0.1%"},
    {.name = "over",
     .type = BN_CHOICE,
     .def = "rate",
     .choices = overs,
     AT(over),
     .help = "what to vary: rate, threads"},
    {.name = "precision",
     .type = BN_STRING,
     .def = "3%",
     .form = "=PERCENT",
     AT(precision),
     .help = "largest distance between values that keep and break the goal"},
    {.name = "min",
     .type = BN_DOUBLE,
     .def = "0",
     .min = 0,
     .max = INT32_MAX,
     AT(min),
     .help = "least value to try; 0: capacity / 128, or 1 thread"},
    {.name = "max",
     .type = BN_DOUBLE,
     .def = "0",
     .min = 0,
     .max = INT32_MAX,
     AT(max),
     .help = "greatest value to try; 0: no bound, or 1024 threads"},
    {.name = "time",
     .type = BN_SECONDS,
     .def = "10",
     .max = INT32_MAX,
     AT(time_s),
     .help = "seconds that a probe measures at first"},
    {.name = "time-max",
     .type = BN_SECONDS,
     .def = "0",
     .max = INT32_MAX,
     AT(time_max_s),
     .help = "seconds that a probe measures at most; 0: six times --time"},
    {.name = "warmup-time",
     .type = BN_SECONDS,
     .def = "2",
     .max = INT32_MAX,
     AT(warmup_s),
     .help = "seconds at the start of each probe that are not measured"},
    {.name = "cooldown",
     .type = BN_SECONDS,
     .def = "1",
     .max = INT32_MAX,
     AT(cooldown_s),
     .help = "seconds of rest between probes"},
    {.name = "probes",
     .type = BN_INT,
     .def = "12",
     .min = BN_HUNT_PROBES_MIN,
     .max = BN_HUNT_PROBES_MAX,
     AT(probes),
     .help = "largest number of probes"},
    {.name = "out",
     .type = BN_PATH,
     .form = "=DIR",
     AT(out),
     .help = "folder for the results of the probes and table.csv"},
    {.name = "format",
     .type = BN_CHOICE,
     .def = "text",
     .choices = formats,
     AT(format),
     .help = "form: text, json"},
    {.name = "output",
     .type = BN_PATH,
     .letter = 'o',
     .form = "=FILE",
     AT(output),
     .help = "file for the result, instead of standard output"},
    {.name = "program",
     .type = BN_PATH,
     .form = "=FILE",
     AT(program),
     .help = "program that runs the probes, instead of this one"},
    BN_OPT_END,
};

struct study {
  const struct bn_search_conf *conf;
  const char *const *operand;
  const struct bn_store *js;
  struct bn_goal goal;
  struct bn_hunt hunt;
  struct bn_children children;
  struct bn_searched *found; /* owned */
  char *program, *folder;    /* owned */
  bool temporary;            /* the folder */
};

/* --- what is asked for ------------------------------------------------------------------------ */

static int read_precision(const char *text, double *out, struct bn_err *err)
{
  char number[32];
  const size_t len = strcspn(text, "%");

  (void)snprintf(number, sizeof number, "%.*s", (int)len, text);
  if ((text[len] != '\0' && text[len + 1] != '\0') || bn_units_double(number, out) != 0 ||
      *out < 0.1 || *out > 50)
    return bn_err_set(err, EINVAL, "--precision=%s: not a percentage from 0.1 to 50", text);
  *out /= 100;
  return 0;
}

/* What the search sets itself, or would end a probe too early. */
static int check_run(const struct study *s, struct bn_err *err)
{
  bool run = false;

  for (size_t i = 0; s->operand[i] != NULL; i++) {
    const struct bn_opt *o = bn_word_option(s->operand[i]);
    const char *name = o != NULL && o->alias_of != NULL ? o->alias_of : o != NULL ? o->name : NULL;

    if (name != NULL && (strcmp(name, overs[s->conf->over]) == 0 || strcmp(name, "events") == 0))
      return bn_err_set(err, EINVAL, "--%s: the search sets this option; leave it out", o->name);
    run = run || strcmp(s->operand[i], "run") == 0;
  }
  if (bn_words_choose_dialect(s->operand))
    return bn_err_set(
        err, EINVAL,
        "probes cannot use a dialect, because dialects take whole seconds only; leave out "
        "--compat (BENCH_COMPAT)");
  if (!run)
    return bn_err_set(err, EINVAL,
                      "the command 'run' is missing; end the command line with a test, its options "
                      "and 'run'");
  return 0;
}

static int plan(const struct bn_search_conf *c, struct bn_hunt_plan *out, struct bn_err *err)
{
  const bool threads = c->over == OVER_THREADS;

  *out = (struct bn_hunt_plan){.min = c->min,
                               .max = c->max,
                               .whole = threads,
                               .time_s = c->time_s,
                               .most_s = c->time_max_s > 0 ? c->time_max_s : 6 * c->time_s,
                               .probes = (unsigned)c->probes};
  if (threads) {
    out->min = fmax(1, ceil(c->min));
    out->max = c->max > 0 ? floor(c->max) : MOST_THREADS;
  }
  if (c->time_s < 0.02)
    return bn_err_set(err, EINVAL, "--time: a probe measures at least 0.02 s");
  if (out->most_s < out->time_s)
    return bn_err_set(err, EINVAL, "--time-max is less than --time");
  if (out->max > 0 && out->max < out->min)
    return bn_err_set(err, EINVAL, "--max is less than --min");
  return read_precision(c->precision, &out->precision, err);
}

/* Where the results go stands in a list of --report; a program without '/' is looked for later. */
static int check_files(const struct bn_search_conf *c, struct bn_err *err)
{
  if (c->out != NULL && strchr(c->out, ',') != NULL)
    return bn_err_set(err, EINVAL, "--out=%s: the name must not contain a comma", c->out);
  if (c->program != NULL && strchr(c->program, '/') != NULL && access(c->program, X_OK) != 0)
    return bn_err_set(err, errno, "--program=%s: %s", c->program, strerror(errno));
  return bn_written_check(c->output, err);
}

/* --- files ------------------------------------------------------------------------------------ */

static char *file_of(const struct study *s, size_t probe, const char *ending)
{
  char *path = NULL;

  if (asprintf(&path, "%s/probe-%02zu.%s", s->folder, probe, ending) < 0)
    return NULL;
  return path;
}

static int make_folder(struct study *s, struct bn_err *err)
{
  const char *place = getenv("TMPDIR");
  char *table = NULL;
  int rc = 0;

  s->temporary = s->conf->out == NULL;
  if (asprintf(&s->folder, "%s%s", s->temporary ? place != NULL ? place : "/tmp" : s->conf->out,
               s->temporary ? "/bench-search-XXXXXX" : "") < 0 ||
      asprintf(&table, "%s/table.csv", s->folder) < 0) {
    rc = bn_err_set(err, ENOMEM, "out of memory");
  } else if (s->temporary) {
    if (mkdtemp(s->folder) == NULL)
      rc = bn_err_set(err, errno, "cannot make the folder '%s': %s; set TMPDIR to another folder",
                      s->folder, strerror(errno));
  } else if (mkdir(s->folder, 0777) != 0 && errno != EEXIST) {
    rc = bn_err_set(err, errno, "--out=%s: %s", s->folder, strerror(errno));
  } else if (access(table, F_OK) == 0) {
    rc = bn_err_set(err, EEXIST,
                    "--out=%s: the folder has a table.csv already; name another folder", s->folder);
  }
  free(table);
  return rc;
}

static void remove_folder(const struct study *s)
{
  static const char *const endings[] = {"json", "json.partial", "txt", "log"};

  for (size_t i = 1; i <= s->hunt.n + 1; i++)
    for (size_t k = 0; k < sizeof endings / sizeof endings[0]; k++) {
      char *path = file_of(s, i, endings[k]);

      if (path != NULL)
        (void)unlink(path);
      free(path);
    }
  (void)rmdir(s->folder);
}

static int save_table(const struct study *s, struct bn_err *err)
{
  char *path = NULL;
  int rc = 0;

  if (s->temporary)
    return 0;
  if (asprintf(&path, "%s/table.csv", s->folder) < 0)
    return bn_err_set(err, ENOMEM, "out of memory");
  if (bn_file_save(path, s->found->csv.data, s->found->csv.len) != 0)
    rc = bn_err_set(err, errno, "cannot write '%s': %s", path, bn_file_reason(errno));
  free(path);
  return rc;
}

/* --- one probe -------------------------------------------------------------------------------- */

struct command {
  char **argv;            /* owned; ends with NULL */
  char *added[ADDED_MAX]; /* owned */
  size_t n_args, n_added;
  bool failed; /* out of memory */
};

__attribute__((format(printf, 2, 3))) static void add(struct command *c, const char *fmt, ...)
{
  char *text = NULL;
  va_list ap;
  int rc;

  va_start(ap, fmt);
  rc = vasprintf(&text, fmt, ap);
  va_end(ap);
  if (rc < 0) {
    c->failed = true;
    return;
  }
  c->argv[c->n_args++] = c->added[c->n_added++] = text;
}

static void add_number(struct command *c, const char *name, double value)
{
  char digits[BN_UNITS_DIGITS];

  add(c, "--%s=%s", name, bn_units_shortest(digits, value));
}

/* Ends a probe early that has no prospect; a rate below that has seconds without an event. */
static void add_assertions(const struct study *s, struct command *c, double rate)
{
  static const double low_rate = 20;
  struct bn_buf asserts = {.max = 0};
  char digits[BN_UNITS_DIGITS];

  bn_goal_abort(&s->goal, &asserts);
  if (rate >= low_rate)
    (void)bn_buf_printf(&asserts, "%seps>=%s", asserts.len > 0 ? "," : "",
                        bn_units_shortest(digits, rate / 2));
  if (asserts.len > 0) {
    add(c, "--assert=%s", asserts.data);
    add(c, "--abort-on-assert=3");
  }
  c->failed = c->failed || asserts.failed;
  bn_buf_done(&asserts);
}

static void command_done(struct command *c)
{
  for (size_t i = 0; i < c->n_added; i++)
    free(c->added[i]);
  free(c->argv);
}

static int make_command(const struct study *s, const struct bn_hunt_probe *p, const char *document,
                        struct command *c, struct bn_err *err)
{
  const bool paced = s->conf->over == OVER_RATE && p->purpose != BN_PROBE_CAPACITY;
  size_t n = 0;

  while (s->operand[n] != NULL)
    n++;
  *c = (struct command){.argv = calloc(n + ADDED_MAX + 2, sizeof *c->argv)};
  if (c->argv == NULL)
    return bn_err_set(err, ENOMEM, "out of memory");
  c->argv[c->n_args++] = s->program;
  for (size_t i = 0; i < n; i++)
    c->argv[c->n_args++] = (char *)(uintptr_t)s->operand[i];
  add_number(c, "time", p->time_s);
  add_number(c, "warmup-time", s->conf->warmup_s);
  add_number(c, "report-interval", p->time_s / BN_BATCHES_MAX);
  add(c, "--report-bins=all");
  add(c, "--report=text,json:%s", document);
  if (paced)
    add_number(c, "rate", p->value);
  else if (s->conf->over == OVER_THREADS)
    add_number(c, "threads", p->value);
  if (p->purpose != BN_PROBE_CAPACITY)
    add_assertions(s, c, paced ? p->value : 0);
  return c->failed ? bn_err_set(err, ENOMEM, "out of memory") : 0;
}

/* The first fatal error on standard error of the program, or else the last line there. */
static void quote(const char *path, char *out, size_t size)
{
  static const char fatal[] = "FATAL: ";
  FILE *f = fopen(path, "re");
  char line[512];
  bool found = false;

  out[0] = '\0';
  while (!found && f != NULL && fgets(line, sizeof line, f) != NULL) {
    found = strncmp(line, fatal, sizeof fatal - 1) == 0;
    line[strcspn(line, "\n")] = '\0';
    if (line[0] != '\0')
      (void)bn_escape(out, size, found ? line + sizeof fatal - 1 : line, "");
  }
  if (f != NULL)
    (void)fclose(f);
}

static int refuse_end(const struct study *s, const struct bn_child_end *end, const char *log,
                      struct bn_err *err)
{
  const size_t probe = s->hunt.n + 1;
  char line[256];

  if (s->children.signo != 0)
    return bn_err_set(err, EINTR, "interrupted by signal %d in probe %zu", s->children.signo,
                      probe);
  quote(log, line, sizeof line);
  if (end->status < 0)
    return bn_err_set(err, EIO, "probe %zu was ended by signal %d%s%s", probe, end->signo,
                      line[0] != '\0' ? ": " : "", line);
  return bn_err_set(err, EIO, "probe %zu failed with exit status %d%s%s", probe, end->status,
                    line[0] != '\0' ? ": " : "", line);
}

/* -1: there is no result to be used. */
static int start(struct study *s, const struct bn_hunt_probe *p, const char *document,
                 struct bn_child_end *end, struct bn_err *err)
{
  char *text = file_of(s, s->hunt.n + 1, "txt"), *log = file_of(s, s->hunt.n + 1, "log");
  struct command c = {.argv = NULL};
  int rc = -1;

  if (text == NULL || log == NULL) {
    (void)bn_err_set(err, ENOMEM, "out of memory");
  } else if (make_command(s, p, document, &c, err) == 0) {
    /* A program that writes none is not to be given the result of another search. */
    (void)unlink(document);
    rc = bn_child_run(&s->children, &(struct bn_child){.argv = c.argv, .out = text, .errors = log},
                      end, err);
    if (rc == 0 && (s->children.signo != 0 ||
                    (end->status != EXIT_SUCCESS && end->status != PROBE_FAILED &&
                     end->status != PROBE_VIOLATED && end->status != PROBE_UNSERVED)))
      rc = refuse_end(s, end, log, err);
    /* With more events waiting than --rate-max-backlog allows there is a result. */
    if (rc == 0 && end->status == PROBE_FAILED && access(document, F_OK) != 0)
      rc = refuse_end(s, end, log, err);
  }
  command_done(&c);
  free(text);
  free(log);
  return rc;
}

/* --- what a probe found ----------------------------------------------------------------------- */

static bool is_overload(const struct bn_result *r, int status)
{
  return status == PROBE_UNSERVED || r->end.overload || r->end.reason == BN_END_ASSERTION;
}

static int tell_capacity(struct study *s, const struct bn_result *r, struct bn_searched_row *row,
                         struct bn_hunt_found *f, struct bn_err *err)
{
  const double rate =
      r->n_groups > 0 && r->group[0].has_total ? r->group[0].total.view.events_per_s : 0;

  if (!(rate > 0))
    return bn_err_set(err, EINVAL,
                      "no event ended in the probe without --rate; give it more time "
                      "(--time)");
  row->closed = true;
  row->probe.value = rate;
  *f = (struct bn_hunt_found){.value = rate, .score = bn_goal_worst_score(&s->goal)};
  return 0;
}

static int understand(struct study *s, const struct bn_hunt_probe *p, const struct bn_result *r,
                      int status, struct bn_err *err)
{
  struct bn_searched_row row = {.probe = *p, .status = status};
  struct bn_hunt_found f;
  struct bn_goal_found found;

  if (bn_goal_judge(&s->goal, r, &found, err) != 0)
    return -1;
  f = (struct bn_hunt_found){p->value, found.decision, found.holds, found.score, found.longer};
  if (p->purpose == BN_PROBE_CAPACITY) {
    if (tell_capacity(s, r, &row, &f, err) != 0)
      return -1;
  } else if (is_overload(r, status)) {
    row.overload = true;
    f.decision = BN_VIOLATED;
    f.holds = false;
  }
  row.holds = f.holds;
  row.decided = f.decision != BN_UNDECIDED;
  if (bn_searched_add(s->found, &row, r, &found) != 0)
    return bn_err_set(err, ENOMEM, "out of memory");
  bn_hunt_tell(&s->hunt, &f);
  return save_table(s, err);
}

static void tell_progress(const struct study *s)
{
  struct bn_buf line = {.max = 0};

  bn_searched_line(s->found, &line);
  if (line.data != NULL)
    bn_log_stderr("%s", line.data);
  bn_buf_done(&line);
}

/* Six digits say enough. */
static double rounded(double value)
{
  const double unit = value > 0 ? pow(10, floor(log10(value)) - 5) : 1;

  return unit < 1 ? round(value / unit) / round(1 / unit) : round(value / unit) * unit;
}

static int probe(struct study *s, struct bn_err *err)
{
  struct bn_hunt_probe p = s->hunt.next;
  char *document = file_of(s, s->hunt.n + 1, "json"), *log = file_of(s, s->hunt.n + 1, "log");
  struct bn_child_end end;
  struct bn_stored stored;
  int rc = -1;

  p.value = rounded(p.value);
  if (document == NULL || log == NULL)
    (void)bn_err_set(err, ENOMEM, "out of memory");
  else if (start(s, &p, document, &end, err) == 0 &&
           bn_store_load(s->js, document, false, &stored, err) == 0) {
    if (end.status == PROBE_FAILED && !is_overload(&stored.result, end.status))
      rc = refuse_end(s, &end, log, err);
    else
      rc = understand(s, &p, &stored.result, end.status, err);
    bn_stored_done(s->js, &stored);
  }
  free(log);
  free(document);
  if (rc == 0)
    tell_progress(s);
  return rc;
}

/* --- the search ------------------------------------------------------------------------------- */

static int search(struct study *s, struct bn_err *err)
{
  while (s->hunt.state == BN_HUNT_RUNS) {
    if (s->hunt.n > 0)
      bn_children_pause(&s->children, (uint64_t)(s->conf->cooldown_s * 1e9));
    if (s->children.signo != 0)
      return bn_err_set(err, EINTR, "interrupted by signal %d after probe %zu", s->children.signo,
                        s->hunt.n);
    if (probe(s, err) != 0)
      return -1;
  }
  return 0;
}

static int begin(struct study *s, struct bn_err *err)
{
  struct bn_hunt_plan p;

  if (plan(s->conf, &p, err) != 0 || check_files(s->conf, err) != 0 ||
      bn_goal_parse(&s->goal, s->conf->goal, err) != 0 || check_run(s, err) != 0)
    return -1;
  bn_hunt_begin(&s->hunt, &p);
  s->js = bn_store_json(err);
  if (s->js == NULL)
    return -1;
  s->found = bn_searched_new(&s->goal, s->conf->over == OVER_THREADS);
  s->program = s->conf->program != NULL ? strdup(s->conf->program) : bn_spawn_self(err);
  if (s->found == NULL || s->program == NULL)
    return s->conf->program == NULL && s->found != NULL ? -1
                                                        : bn_err_set(err, ENOMEM, "out of memory");
  return make_folder(s, err);
}

static int write_result(const struct study *s, struct bn_err *err)
{
  const char *path = s->conf->output;
  struct bn_buf text = {.max = 0};
  int rc;

  if (s->conf->format == FORM_JSON)
    return bn_written_document(s->js, bn_searched_document(s->js, s->found, &s->hunt), path, err);
  bn_searched_print(s->found, &s->hunt, &text);
  rc = bn_written_text(&text, path, err);
  bn_buf_done(&text);
  return rc;
}

/* What a reader needs besides the table. */
static int conclude(const struct study *s, struct bn_err *err)
{
  const char *what = overs[s->conf->over];

  switch (s->hunt.state) {
  case BN_HUNT_FOUND:
    return EXIT_SUCCESS;
  case BN_HUNT_NONE:
    bn_log_stderr("bench search: the lowest %s that was tried breaks the goal %s", what,
                  s->conf->goal);
    return NOT_FOUND;
  default:
    (void)bn_err_set(err, ERANGE,
                     "all probes are used, and no %s is confirmed; allow more probes (--probes) or "
                     "longer probes (--time, --time-max)",
                     what);
    return EXIT_FAILURE;
  }
}

int bn_search_run(const void *conf, const char *const *operand, struct bn_err *err)
{
  struct study s = {.conf = conf, .operand = operand};
  char shown[sizeof err->text];
  int status = EXIT_FAILURE;

  if (begin(&s, err) == 0) {
    bn_children_begin(&s.children);
    if (search(&s, err) == 0)
      status = conclude(&s, err);
    else if (s.children.signo != 0)
      status = SIGNALLED + s.children.signo;
    if (s.hunt.n > 0 && write_result(&s, err) != 0)
      status = EXIT_FAILURE;
    if (s.temporary)
      remove_folder(&s);
  }
  /* It may quote a file. */
  (void)bn_escape(shown, sizeof shown, err->text, "");
  memcpy(err->text, shown, sizeof shown);
  bn_searched_free(s.found);
  bn_goal_done(&s.goal);
  free(s.program);
  free(s.folder);
  return status;
}

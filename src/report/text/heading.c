/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines of the heading: how to repeat the run, its options, and its database. */
#include "report/text/parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/escape.h"
#include "report/command.h"

/* --- options ---------------------------------------------------------------------------------- */

static double heading_to_seconds(uint64_t ns)
{
  return (double)ns / (double)BN_NSEC_PER_SEC;
}

/* Returns the value of an option, or "" if it has none. */
static const char *heading_find_option(const struct bn_facts *f, const char *option)
{
  for (size_t i = 0; i < f->n_options; i++)
    if (strcmp(f->option[i].name, option) == 0 && f->option[i].value != NULL)
      return f->option[i].value;
  return "";
}

/* Returns the value of an option that is a whole number, or 0 if it is not known. */
static unsigned long heading_parse_option(const struct bn_facts *f, const char *option)
{
  return strtoul(heading_find_option(f, option), NULL, 10);
}

/* Returns how many threads a host has, the largest share if they differ, or 0 if that is not known:
   with --threads-total, the facts do not have the hosts of --hosts-file, and --hosts may give each
   host a part of its own ("a,b:5"). */
static unsigned long heading_find_threads_of_host(const struct bn_facts *f)
{
  const unsigned long total = heading_parse_option(f, "threads-total");
  const char *const hosts = heading_find_option(f, "hosts");
  unsigned long n_hosts = 1;

  if (total == 0)
    return heading_parse_option(f, "threads");
  if (heading_find_option(f, "hosts-file")[0] != '\0' || strchr(hosts, ':') != NULL)
    return 0;
  for (const char *c = hosts; *c != '\0'; c++)
    n_hosts += *c == ',';
  return (total + n_hosts - 1) / n_hosts;
}

/* Prints the number of workers of a host if threads share them, because there are fewer workers
   than threads.  Prints nothing for a run with groups, because each group has workers of its
   own. */
static void heading_print_workers(FILE *out, const struct bn_facts *f)
{
  const unsigned long workers = heading_parse_option(f, "workers");
  const bool are_shared = workers > 0 && workers < heading_find_threads_of_host(f);

  if (are_shared && !bn_facts_have_groups(f))
    (void)fprintf(out, "Number of workers: %lu\n", workers);
}

static void heading_print_checkpoints(FILE *out, const struct bn_plan *p)
{
  (void)fputs("Report checkpoint(s) at ", out);
  for (size_t i = 0; i < p->n_checkpoints; i++)
    (void)fprintf(out, "%s%.15g", i > 0 ? ", " : "", heading_to_seconds(p->checkpoint_ns[i]));
  (void)fputs(" seconds\n", out);
}

/* Prints the seed of the random numbers if --rand-seed has set it, or else, in dialects a sentence
   without it, natively the seed that was chosen.  The line of --rand-init, which 0.5 has, comes
   before that. */
static void heading_print_seed(FILE *out, const struct bn_plan *p, const struct bn_dialect *d)
{
  const bool is_of_several_runs = p->seed == 0; /* in a merged result */

  if (p->seed_from_timer && d->from_timer != NULL)
    (void)fputs(d->from_timer, out);
  if (p->seed_given)
    (void)fprintf(out, "Initializing random number generator from seed (%" PRId64 ").\n\n",
                  p->seed_typed);
  else if (!p->native)
    (void)fputs(d->seed_absent, out);
  else if (is_of_several_runs)
    (void)fputs("Random numbers from several seeds\n\n", out);
  else
    (void)fprintf(out, "Random numbers from a new seed (--rand-seed=%" PRIu64 " repeats them)\n\n",
                  p->seed);
}

void bn_text_print_plan(FILE *out, const struct bn_facts *f, const struct bn_dialect *d)
{
  const struct bn_plan *p = &f->plan;

  (void)fprintf(out, "Running the test with following options:\nNumber of threads: %u\n",
                p->threads);
  if (p->native)
    heading_print_workers(out, f);
  if (p->warmup_ns > 0)
    (void)fprintf(out, "Warmup time: %.15gs\n", heading_to_seconds(p->warmup_ns));
  if (p->rate > 0)
    (void)fprintf(out, "Target transaction rate: %.15g/sec\n", p->rate);
  if (p->interval_ns > 0)
    (void)fprintf(out, "Report intermediate results every %.15g second(s)\n",
                  heading_to_seconds(p->interval_ns));
  if (p->n_checkpoints > 0)
    heading_print_checkpoints(out, p);
  if (p->debug)
    (void)fputs("Debug mode enabled.\n\n", out);
  if (p->validate)
    (void)fputs(d->validation, out);
  heading_print_seed(out, p, d);
  if (p->forced)
    (void)fprintf(out, "Forcing shutdown in %.15g seconds\n",
                  heading_to_seconds(p->time_ns + p->forced_ns));
  (void)fputs("\n", out);
}

void bn_text_print_repetition(FILE *out, const struct bn_facts *f)
{
  const char *started = bn_facts_find_text(f, "process", "started");
  struct bn_buf lines = {.max = 0};

  if (started == NULL)
    return;
  (void)bn_buf_printf(&lines, "Started: %s\nRepeat:  ", started);
  if (bn_command_append(f, &lines)) {
    char *shown = bn_escape_new(lines.data, "\n"); /* a document may have any text */

    (void)fprintf(out, "%s\n\n", shown);
    free(shown);
  }
  bn_buf_done(&lines);
}

/* --- database --------------------------------------------------------------------------------- */

/* Prints a text between two others.  It is escaped, and cut if it is long: a server chooses its
   name, and a document may have any text. */
static void heading_print_foreign(FILE *out, const char *before, const char *text,
                                  const char *after)
{
  char shown[256];

  (void)bn_escape(shown, sizeof shown, text, "");
  (void)fprintf(out, "%s%s%s", before, shown, after);
}

/* Returns the version of the server, or else of the client, or NULL if neither is known. */
static const char *heading_find_version(const struct bn_facts *f)
{
  const char *version = bn_facts_find_text(f, "database", "server_version");

  return version != NULL ? version : bn_facts_find_text(f, "database", "client_version");
}

/* Prints the line of the connection; nothing if none of its facts is known, as with some drivers
   and documents. */
static void heading_print_connection(FILE *out, const struct bn_facts *f)
{
  static const struct {
    const char *before, *key, *after;
  } facts[] = {{"", "transport", ""},
               {"encryption ", "encryption", ""},
               {"", "protocol", " protocol"},
               {"compression ", "compression", ""}};
  size_t n_printed = 0;

  for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
    const char *value = bn_facts_find_text(f, "database", facts[i].key);

    if (value == NULL)
      continue;
    (void)fputs(n_printed == 0 ? "Connection: " : ", ", out);
    heading_print_foreign(out, facts[i].before, value, facts[i].after);
    n_printed++;
  }
  if (n_printed > 0)
    (void)fputs("\n", out);
}

/* The report of a saved result has the same heading as the run, so facts that became known after
   the load began are left out.  The fact at_start says what was known when the load began, "driver"
   or "nothing"; it is absent if the version was known, too. */
void bn_text_print_database(FILE *out, const struct bn_facts *f)
{
  const char *driver = bn_facts_find_text(f, "database", "driver");
  const char *at_start = bn_facts_find_text(f, "database", "at_start");
  const bool version_was_known = at_start == NULL;
  const bool driver_was_known = version_was_known || strcmp(at_start, "nothing") != 0;
  const char *version = version_was_known ? heading_find_version(f) : NULL;
  const char *tables = bn_facts_find_text(f, "workload", "tables");
  const char *rows = bn_facts_find_text(f, "workload", "rows");

  if (driver == NULL || !driver_was_known)
    return;
  if (version_was_known)
    heading_print_connection(out, f);
  heading_print_foreign(out, "Database: ", driver, "");
  if (version != NULL)
    heading_print_foreign(out, ", ", version, "");
  if (tables != NULL)
    heading_print_foreign(out, ", ", tables, strcmp(tables, "1") == 0 ? " table" : " tables");
  if (tables != NULL && rows != NULL)
    heading_print_foreign(out, " x ", rows, " rows");
  (void)fputs("\n\n", out);
}

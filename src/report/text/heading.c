/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines of the heading about workers, the connection and the database. */
#include "report/text/heading.h"

#include <stdlib.h>
#include <string.h>

#include "base/escape.h"

/* Escapes the text: a server chooses its name, and a document may have any text. */
static void heading_print_foreign(FILE *out, const char *before, const char *text,
                                  const char *after)
{
  char shown[256];

  (void)bn_escape(shown, sizeof shown, text, "");
  (void)fprintf(out, "%s%s%s", before, shown, after);
}

/* Returns the version of the server or else of the client, or NULL if it was not known at the
   start.  Facts of a document may be younger than its heading. */
static const char *heading_version_at_start(const struct bn_facts *f)
{
  const char *version = bn_facts_find_text(f, "database", "server_version");

  if (bn_facts_find_text(f, "database", "at_start") != NULL)
    return NULL;
  return version != NULL ? version : bn_facts_find_text(f, "database", "client_version");
}

/* Prints no line if none of these facts is known, as with some drivers and documents. */
static void heading_print_connection(FILE *out, const struct bn_facts *f)
{
  static const char *const facts[][3] = {{"", "transport", ""},
                                         {"encryption ", "encryption", ""},
                                         {"", "protocol", " protocol"},
                                         {"compression ", "compression", ""}};
  size_t n = 0;

  for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
    const char *value = bn_facts_find_text(f, "database", facts[i][1]);

    if (value == NULL)
      continue;
    (void)fputs(n++ == 0 ? "Connection: " : ", ", out);
    heading_print_foreign(out, facts[i][0], value, facts[i][2]);
  }
  if (n > 0)
    (void)fputs("\n", out);
}

/* Returns the value of an option that counts, or 0 if it is not known. */
static unsigned long heading_count(const struct bn_facts *f, const char *option)
{
  for (size_t i = 0; i < f->n_options; i++)
    if (strcmp(f->option[i].name, option) == 0 && f->option[i].value != NULL)
      return strtoul(f->option[i].value, NULL, 10);
  return 0;
}

void bn_text_workers(FILE *out, const struct bn_facts *f)
{
  const unsigned long workers = heading_count(f, "workers");

  if (workers > 0 && workers < heading_count(f, "threads"))
    (void)fprintf(out, "Number of workers: %lu\n", workers);
}

void bn_text_heading(FILE *out, const struct bn_facts *f)
{
  const char *driver = bn_facts_find_text(f, "database", "driver");
  const char *at_start = bn_facts_find_text(f, "database", "at_start");
  const char *version = heading_version_at_start(f);
  const char *tables = bn_facts_find_text(f, "workload", "tables");
  const char *rows = bn_facts_find_text(f, "workload", "rows");

  if (driver == NULL || (at_start != NULL && strcmp(at_start, "nothing") == 0))
    return;
  if (at_start == NULL)
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

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes command lines of sides and runs them. */
#include "study/ab/arm.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/spawn.h"
#include "option/words.h"

int bn_arm_scratch_make(struct bn_arm_scratch *s, struct bn_err *err)
{
  const char *base = getenv("TMPDIR");
  int len;

  if (base == NULL || base[0] == '\0')
    base = "/tmp";
  len = snprintf(s->folder, sizeof s->folder, "%s/bench-XXXXXX", base);
  if (len >= (int)sizeof s->folder || mkdtemp(s->folder) == NULL) {
    s->folder[0] = '\0';
    return bn_err_set(err, errno, "cannot make a folder in '%s': %s; set TMPDIR to another folder",
                      base, strerror(len >= (int)sizeof s->folder ? ENAMETOOLONG : errno));
  }
  (void)snprintf(s->messages, sizeof s->messages, "%s/messages", s->folder);
  (void)snprintf(s->script, sizeof s->script, "%s/statement.lua", s->folder);
  return 0;
}

void bn_arm_scratch_remove(const struct bn_arm_scratch *s)
{
  if (s->folder[0] == '\0')
    return;
  (void)unlink(s->messages);
  (void)unlink(s->script);
  (void)rmdir(s->folder);
}

/* --- command lines --- */

static int add_options(struct bn_arm *arm, const struct bn_list *options, bool in_front)
{
  for (size_t i = 0; i < options->n; i++)
    if ((options->item[i][0] != '-') == in_front &&
        bn_words_add(&arm->words, options->item[i]) != 0)
      return -1;
  return 0;
}

static int add_words(struct bn_arm *arm, const char *program, const char *const *operand,
                     const struct bn_list *options, struct bn_err *err)
{
  int rc = bn_words_add(&arm->words, program);

  if (rc == 0)
    rc = add_options(arm, options, true);
  for (; rc == 0 && *operand != NULL; operand++)
    rc = bn_words_add(&arm->words, *operand);
  if (rc == 0)
    rc = add_options(arm, options, false);
  return rc == 0 ? 0 : bn_err_set(err, ENOMEM, "out of memory");
}

int bn_arm_init(struct bn_arm *arm, const struct bn_arm_wish *wish, const char *const *operand,
                struct bn_err *err)
{
  char *self = wish->program == NULL ? bn_spawn_self(err) : NULL;
  const char *program = wish->program != NULL ? wish->program : self;
  struct bn_list options = {.n = 0};
  struct bn_err why;
  int rc = -1;

  *arm = (struct bn_arm){.statement = wish->statement};
  if (wish->options != NULL && bn_words_split(wish->options, &options, &why) != 0)
    (void)bn_err_set(err, why.code, "--%s: %s", wish->name, why.text);
  else if (program != NULL)
    rc = add_words(arm, program, operand, &options, err);
  bn_words_done(&options);
  free(self);
  return rc;
}

void bn_arm_done(struct bn_arm *arm)
{
  bn_words_done(&arm->words);
}

bool bn_arm_equals(const struct bn_arm *a, const struct bn_arm *b)
{
  bool equal = a->words.n == b->words.n && strcmp(a->statement != NULL ? a->statement : "",
                                                  b->statement != NULL ? b->statement : "") == 0;

  for (size_t i = 0; equal && i < a->words.n; i++)
    equal = strcmp(a->words.item[i], b->words.item[i]) == 0;
  return equal;
}

/* --- runs --- */

/* The sentence of a program that failed is its first fatal error, or else its last line. */
static void find_sentence(FILE *file, char *sentence, size_t size)
{
  char line[512];

  while (fgets(line, sizeof line, file) != NULL) {
    static const char fatal[] = "FATAL: ";
    const bool is_fatal = strncmp(line, fatal, sizeof fatal - 1) == 0;

    line[strcspn(line, "\n")] = '\0';
    if (line[0] != '\0')
      (void)bn_escape(sentence, size, is_fatal ? line + sizeof fatal - 1 : line, "");
    if (is_fatal)
      return;
  }
}

static int tell_failure(const char *what, const char *messages, const struct bn_child_end *end,
                        struct bn_err *err)
{
  char sentence[sizeof err->text - 100] = "it printed no message";
  FILE *file = fopen(messages, "re");

  if (file != NULL) {
    find_sentence(file, sentence, sizeof sentence);
    (void)fclose(file);
  }
  if (end->signo != 0)
    return bn_err_set(err, 0, "%s was ended by signal %d: %s", what, end->signo, sentence);
  return bn_err_set(err, 0, "%s failed with status %d: %s", what, end->status, sentence);
}

/* Takes the words over.  made: 0, or -1 because there was no memory for all of them. */
static int run_words(struct bn_list *words, int made, const char *what, struct bn_children *c,
                     const struct bn_arm_scratch *s, struct bn_err *err)
{
  char **argv = made == 0 ? realloc(words->item, (words->n + 1) * sizeof *argv) : NULL;
  struct bn_child_end end;
  int rc = -1;

  if (argv == NULL) {
    bn_words_done(words);
    return bn_err_set(err, ENOMEM, "out of memory");
  }
  words->item = argv;
  argv[words->n] = NULL;
  if (bn_child_run(c, &(struct bn_child){.argv = argv, .out = s->messages, .errors = s->messages},
                   &end, err) == 0)
    rc = end.status == 0 ? 0 : tell_failure(what, s->messages, &end, err);
  bn_words_done(words);
  return rc;
}

/* Whether a run for the statement needs it to find the server.  Also options of drivers that are
   not loaded here are passed on, by their prefixes. */
static bool is_of_connection(const char *word)
{
  /* lint: option list */
  static const char *const prefixes[] = {"--mysql-", "--pgsql-", "--sqlite-", "--db-driver",
                                         "--connect"};
  char name[64];

  (void)snprintf(name, sizeof name, "%s", word);
  for (char *p = name; *p != '\0' && *p != '='; p++)
    if (*p == '_')
      *p = '-';
  if (strstr(name, "-ignore-errors") != NULL || strstr(name, "-dry-run") != NULL)
    return false;
  for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
    if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
      return true;
  return false;
}

/* A script, because a statement in the list of processes would be for all to read.  As many '=' as
   the statement lacks behind a ']' make the quotes. */
static int write_script(const char *statement, const char *path, struct bn_err *err)
{
  struct bn_buf quote = {.max = 0}, text = {.max = 0};
  int rc = -1;

  (void)bn_buf_char(&quote, ']');
  while (!quote.failed && strstr(statement, quote.data) != NULL)
    (void)bn_buf_char(&quote, '=');
  if (!quote.failed && bn_buf_printf(&text,
                                     "function prepare()\n"
                                     "  local connection = sysbench.sql.driver():connect()\n"
                                     "  connection:query([%s[\n%s%s])\n"
                                     "  connection:disconnect()\n"
                                     "end\n",
                                     quote.data + 1, statement, quote.data) == 0)
    rc = bn_file_save(path, text.data, text.len);
  if (rc != 0)
    (void)bn_err_set(err, errno, "cannot write '%s': %s", path, bn_file_reason(errno));
  bn_buf_done(&quote);
  bn_buf_done(&text);
  return rc;
}

static int execute(const struct bn_arm *arm, struct bn_children *c, const struct bn_arm_scratch *s,
                   struct bn_err *err)
{
  struct bn_list words = {.n = 0};
  int made;

  if (write_script(arm->statement, s->script, err) != 0)
    return -1;
  made = bn_words_add(&words, arm->words.item[0]);
  if (made == 0)
    made = bn_words_add(&words, s->script);
  for (size_t i = 1; made == 0 && i < arm->words.n; i++)
    if (is_of_connection(arm->words.item[i]))
      made = bn_words_add(&words, arm->words.item[i]);
  if (made == 0)
    made = bn_words_add(&words, "prepare");
  return run_words(&words, made, "the statement", c, s, err);
}

int bn_arm_run(const struct bn_arm *arm, struct bn_children *c, const struct bn_arm_scratch *s,
               const char *document, struct bn_err *err)
{
  struct bn_list words = {.n = 0};
  struct bn_buf report = {.max = 0};
  int made = bn_buf_printf(&report, "--report=json:%s", document);

  if (arm->statement != NULL && execute(arm, c, s, err) != 0)
    made = 1;
  for (size_t i = 0; made == 0 && i < arm->words.n; i++)
    made = bn_words_add(&words, arm->words.item[i]);
  if (made == 0)
    made = bn_words_add(&words, report.data);
  bn_buf_done(&report);
  return made > 0 ? -1 : run_words(&words, made, "the run", c, s, err);
}

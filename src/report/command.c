/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes a command line from the options of a run. */
#include "report/command.h"

#include <inttypes.h>
#include <string.h>

#include "base/escape.h"

/* Appends a text as one word of a shell.  It is quoted unless all its characters are harmless,
   because a document may have any text. */
static void command_put_word(struct bn_buf *out, const char *text)
{
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                              "_-./:=,@%+";

  if (text[0] != '\0' && text[strspn(text, plain)] == '\0')
    (void)bn_buf_str(out, text);
  else
    (void)bn_escape_shell_word(out, text);
}

/* Returns whether the option is repeated as it is.  bn_command_append() adds the test and the
   dialect itself, because a run may have them without these options: the name of the program may
   have chosen the dialect. */
static bool command_is_repeated(const struct bn_fact_option *o)
{
  const bool was_set = o->origin != BN_FROM_DEFAULT && o->value != NULL;
  const bool is_shown = !o->secret && (o->traits & BN_OPT_OUTPUT_ONLY) == 0;
  const bool is_added_apart = strcmp(o->name, "test") == 0 || strcmp(o->name, "compat") == 0;

  return was_set && is_shown && !is_added_apart;
}

/* Appends a blank and "--NAME=VALUE". */
static void command_put_option(struct bn_buf *out, const char *name, const char *value)
{
  struct bn_buf word = {.max = 0};

  (void)bn_buf_printf(&word, "--%s=%s", name, value);
  (void)bn_buf_char(out, ' ');
  command_put_word(out, word.data);
  bn_buf_done(&word);
}

bool bn_command_append(const struct bn_facts *f, struct bn_buf *out)
{
  const char *workload = bn_facts_find_text(f, "workload", "name");
  const char *dialect = bn_facts_find_text(f, "program", "dialect");

  if (workload == NULL || f->n_options == 0)
    return false;
  (void)bn_buf_str(out, "bench");
  if (!bn_facts_have_groups(f)) {
    (void)bn_buf_char(out, ' ');
    command_put_word(out, workload);
  }
  if (dialect != NULL && strcmp(dialect, "bench") != 0)
    command_put_option(out, "compat", dialect);
  for (size_t i = 0; i < f->n_options; i++)
    if (command_is_repeated(&f->option[i]))
      command_put_option(out, f->option[i].name, f->option[i].value);
  /* A seed that was given is one of the options, and 0 stands for the several seeds of a merged
     result.  In a dialect the version decides on the seed of a run without the option. */
  if (!f->plan.seed_given && f->plan.seed != 0 && f->plan.native)
    (void)bn_buf_printf(out, " --rand-seed=%" PRIu64, f->plan.seed);
  (void)bn_buf_str(out, " run");
  return true;
}

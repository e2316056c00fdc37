/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes the arguments of a run, and hides what is secret in them. */
#include "study/invocation.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mask.h"
#include "option/conf.h"

const struct bn_opt *bn_word_option(const char *word)
{
  char given[64];

  if (strncmp(word, "--", 2) != 0)
    return NULL;
  (void)snprintf(given, sizeof given, "%.*s", (int)strcspn(word + 2, "="), word + 2);
  return bn_conf_option(given);
}

static bool is_option(const char *word, const char *name)
{
  const struct bn_opt *o = bn_word_option(word);

  return o != NULL && strcmp(o->name, name) == 0;
}

bool bn_words_choose_dialect(const char *const *word)
{
  const char *dialect = getenv("BENCH_COMPAT");

  for (; *word != NULL; word++)
    if (is_option(*word, "compat"))
      return true;
  return dialect != NULL && dialect[0] != '\0';
}

int bn_invocation_read(struct bn_invocation *c, const char *program, const char *const *word,
                       struct bn_err *err)
{
  *c = (struct bn_invocation){.program = program, .word = word, .run = SIZE_MAX};
  for (; word[c->n] != NULL; c->n++) {
    if (is_option(word[c->n], "report"))
      return bn_err_set(err, EINVAL,
                        "--report cannot be given: each run writes a result and a text report into "
                        "the folder of --out");
    if (strcmp(word[c->n], "run") == 0)
      c->run = c->n;
  }
  if (c->run < c->n)
    return 0;
  return bn_err_set(err, EINVAL,
                    "the command 'run' is missing; write the command line of a run after the "
                    "options, such as: oltp_read_write --tables=4 run");
}

/* "--mysql-password SECRET" */
static bool is_behind_secret(const struct bn_invocation *c, size_t word)
{
  const char *before = word > 0 ? c->word[word - 1] : "";

  return before[0] == '-' && strchr(before, '=') == NULL && c->word[word][0] != '-' &&
         bn_mask_resembles_secret(before);
}

int bn_invocation_show(const struct bn_invocation *c, size_t word, struct bn_buf *out)
{
  const char *text = c->word[word], *equals = strchr(text, '=');
  char masked[BN_MASK_MAX];
  const char *shown;

  if (is_behind_secret(c, word))
    return bn_buf_str(out, BN_MASK);
  if (strncmp(text, "-p", 2) == 0 && text[2] != '\0')
    return bn_buf_str(out, "-p" BN_MASK);
  shown = bn_mask_arg(text, bn_mask_resembles_secret(text), masked);
  if (shown != text || equals == NULL)
    return bn_buf_str(out, shown);
  (void)bn_buf_add(out, text, (size_t)(equals + 1 - text));
  return bn_buf_str(out, bn_mask_value(equals + 1, masked));
}

static size_t count(const char *const *list)
{
  size_t n = 0;

  while (list[n] != NULL)
    n++;
  return n;
}

/* false: out of memory. */
static bool fill(char **argv, const struct bn_invocation *c, const char *act,
                 const struct bn_grid *g, size_t point, const char *const *more)
{
  size_t n = 0;
  bool ok = true;

  argv[n++] = strdup(c->program);
  for (size_t i = 0; i < c->n; i++)
    argv[n++] = strdup(i == c->run ? act : c->word[i]);
  for (size_t i = 0; i < g->n_axes; i++) {
    if (asprintf(&argv[n], "--%s=%s", g->axis[i].name, bn_grid_value(g, point, i)) < 0)
      argv[n] = NULL;
    n++;
  }
  for (; *more != NULL; more++)
    argv[n++] = strdup(*more);
  for (size_t i = 0; i < n; i++)
    ok = ok && argv[i] != NULL;
  return ok;
}

char **bn_invocation_argv(const struct bn_invocation *c, const char *act, const struct bn_grid *g,
                          size_t point, const char *const *more)
{
  char **argv = calloc(c->n + g->n_axes + count(more) + 2, sizeof *argv);

  if (argv == NULL || fill(argv, c, act, g, point, more))
    return argv;
  bn_invocation_free(argv);
  return NULL;
}

void bn_invocation_free(char **argv)
{
  for (size_t i = 0; argv != NULL && argv[i] != NULL; i++)
    free(argv[i]);
  free(argv);
}

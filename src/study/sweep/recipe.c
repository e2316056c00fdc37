/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads files of sweeps. */
#include "study/sweep/recipe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/plugin.h"
#include "dialect/dialect.h"
#include "option/opt.h"
#include "option/optval.h"

enum { SHOWN = 128 };

/* --- finding and reading ---------------------------------------------------------------------- */

/* A file in the working folder comes before a bundled one. */
static int find(struct bn_recipe *r, const char *name, struct bn_err *err)
{
  char data[PATH_MAX];

  if (strchr(name, '/') != NULL || access(name, F_OK) == 0) {
    (void)snprintf(r->path, sizeof r->path, "%s", name);
    return 0;
  }
  if (bn_plugin_data_dir(data, sizeof data, err) == NULL)
    return -1;
  if (snprintf(r->path, sizeof r->path, "%.3900s/%.64s.sweep", data, name) > 0 &&
      access(r->path, F_OK) == 0)
    return 0;
  return bn_err_set(err, ENOENT,
                    "--from=%.64s: there is no such file, and none is bundled; bundled: "
                    "block-size, concurrency, file-num, machine, table-size",
                    name);
}

__attribute__((format(printf, 4, 5))) static int refuse(const struct bn_recipe *r, unsigned line,
                                                        struct bn_err *err, const char *fmt, ...)
{
  char why[400], shown[400];
  va_list ap;

  va_start(ap, fmt);
  (void)vsnprintf(why, sizeof why, fmt, ap);
  va_end(ap);
  (void)bn_escape(shown, sizeof shown, why, "");
  return bn_err_set(err, EINVAL, "%.100s:%u: %s", r->path, line, shown);
}

/* Where the settings of a file are collected. */
struct reading {
  struct bn_recipe *recipe;
  struct bn_err *err;
  bool failed;
};

static int add_line(struct bn_recipe *r, const char *name, const char *value, unsigned number,
                    struct bn_err *err)
{
  struct bn_recipe_line *line = &r->line[r->n];

  if (name[0] == '\0' || name[strspn(name, "abcdefghijklmnopqrstuvwxyz"
                                           "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")] != '\0')
    return refuse(r, number, err,
                  "the name '%.64s' names a folder; use only letters, digits, '-' and '_'", name);
  for (size_t i = 0; i < r->n; i++)
    if (strcmp(r->line[i].name, name) == 0)
      return refuse(r, number, err, "the name '%.64s' is used twice", name);
  if (r->n == BN_RECIPE_MAX)
    return refuse(r, number, err, "too many sweeps; allowed: up to %d", BN_RECIPE_MAX);
  *line = (struct bn_recipe_line){.name = strdup(name), .number = number};
  r->n++;
  if (line->name == NULL || bn_optval_items(value, &line->words) != 0)
    return bn_err_set(err, ENOMEM, "out of memory");
  return 0;
}

static void take(void *arg, const char *name, const char *value, const char *path, unsigned line)
{
  struct reading *g = arg;

  (void)path;
  if (!g->failed)
    g->failed = add_line(g->recipe, name, value != NULL ? value : "", line, g->err) != 0;
}

int bn_recipe_read(struct bn_recipe *r, const char *name, struct bn_err *err)
{
  /* No name is known, so that the lines of the file stay as they are. */
  struct bn_optset *none = bn_optset_new(&bn_policy_bench);
  struct reading reading = {r, err, false};
  int rc = -1;

  r->n = 0;
  if (none == NULL)
    return bn_err_set(err, ENOMEM, "out of memory");
  if (find(r, name, err) == 0 && bn_optset_file(none, r->path, err) == 0) {
    bn_optset_each_pending(none, take, &reading);
    rc = reading.failed ? -1 : 0;
  }
  bn_optset_free(none);
  if (rc == 0 && r->n == 0)
    rc = bn_err_set(err, EINVAL, "%.256s: this file has no sweep; write lines NAME = WORDS",
                    r->path);
  return rc;
}

void bn_recipe_done(struct bn_recipe *r)
{
  for (size_t i = 0; i < r->n; i++) {
    free(r->line[i].name);
    bn_optval_free_list(&r->line[i].words);
  }
  r->n = 0;
}

/* --- words ------------------------------------------------------------------------------------ */

/* 1: it was an option of the subcommand; 0: it is none. */
static int set_option(struct bn_optset *set, const char *word, struct bn_err *err)
{
  char name[64];
  const char *equals = strchr(word, '=');

  if (strncmp(word, "--", 2) != 0)
    return 0;
  (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
  if (bn_optset_find(set, name) == NULL)
    return 0;
  return bn_optset_set(set, name, equals != NULL ? equals + 1 : NULL, word, err) ==
                 BN_OPTSET_NO_MEMORY
             ? -1
             : 1;
}

static int sort_words(const struct bn_list *words, const char *const *more,
                      struct bn_recipe_words *out, struct bn_err *err)
{
  size_t n = 0;

  for (size_t i = 0; i < words->n; i++) {
    const int rc = set_option(out->set, words->item[i], err);

    if (rc < 0)
      return -1;
    if (rc == 0)
      out->operand[n++] = words->item[i];
  }
  for (; *more != NULL; more++)
    out->operand[n++] = *more;
  return 0;
}

int bn_recipe_parse(const struct bn_recipe *r, size_t line, const struct bn_opt *options,
                    void *values, const char *const *more, struct bn_recipe_words *out,
                    struct bn_err *err)
{
  const struct bn_recipe_line *l = &r->line[line];
  struct bn_optset_fault fault;
  size_t n = l->words.n + 1;

  for (size_t i = 0; more[i] != NULL; i++)
    n++;
  *out = (struct bn_recipe_words){.set = bn_optset_new(&bn_policy_bench),
                                  .operand = calloc(n, sizeof *out->operand)};
  if (out->set == NULL || out->operand == NULL)
    return bn_err_set(err, ENOMEM, "out of memory");
  if (bn_optset_add(out->set, l->name, options, values, false, err) != 0 ||
      sort_words(&l->words, more, out, err) != 0)
    return -1;
  if (bn_optset_unknown(out->set, false, &fault) || bn_optset_fault(out->set, &fault))
    return refuse(r, l->number, err, "%.300s", fault.text);
  return 0;
}

void bn_recipe_forget(struct bn_recipe_words *w)
{
  bn_optset_free(w->set);
  free(w->operand);
  *w = (struct bn_recipe_words){.set = NULL};
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs `prepare` and `cleanup` of a command line. */
#include "study/sweep/data.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "option/conf.h"
#include "option/opt.h"

static const char form[] = "bench sweep data", file[] = "data.json";

/* What is there. */
struct there {
  bool any, whole;
  size_t point;
};

/* What the test says of an option that it declares, or its driver. */
static void mark_axes(struct bn_grid *g, FILE *said)
{
  char line[256], name[64];
  unsigned traits;

  while (fgets(line, sizeof line, said) != NULL)
    for (size_t i = 0; i < g->n_axes; i++)
      if (sscanf(line, "option %63s %u", name, &traits) == 2 &&
          bn_opt_same_name(name, g->axis[i].name) && (traits & BN_OPT_KEEPS_DATA) != 0)
        g->axis[i].of_data = false;
}

/* A run knows them; without its answer, any option changes the data. */
static int ask_for_traits(const struct bn_data *d, struct bn_grid *g, struct bn_err *err)
{
  static const char name[] = "runs/options.txt";
  static const char *const more[] = {"--help-traits", NULL};
  char **argv = bn_invocation_argv(d->command, "help", g, 0, more);
  char path[PATH_MAX];
  const struct bn_child child = {.argv = argv, .out = bn_folder_file(d->folder, name, path)};
  struct bn_child_end end;
  FILE *said;
  int rc;

  if (argv == NULL)
    return bn_err_set(err, ENOMEM, "out of memory");
  rc = bn_child_run(d->children, &child, &end, err);
  said = rc == 0 && end.status == 0 ? fopen(path, "re") : NULL;
  if (said != NULL) {
    mark_axes(g, said);
    (void)fclose(said);
  }
  bn_folder_remove(d->folder, name);
  bn_invocation_free(argv);
  return rc;
}

int bn_data_mark(const struct bn_data *d, struct bn_grid *g, struct bn_err *err)
{
  bool any = false;

  for (size_t i = 0; i < g->n_axes; i++)
    any |= g->axis[i].of_data = bn_conf_option(g->axis[i].name) == NULL;
  return any ? ask_for_traits(d, g, err) : 0;
}

static int read_there(const struct bn_data *d, struct there *out, struct bn_err *err)
{
  const struct bn_store *js = d->js;
  struct bn_node *n;
  const int rc = bn_folder_read(d->folder, js, file, &n, err);

  *out = (struct there){.any = rc > 0};
  if (rc > 0) {
    const int64_t point = js->get_integer(js->get(n, "point"));

    out->whole = js->get_boolean(js->get(n, "whole"));
    out->point = point > 0 ? (size_t)point : 0;
    if (out->point >= bn_grid_points(d->grid))
      out->point = 0;
  }
  js->free(n);
  return rc < 0 ? -1 : 0;
}

static int write_there(const struct bn_data *d, size_t point, bool whole, struct bn_err *err)
{
  const struct bn_store *js = d->js;
  struct bn_node *n = js->map();
  int rc = js->set(n, "format", js->text(form));

  rc |= js->set(n, "version", js->integer(1));
  rc |= js->set(n, "point", js->integer((int64_t)point));
  rc |= js->set(n, "whole", js->boolean(whole));
  if (rc != 0) {
    js->free(n);
    n = NULL;
  }
  return bn_folder_write(d->folder, js, file, n, err);
}

/* act: "prepare" or "cleanup". */
static int act_on(const struct bn_data *d, const char *act, size_t point, struct bn_err *err)
{
  static const char *const none[] = {NULL};
  char **argv = bn_invocation_argv(d->command, act, d->grid, point, none);
  char out[PATH_MAX], errors[PATH_MAX], name[BN_FOLDER_RUN];
  struct bn_child child = {.argv = argv};
  struct bn_child_end end;
  int rc;

  if (argv == NULL)
    return bn_err_set(err, ENOMEM, "out of memory");
  (void)snprintf(name, sizeof name, "runs/%s.txt", act);
  child.out = bn_folder_file(d->folder, name, out);
  (void)snprintf(name, sizeof name, "runs/%s.err", act);
  child.errors = bn_folder_file(d->folder, name, errors);
  rc = bn_child_run(d->children, &child, &end, err);
  bn_invocation_free(argv);
  bn_folder_drop_empty(child.errors);
  if (rc != 0 || end.status == 0)
    return rc;
  if (d->children->signo != 0)
    return bn_err_set(err, EINTR, "interrupted during %s", act);
  bn_folder_quote(child.errors, out, sizeof out);
  return bn_err_set(err, 0, "%s failed: %.256s (%s)%s", act, out, errors,
                    strcmp(act, "prepare") == 0
                        ? "; if older data are in the way, remove them with 'cleanup'"
                        : "");
}

int bn_data_drop(const struct bn_data *d, struct bn_err *err)
{
  struct there there;

  if (read_there(d, &there, err) != 0)
    return -1;
  if (!there.any)
    return 0;
  if (act_on(d, "cleanup", there.point, err) != 0)
    return -1;
  bn_folder_remove(d->folder, file);
  return 0;
}

int bn_data_have(const struct bn_data *d, size_t point, struct bn_err *err)
{
  struct there there;

  if (read_there(d, &there, err) != 0)
    return -1;
  if (there.any && there.whole && bn_grid_same_data(d->grid, there.point, point))
    return 0;
  if (bn_data_drop(d, err) != 0 || write_there(d, point, false, err) != 0)
    return -1;
  if (act_on(d, "prepare", point, err) == 0)
    return write_there(d, point, true, err);
  if (there.any || d->children->signo != 0)
    return d->children->signo != 0 ? -1 : 1;
  /* What made it fail may be data of the user's. */
  bn_folder_remove(d->folder, file);
  return -1;
}

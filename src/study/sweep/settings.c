/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes and compares the settings of a sweep. */
#include "study/sweep/settings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/units.h"
#include "dialect/dialect.h"
#include "measure/json_write.h"

static const char file[] = "study.json", form[] = "bench sweep";

/* Takes the text of the buffer, and empties it. */
static void add_text(struct bn_json_out *p, struct bn_node *list, struct bn_buf *text)
{
  p->failed |= text->failed;
  bn_json_add(p, list, bn_node_text(p->js, text->data != NULL ? text->data : ""));
  bn_buf_clear(text);
}

static struct bn_node *words_of(struct bn_json_out *p, const struct bn_invocation *c)
{
  struct bn_node *list = p->js->list();
  struct bn_buf text = {.max = 0};

  for (size_t i = 0; i < c->n; i++) {
    (void)bn_invocation_show(c, i, &text);
    add_text(p, list, &text);
  }
  bn_buf_done(&text);
  return list;
}

static struct bn_node *axes_of(struct bn_json_out *p, const struct bn_grid *g)
{
  struct bn_node *list = p->js->list();
  struct bn_buf text = {.max = 0};

  for (size_t i = 0; i < g->n_axes; i++) {
    (void)bn_buf_str(&text, g->axis[i].name);
    for (size_t k = 0; k < g->axis[i].n; k++)
      (void)bn_buf_printf(&text, "%c%s", k == 0 ? '=' : ',', g->axis[i].value[k]);
    add_text(p, list, &text);
  }
  bn_buf_done(&text);
  return list;
}

/* The options that change the data decide the order of the runs. */
static struct bn_node *data_of(struct bn_json_out *p, const struct bn_grid *g)
{
  struct bn_node *list = p->js->list();

  for (size_t i = 0; i < g->n_axes; i++)
    if (g->axis[i].of_data)
      bn_json_add(p, list, bn_node_text(p->js, g->axis[i].name));
  return list;
}

static struct bn_node *settings_of(struct bn_json_out *p, const struct bn_settings *s)
{
  const struct bn_store *js = p->js;
  const struct bn_sweep_conf *c = s->conf;
  struct bn_node *map = js->map();

  bn_json_put(p, map, "program", js->text(bn_policy_bench.release));
  bn_json_put(p, map, "command", words_of(p, s->command));
  bn_json_put(p, map, "vary", axes_of(p, s->grid));
  bn_json_put(p, map, "repeat", js->integer(c->repeat));
  bn_json_put(p, map, "warmup", c->warmup_given ? js->real(c->warmup_s) : js->null());
  bn_json_put(p, map, "cooldown", js->real(c->cooldown_s));
  bn_json_put(p, map, "prepare", js->boolean(c->prepare));
  if (c->prepare)
    bn_json_put(p, map, "data", data_of(p, s->grid));
  bn_json_put(p, map, "cleanup", js->boolean(c->cleanup));
  bn_json_put(p, map, "stop-when",
              c->stop_when != NULL ? bn_node_text(js, c->stop_when) : js->null());
  return map;
}

/* --- comparing -------------------------------------------------------------------------------- */

struct comparison {
  const struct bn_store *js;
  const struct bn_node *known;
  const char *path;
  struct bn_err *err;
};

/* A value as users type it, a list as JSON; the caller frees it. */
static char *print(const struct bn_store *js, const struct bn_node *n)
{
  char digits[BN_UNITS_DIGITS];
  size_t len;

  switch (js->type(n)) {
  case BN_NODE_NULL:
    return strdup("none");
  case BN_NODE_BOOL:
    return strdup(js->get_boolean(n) ? "on" : "off");
  case BN_NODE_INT:
  case BN_NODE_REAL:
    return strdup(bn_units_shortest(digits, js->get_real(n)));
  case BN_NODE_TEXT:
    return strdup(js->get_text(n));
  case BN_NODE_LIST:
  case BN_NODE_MAP:
    break;
  }
  return js->print(n, 0, &len);
}

/* "another --repeat" */
static const char *name_of(const char *key)
{
  if (strcmp(key, "command") == 0)
    return "command line";
  if (strcmp(key, "data") == 0)
    return "list of options that change the data";
  return strcmp(key, "program") == 0 ? "version of bench" : key;
}

static int compare(void *arg, const char *key, const struct bn_node *value)
{
  const struct comparison *c = arg;
  char *wanted = print(c->js, value), *known = print(c->js, c->js->get(c->known, key));
  char shown[160];
  int rc = 0;

  if (wanted == NULL || known == NULL) {
    rc = bn_err_set(c->err, ENOMEM, "out of memory");
  } else if (strcmp(wanted, known) != 0) {
    (void)bn_escape(shown, sizeof shown, known, "");
    rc = bn_err_set(
        c->err, EINVAL,
        "--resume: '%s' was begun with another %s: %s, not %.160s; use the same value, or "
        "name another folder",
        c->path, name_of(key), shown, wanted);
  }
  free(wanted);
  free(known);
  return rc;
}

static int compare_all(const struct bn_settings *s, const struct bn_folder *f,
                       const struct bn_store *js, const struct bn_node *study, uint64_t *seed,
                       struct bn_err *err)
{
  struct bn_json_out p = {.js = js};
  struct bn_node *wanted = settings_of(&p, s);
  struct comparison c = {js, js->get(study, "settings"), f->path, err};
  const int64_t known = js->get_integer(js->get(study, "seed"));
  int rc = p.failed ? bn_err_set(err, ENOMEM, "out of memory") : js->each(wanted, compare, &c);

  js->free(wanted);
  if (rc == 0 && s->conf->seed_given && s->conf->seed != known)
    rc = bn_err_set(err, EINVAL,
                    "--resume: '%s' was begun with another --seed: %" PRId64 ", not %" PRId64
                    "; use the same value, or name another folder",
                    f->path, known, s->conf->seed);
  *seed = (uint64_t)known;
  return rc;
}

int bn_settings_check(const struct bn_settings *s, const struct bn_folder *f,
                      const struct bn_store *js, uint64_t *seed, struct bn_err *err)
{
  struct bn_node *study;
  int rc = bn_folder_read(f, js, file, &study, err);
  const char *known;

  if (rc <= 0)
    return rc;
  known = js->get_text(js->get(study, "format"));
  if (!s->conf->resume)
    rc = bn_err_set(
        err, EEXIST,
        "--out=%s: this folder has a study; complete it with --resume, or name another folder",
        f->path);
  else if (known == NULL || strcmp(known, form) != 0 ||
           js->get_integer(js->get(study, "version")) != 1)
    rc = bn_err_set(err, EINVAL, "--resume: this version of bench cannot read the sweep '%s/%s'",
                    f->path, file);
  else if (compare_all(s, f, js, study, seed, err) != 0)
    rc = -1;
  js->free(study);
  return rc;
}

/* --- writing ---------------------------------------------------------------------------------- */

int bn_settings_write(const struct bn_settings *s, const struct bn_folder *f,
                      const struct bn_store *js, uint64_t seed, const size_t *order, size_t n_runs,
                      struct bn_err *err)
{
  struct bn_json_out p = {.js = js};
  struct bn_node *map = js->map(), *list = js->list();

  bn_json_put(&p, map, "format", js->text(form));
  bn_json_put(&p, map, "version", js->integer(1));
  bn_json_put(&p, map, "seed", js->integer((int64_t)seed));
  bn_json_put(&p, map, "settings", settings_of(&p, s));
  for (size_t i = 0; i < n_runs; i++)
    bn_json_add(&p, list, js->integer((int64_t)order[i]));
  bn_json_put(&p, map, "order", list);
  return bn_folder_write(f, js, file, bn_json_finish(&p, map), err);
}

void bn_settings_remove(const struct bn_folder *f)
{
  bn_folder_remove(f, file);
}

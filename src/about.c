/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Gathers the facts about a run that only the composition root knows. */
#include "about.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/mask.h"
#include "measure/host.h"
#include "named_options.h"
#include "option/conf.h"
#include "registry.h"
#include "script/script.h"
#include "sql/sql.h"

/* Adds the versions of the program and of LuaJIT, and the dialect. */
static void about_add_program(struct bn_facts *f, const struct bn_cli *cli)
{
  const char *dialect = cli->policy->dialect;

  bn_facts_set_text(f, "program", "name", "bench");
  bn_facts_set_text(f, "program", "version", PACKAGE_VERSION);
  bn_facts_set_text(f, "program", "luajit", bn_script_luajit_version());
  bn_facts_set_text(f, "program", "dialect", dialect != NULL ? dialect : "bench");
}

/* Adds the present time, in UTC, as the time of the start. */
static void about_add_time(struct bn_facts *f)
{
  const time_t now = time(NULL);
  struct tm utc;
  char text[32];

  if (gmtime_r(&now, &utc) != NULL &&
      strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &utc) > 0)
    bn_facts_set_text(f, "process", "started", text);
}

/* Adds a text about the host, unless it is empty because it is not known. */
static void about_add_host_text(struct bn_facts *f, const char *key, const char *text)
{
  if (text[0] != '\0')
    bn_facts_set_text(f, "host", key, text);
}

/* Adds a number about the host, unless it is 0 because it is not known. */
static void about_add_host_number(struct bn_facts *f, const char *key, uint64_t n)
{
  if (n != 0)
    bn_facts_set_whole(f, "host", key, (int64_t)n);
}

/* Adds the known facts about the host. */
static void about_add_host(struct bn_facts *f)
{
  struct bn_host h;

  bn_host_read(&h, "");
  about_add_host_text(f, "name", h.name);
  about_add_host_text(f, "cpu_model", h.cpu_model);
  about_add_host_number(f, "processors_online", h.processors_online);
  about_add_host_number(f, "processors_allowed", h.processors_allowed);
  if (h.processors_quota > 0)
    bn_facts_set_real(f, "host", "processors_quota", h.processors_quota);
  about_add_host_number(f, "memory_bytes", h.memory_bytes);
  about_add_host_number(f, "memory_limit_bytes", h.memory_limit_bytes);
  about_add_host_text(f, "kernel", h.kernel);
  about_add_host_text(f, "machine", h.machine);
  about_add_host_text(f, "distribution", h.distribution);
  about_add_host_text(f, "hypervisor", h.hypervisor);
  about_add_host_text(f, "container", h.container);
  about_add_host_text(f, "governor", h.governor);
  about_add_host_text(f, "clocksource", h.clocksource);
}

/* Adds a folder, and the file system and the device that it is on. */
static void about_add_folder(struct bn_facts *f, const char *folder)
{
  struct bn_place place;

  bn_place_read(&place, "", folder);
  bn_facts_set_text(f, "files", "folder", place.path);
  bn_facts_set_text(f, "files", "file_system", place.file_system);
  bn_facts_set_text(f, "files", "device", place.device);
}

/* Returns the value of an option, or NULL if the facts have none. */
static const char *about_find_option_value(const struct bn_facts *f, const char *name)
{
  for (size_t i = 0; i < f->n_options; i++)
    if (strcmp(f->option[i].name, name) == 0)
      return f->option[i].value;
  return NULL;
}

/* Returns the database file of the run, the value of the option with the trait PLACE of an embedded
   driver, or NULL. */
static const char *about_find_database_file(const struct bn_facts *f)
{
  const struct bn_registry_driver *d =
      bn_registry_find_driver(about_find_option_value(f, "db-driver"));

  if (d == NULL || !d->embedded)
    return NULL;
  for (const struct bn_opt *o = d->options; o->name != NULL; o++)
    if ((o->traits & BN_OPT_PLACE) != 0)
      return about_find_option_value(f, o->name);
  return NULL;
}

/* Adds the folder of the database file, which an embedded driver does not report itself.  A
   database in memory has no file. */
static void about_add_database_file(struct bn_facts *f)
{
  const char *file = about_find_database_file(f);
  char folder[PATH_MAX];

  if (file == NULL || file[0] == ':') /* ":memory:" */
    return;
  bn_file_copy_folder(file, folder);
  about_add_folder(f, folder);
}

/* Adds an option to the struct bn_facts `arg`, for bn_optset_each_fact. */
static void about_add_option(void *arg, const struct bn_opt_fact *o)
{
  bn_facts_add_option(arg, o);
}

/* Adds the labels, which bn_named_check_labels() has checked.  Passwords are masked, because a
   label may be a URI.  If the mask covers the "=", the label has an empty value. */
static void about_add_labels(struct bn_facts *f, const struct bn_list *labels)
{
  char key[BN_LABEL_MAX + 1], masked[BN_MASK_MAX];

  for (size_t i = 0; i < labels->n; i++) {
    const char *text = bn_mask_text(labels->item[i], masked);
    const size_t len = strcspn(text, "=");

    (void)snprintf(key, sizeof key, "%.*s", (int)len, text);
    bn_facts_set_text(f, "labels", key, text[len] == '=' ? text + len + 1 : "");
  }
}

void bn_about_gather(struct bn_facts *f, const struct bn_cli *cli, const struct bn_optset *options,
                     const struct bn_list *labels, const struct bn_workload *ops, bool wants_host)
{
  about_add_program(f, cli);
  about_add_time(f);
  bn_facts_set_text(f, "workload", "name", cli->test);
  bn_facts_set_text(f, "workload", "title", ops->title != NULL ? ops->title : cli->test);
  about_add_labels(f, labels);
  bn_optset_each_fact(options, about_add_option, f);
  if (wants_host) {
    about_add_host(f);
    about_add_database_file(f);
  }
}

/* Returns the first option of that name among the general options, those of databases, and those of
   reporters, drivers and built-in tests, in this order.  NULL: there is none. */
static const struct bn_opt *about_find_option(const char *name)
{
  const size_t len = strlen(name);
  const struct bn_opt *o = bn_conf_find_option(name);

  if (o == NULL)
    o = bn_opt_find(bn_sql_options, name, len);
  for (size_t i = 0; o == NULL && bn_registry_reporters[i] != NULL; i++)
    o = bn_opt_find(bn_registry_reporters[i]->options, name, len);
  for (const struct bn_registry_driver *d = bn_registry_drivers; o == NULL && d->name != NULL; d++)
    o = bn_opt_find(d->options, name, len);
  for (size_t i = 0; o == NULL && bn_registry_workloads[i] != NULL; i++)
    o = bn_opt_find(bn_registry_workloads[i]->options, name, len);
  return o;
}

unsigned bn_about_traits(const char *name)
{
  const struct bn_opt *o = about_find_option(name);

  return o != NULL ? o->traits : 0;
}

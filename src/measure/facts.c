/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Collects, copies and frees facts. */
#include "measure/facts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"

const struct bn_fact *bn_facts_find(const struct bn_facts *f, const char *section, const char *key)
{
  for (size_t i = 0; i < f->n_facts; i++)
    if (strcmp(f->fact[i].section, section) == 0 && strcmp(f->fact[i].key, key) == 0)
      return &f->fact[i];
  return NULL;
}

bool bn_facts_begins_section(const struct bn_facts *f, size_t i)
{
  for (size_t k = 0; k < i; k++)
    if (strcmp(f->fact[k].section, f->fact[i].section) == 0)
      return false;
  return true;
}

const char *bn_facts_find_text(const struct bn_facts *f, const char *section, const char *key)
{
  const struct bn_fact *fact = bn_facts_find(f, section, key);

  return fact != NULL && fact->type == BN_FACT_TEXT ? fact->text : NULL;
}

/* Groups made the run if --group was given.  A script may declare an option "group" too, but not
   one with the trait BN_OPT_CONTROLLER_ONLY. */
bool bn_facts_have_groups(const struct bn_facts *f)
{
  for (size_t i = 0; i < f->n_options; i++)
    if (strcmp(f->option[i].name, "group") == 0 && f->option[i].origin != BN_FROM_DEFAULT &&
        (f->option[i].traits & BN_OPT_CONTROLLER_ONLY) != 0)
      return true;
  return false;
}

/* Returns the fact of that section and key, for a new value: its text has been freed and is NULL.
   Adds the fact if there is none. */
static struct bn_fact *facts_prepare(struct bn_facts *f, const char *section, const char *key)
{
  const struct bn_fact *old = bn_facts_find(f, section, key);
  const size_t i = old != NULL ? (size_t)(old - f->fact) : f->n_facts;

  if (old == NULL) {
    f->fact = bn_alloc_grow(f->fact, i, sizeof *f->fact);
    f->fact[i] = (struct bn_fact){.section = bn_alloc_text(section), .key = bn_alloc_text(key)};
    f->n_facts++; /* last, because bn_alloc_fail() may report the facts */
  }
  free(f->fact[i].text);
  f->fact[i].text = NULL;
  return &f->fact[i];
}

void bn_facts_set_text(struct bn_facts *f, const char *section, const char *key, const char *text)
{
  char *copy = bn_alloc_copy(text); /* first: bn_alloc_fail() may report the facts */
  struct bn_fact *fact = facts_prepare(f, section, key);

  fact->type = BN_FACT_TEXT;
  fact->text = copy;
}

void bn_facts_set_whole(struct bn_facts *f, const char *section, const char *key, int64_t value)
{
  struct bn_fact *fact = facts_prepare(f, section, key);

  fact->type = BN_FACT_WHOLE;
  fact->whole = value;
}

void bn_facts_set_real(struct bn_facts *f, const char *section, const char *key, double value)
{
  struct bn_fact *fact = facts_prepare(f, section, key);

  fact->type = BN_FACT_REAL;
  fact->real = value;
}

void bn_facts_set_copy(struct bn_facts *f, const struct bn_fact *fact)
{
  char *text = bn_alloc_copy(fact->text);
  struct bn_fact *to = facts_prepare(f, fact->section, fact->key);

  to->type = fact->type;
  to->text = text;
  to->whole = fact->whole;
  to->real = fact->real;
}

/* Returns whether a fact is in one of the sections about failed threads. */
static bool facts_is_of_thread(const struct bn_fact *fact)
{
  return strcmp(fact->section, BN_THREAD_ERRORS) == 0 ||
         strcmp(fact->section, BN_THREAD_ERROR_TIMES) == 0;
}

/* Returns whether a fact is in one of the sections about errors and failed threads. */
static bool facts_is_of_error(const struct bn_fact *fact)
{
  return strcmp(fact->section, BN_ERROR_CLASSES) == 0 ||
         strcmp(fact->section, BN_ERROR_MESSAGES) == 0 || facts_is_of_thread(fact);
}

void bn_facts_name_group(struct bn_facts *f, const char *group)
{
  if (group == NULL)
    return;
  for (size_t i = 0; i < f->n_facts; i++)
    if (facts_is_of_thread(&f->fact[i])) {
      char *key = bn_alloc_print("%s: %s", group, f->fact[i].key);

      free(f->fact[i].key);
      f->fact[i].key = key;
    }
}

/* Replaces the time and the message of a thread's failure in f by those in `from`, if the latter
   came earlier.  time: its time in `from`.  The key of both facts is the kind of the failure. */
static void facts_replace_if_earlier(struct bn_facts *f, const struct bn_facts *from,
                                     const struct bn_fact *time)
{
  const struct bn_fact *old_time = bn_facts_find(f, BN_THREAD_ERROR_TIMES, time->key);
  const struct bn_fact *message = bn_facts_find(from, BN_THREAD_ERRORS, time->key);

  if (old_time == NULL || old_time->type != BN_FACT_REAL || old_time->real <= time->real)
    return;
  bn_facts_set_copy(f, time);
  if (message != NULL)
    bn_facts_set_copy(f, message);
}

void bn_facts_add_errors(struct bn_facts *f, const struct bn_facts *from)
{
  /* Of the failures that both have, the earlier ones stay, each with its message: so this comes
     before failures are added, which brings times and messages one by one. */
  for (size_t i = 0; i < from->n_facts; i++) {
    const struct bn_fact *fact = &from->fact[i];

    if (strcmp(fact->section, BN_THREAD_ERROR_TIMES) == 0 && fact->type == BN_FACT_REAL)
      facts_replace_if_earlier(f, from, fact);
  }
  /* Errors and failures that only `from` has are added. */
  for (size_t i = 0; i < from->n_facts; i++) {
    const struct bn_fact *fact = &from->fact[i];

    if (facts_is_of_error(fact) && bn_facts_find(f, fact->section, fact->key) == NULL)
      bn_facts_set_copy(f, fact);
  }
}

void bn_facts_add_row(struct bn_facts *f, int level, const char *fmt, ...)
{
  char *text, *line;
  va_list args;
  size_t len;

  va_start(args, fmt);
  text = bn_alloc_vprint(fmt, args);
  va_end(args);
  len = strlen(text);
  line = bn_alloc_print("%s%s", text, len > 0 && text[len - 1] == '\n' ? "" : "\n");
  free(text);
  f->row = bn_alloc_grow(f->row, f->n_rows, sizeof *f->row);
  f->row[f->n_rows++] = (struct bn_fact_row){.level = level, .text = line};
}

void bn_facts_add_option(struct bn_facts *f, const struct bn_opt_fact *option)
{
  const bool has_value = !option->secret && option->text != NULL && option->text[0] != '\0';
  const struct bn_fact_option o = {.group = bn_alloc_copy(option->group),
                                   .name = bn_alloc_copy(option->name),
                                   .value = has_value ? bn_alloc_text(option->text) : NULL,
                                   .origin = option->origin,
                                   .traits = option->traits,
                                   .secret = option->secret};

  f->option = bn_alloc_grow(f->option, f->n_options, sizeof *f->option);
  f->option[f->n_options++] = o;
}

void bn_facts_set_traits(struct bn_facts *f, bn_opt_traits_of *traits_of)
{
  if (traits_of == NULL)
    return;
  /* BN_OPT_UNTOLD stays set, so that the document is written anew without these traits. */
  for (size_t i = 0; i < f->n_options; i++)
    if ((f->option[i].traits & BN_OPT_UNTOLD) != 0)
      f->option[i].traits |= traits_of(f->option[i].name);
}

void bn_facts_add_message(struct bn_facts *f, uint64_t wall_ns, int level, const char *text,
                          uint64_t times)
{
  const struct bn_fact_message m = {
      .wall_ns = wall_ns, .level = level, .text = bn_alloc_copy(text), .times = times};

  f->message = bn_alloc_grow(f->message, f->n_messages, sizeof *f->message);
  f->message[f->n_messages++] = m;
}

/* Adds a message of the log to *arg, a struct bn_facts. */
static void facts_add_logged_message(void *arg, const struct bn_log_message *m)
{
  bn_facts_add_message(arg, m->wall_ns, m->level, m->text, m->times);
}

void bn_facts_add_logged(struct bn_facts *f)
{
  bn_log_each_message(facts_add_logged_message, f);
}

void bn_facts_add_verdict(struct bn_facts *f, const char *text, const char *unit,
                          const struct bn_finding *found)
{
  const struct bn_verdict v = {
      .text = bn_alloc_copy(text), .unit = bn_alloc_copy(unit), .found = *found};

  f->verdict = bn_alloc_grow(f->verdict, f->n_verdicts, sizeof *f->verdict);
  f->verdict[f->n_verdicts++] = v;
}

void bn_facts_done(struct bn_facts *f)
{
  for (size_t i = 0; i < f->n_facts; i++) {
    free(f->fact[i].section);
    free(f->fact[i].key);
    free(f->fact[i].text);
  }
  for (size_t i = 0; i < f->n_rows; i++)
    free(f->row[i].text);
  for (size_t i = 0; i < f->n_options; i++) {
    free(f->option[i].group);
    free(f->option[i].name);
    free(f->option[i].value);
  }
  for (size_t i = 0; i < f->n_messages; i++)
    free(f->message[i].text);
  for (size_t i = 0; i < f->n_verdicts; i++) {
    free(f->verdict[i].text);
    free(f->verdict[i].unit);
  }
  free(f->fact);
  free(f->row);
  free(f->option);
  free(f->message);
  free(f->verdict);
  memset(f, 0, sizeof *f);
}

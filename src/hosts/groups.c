/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the values of --group. */
#include "hosts/groups.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/metric.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "base/mask.h"
#include "hosts/controller.h"
#include "option/conf.h"
#include "option/mix.h"
#include "option/words.h"

/* --- reading ---------------------------------------------------------------------------------- */

/* Returns the length of the name of a group at the beginning of a text, or 0 if there is none or it
   is longer than BN_GROUP_NAME. */
static size_t groups_get_name_len(const char *text)
{
  size_t len = 0;

  if (isdigit((unsigned char)text[0]))
    return 0;
  while (isascii((unsigned char)text[len]) &&
         (isalnum((unsigned char)text[len]) || text[len] == '_'))
    len++;
  return len <= BN_GROUP_NAME ? len : 0;
}

/* Returns the group of that name, or NULL. */
static struct bn_group_words *groups_find(const struct bn_group_list *list, const char *name,
                                          size_t len)
{
  for (size_t i = 0; i < list->n; i++)
    if (strlen(list->group[i].name) == len && memcmp(list->group[i].name, name, len) == 0)
      return &list->group[i];
  return NULL;
}

/* Adds an option "--NAME[=VALUE]" to a group.  Returns 0, or -1 and err if it is an option of the
   whole run. */
static int groups_add_option(struct bn_group_words *g, const char *word,
                             const struct bn_optset *options, struct bn_err *err)
{
  char name[BN_OPT_NAME_MAX];

  bn_opt_read_name(word, name);
  if ((bn_optset_get_traits(options, name) & BN_OPT_WHOLE_RUN) != 0)
    return bn_err_set(err, BN_ERR_OPTION,
                      "--group=%s: --%s has one value for the whole run; give it outside of the "
                      "groups",
                      g->name, name);
  bn_words_add(&g->options, word);
  return 0;
}

/* Refuses a further script of a group, because one of its scripts has no weight.  Returns -1. */
static int groups_refuse_further_script(const struct bn_group_words *g, struct bn_err *err)
{
  char masked[BN_MASK_MAX];
  const char *shown = bn_mask_text(g->script.item[0], masked);

  return bn_err_set(err, BN_ERR_OPTION,
                    "--group=%s: '%s' and a further word stand for its script; a group runs one "
                    "script, or several with weights such as %s@1, and its options begin with "
                    "'--'",
                    g->name, shown, shown);
}

/* Adds a word that names a script of a group.  Each of several scripts needs a weight.  Refuses a
   word that cannot be a script.  Returns 0, or -1 and err. */
static int groups_add_script(struct bn_group_words *g, const char *word,
                             const struct bn_hosts_setup *setup, struct bn_err *err)
{
  const char *kind = setup->no_script(word); /* NULL: it can be a script */

  if (kind != NULL)
    return bn_err_set(err, BN_ERR_OPTION, "--group=%s: '%s' is %s; a group runs a script", g->name,
                      word, kind);
  if (g->script.n > 0 && (!bn_mix_has_weight(g->script.item[0]) || !bn_mix_has_weight(word)))
    return groups_refuse_further_script(g, err);
  bn_words_add(&g->script, word);
  return 0;
}

/* Adds the words after the name of a group: its script and its options.  Returns 0, or -1 and
   err. */
static int groups_add_words(struct bn_group_words *g, const struct bn_list *words,
                            const struct bn_hosts_setup *setup, struct bn_err *err)
{
  for (size_t i = 0; i < words->n; i++) {
    const char *word = words->item[i];
    int rc;

    if (strncmp(word, "--", 2) == 0)
      rc = groups_add_option(g, word, setup->options, err);
    else if (word[0] == '-')
      rc = bn_err_set(err, BN_ERR_OPTION,
                      "--group=%s: a word begins with '-'; options begin with '--', and a script "
                      "has a name",
                      g->name);
    else
      rc = groups_add_script(g, word, setup, err);
    if (rc != 0)
      return -1;
  }
  if (g->script.n > 0)
    return 0;
  return bn_err_set(err, BN_ERR_OPTION,
                    "--group=%s: it names no script; write --group='%s: SCRIPT [OPTIONS]'", g->name,
                    g->name);
}

/* Adds a group of that name, which has no words yet.  Returns 0, or -1 and err if the list has a
   group of that name or is full. */
static int groups_add_group(struct bn_group_list *list, const char *name, size_t len,
                            struct bn_err *err)
{
  if (groups_find(list, name, len) != NULL)
    return bn_err_set(err, BN_ERR_OPTION, "--group=%.*s: two groups have this name", (int)len,
                      name);
  if (list->n == BN_GROUPS_MAX)
    return bn_err_set(err, BN_ERR_OPTION, "--group=%.*s: it is one group too many; allowed: %d",
                      (int)len, name, BN_GROUPS_MAX);
  list->group = bn_alloc_resize(list->group, list->n + 1, sizeof *list->group);
  list->group[list->n++] = (struct bn_group_words){.name = bn_alloc_part(name, len)};
  return 0;
}

/* Reads "NAME: SCRIPT [OPTIONS]", and adds the group to the list.  Returns 0, or -1 and err. */
static int groups_read_group(struct bn_group_list *list, const char *text,
                             const struct bn_hosts_setup *setup, struct bn_err *err)
{
  const char *name = text + strspn(text, " \t");
  const size_t len = groups_get_name_len(name);
  const char *colon = name + len + strspn(name + len, " \t"); /* or what stands in its place */
  struct bn_list words = {.n = 0};
  struct bn_group_words *g;
  int rc;

  if (len == 0 || *colon != ':')
    return bn_err_set(err, BN_ERR_OPTION,
                      "--group: a name of up to %d letters, digits and underscores, and a colon "
                      "must come first; write --group='NAME: SCRIPT [OPTIONS]'",
                      BN_GROUP_NAME);
  if (groups_add_group(list, name, len, err) != 0)
    return -1;
  g = &list->group[list->n - 1];
  if (bn_words_split(colon + 1, &words, err) != 0)
    return bn_err_set(err, BN_ERR_OPTION, "--group=%s: a quotation mark is not closed", g->name);
  rc = groups_add_words(g, &words, setup, err);
  bn_words_done(&words);
  return rc;
}

struct bn_group_words *bn_groups_find_owner(const struct bn_group_list *list, const char *arg)
{
  const char *name = arg;
  size_t len;

  if (!bn_words_skip(&name, "--"))
    return NULL;
  len = strcspn(name, ".=");
  return len > 0 && name[len] == '.' ? groups_find(list, name, len) : NULL;
}

/* Refuses an argument that is no option of a group if it has the form "--NAME.OPTION", and lists
   the groups, of which there is one at least.  Returns 0, or -1 and err. */
static int groups_check_name(const struct bn_group_list *list, const char *arg, struct bn_err *err)
{
  const char *name = arg;
  struct bn_buf known = {.max = 0};
  size_t len;

  if (!bn_words_skip(&name, "--"))
    return 0;
  len = groups_get_name_len(name);
  if (len == 0 || name[len] != '.')
    return 0;
  for (size_t i = 0; i < list->n; i++)
    (void)bn_buf_printf(&known, "%s%s", i > 0 ? ", " : "", list->group[i].name);
  (void)bn_err_set(err, BN_ERR_OPTION, "%.*s: no group is called '%.*s'; there are: %s",
                   (int)strcspn(arg, "="), arg, (int)len, name, known.data);
  bn_buf_done(&known);
  return -1;
}

/* Adds the options "--NAME.OPTION=VALUE" of the command line to their groups, after those of
   --group.  Returns 0, or -1 and err. */
static int groups_add_args(const struct bn_group_list *list, const struct bn_hosts_setup *setup,
                           struct bn_err *err)
{
  for (char *const *arg = setup->args + 1; *arg != NULL; arg++) {
    struct bn_group_words *g = bn_groups_find_owner(list, *arg);
    const char *dot = *arg + strcspn(*arg, "."); /* if g is not NULL, the one after its name */
    char *word;
    int rc;

    if (g == NULL) {
      if (groups_check_name(list, *arg, err) != 0)
        return -1;
      continue;
    }
    word = bn_alloc_print("--%s", dot + 1);
    rc = groups_add_option(g, word, setup->options, err);
    explicit_bzero(word, strlen(word)); /* it may have a password */
    free(word);
    if (rc != 0)
      return -1;
  }
  return 0;
}

/* Reads a value of --group, in which ';' separates groups.  Returns 0, or -1 and err. */
static int groups_read_text(struct bn_group_list *list, const char *text,
                            const struct bn_hosts_setup *setup, struct bn_err *err)
{
  for (;;) {
    const size_t len = bn_words_get_group_len(text);
    char *group = bn_alloc_part(text, len);
    const int rc = groups_read_group(list, group, setup, err);

    explicit_bzero(group, len); /* it may have a password */
    free(group);
    if (rc != 0 || text[len] != ';')
      return rc;
    text += len + 1;
  }
}

/* --- what does not go together ---------------------------------------------------------------- */

/* Reads the name of the option of a word, which for an alias is that of its option. */
static void groups_read_option_name(const char *word, const struct bn_optset *options,
                                    char name[BN_OPT_NAME_MAX])
{
  const struct bn_opt *o;

  bn_opt_read_name(word, name);
  o = bn_optset_find(options, name);
  if (o != NULL && o->alias_of != NULL)
    (void)snprintf(name, BN_OPT_NAME_MAX, "%s", o->alias_of);
}

const char *bn_groups_find_value(const struct bn_group_words *g, const struct bn_optset *options,
                                 const char *option)
{
  const char *value = NULL;

  for (size_t i = 0; i < g->options.n; i++) {
    const char *word = g->options.item[i], *equals = strchr(word, '=');
    char name[BN_OPT_NAME_MAX];

    groups_read_option_name(word, options, name);
    if (bn_opt_is_same_name(name, option))
      value = equals != NULL ? equals + 1 : ""; /* the last one counts */
  }
  return value;
}

/* Returns whether a value means that the option is not used: NULL, "", "0", "0.0" or "none". */
static bool groups_is_unset(const char *value)
{
  return value == NULL || value[strspn(value, "0.")] == '\0' || strcmp(value, "none") == 0;
}

/* Refuses the option `name` of a group if it cannot be used with `other`, which stands outside of
   the groups and which the group itself does not set.  Returns 0, or -1 and err. */
static int groups_check_pair(const struct bn_group_words *g, const struct bn_hosts_setup *setup,
                             const char *name, const char *other, struct bn_err *err)
{
  const struct bn_opt *o = bn_conf_find_option(other);
  const bool uses_name = !groups_is_unset(bn_groups_find_value(g, setup->options, name));
  const bool sets_other = bn_groups_find_value(g, setup->options, other) != NULL;

  if (!uses_name || sets_other || !bn_conf_uses(setup->conf, other))
    return 0;
  return bn_err_set(err, BN_ERR_OPTION,
                    "--group=%s: --%s cannot be used with --%s, which stands outside of the "
                    "groups; write --%s=%s in this one",
                    g->name, name, other, other, o->def != NULL ? o->def : "none");
}

/* Refuses a profile in a group if the run has no --time.  In a run without groups, the phases of a
   profile would set the time, but groups have one time together.  Returns 0, or -1 and err. */
static int groups_check_profile(const struct bn_group_words *g, const struct bn_optset *options,
                                struct bn_err *err)
{
  const char *const *name = bn_conf_profiles;

  while (*name != NULL && groups_is_unset(bn_groups_find_value(g, options, *name)))
    name++;
  if (*name == NULL || bn_optset_is_given(options, "time"))
    return 0;
  return bn_err_set(err, BN_ERR_OPTION,
                    "--group=%s: --%s needs the time of the run, which is the same for all groups; "
                    "add --time=SECONDS outside of the groups",
                    g->name, *name);
}

/* Refuses options of groups that cannot be used with those outside of the groups.  Returns 0, or -1
   and err. */
static int groups_check(const struct bn_group_list *list, const struct bn_hosts_setup *setup,
                        struct bn_err *err)
{
  for (size_t i = 0; i < list->n; i++) {
    const struct bn_group_words *g = &list->group[i];

    if (groups_check_profile(g, setup->options, err) != 0)
      return -1;
    for (const struct bn_conf_pair *p = bn_conf_exclusions; p->name != NULL; p++)
      if (groups_check_pair(g, setup, p->name, p->other, err) != 0 ||
          groups_check_pair(g, setup, p->other, p->name, err) != 0)
        return -1;
  }
  return 0;
}

int bn_groups_read(struct bn_group_list *list, const struct bn_hosts_setup *setup,
                   struct bn_err *err)
{
  for (size_t i = 0; i < setup->groups->n; i++)
    if (groups_read_text(list, setup->groups->item[i], setup, err) != 0)
      return -1;
  if (groups_add_args(list, setup, err) != 0)
    return -1;
  return groups_check(list, setup, err);
}

void bn_groups_done(struct bn_group_list *list)
{
  for (size_t i = 0; i < list->n; i++) {
    struct bn_group_words *g = &list->group[i];

    bn_words_done(&g->options);
    bn_words_done(&g->script);
    free(g->name);
  }
  free(list->group);
  *list = (struct bn_group_list){.n = 0};
}

/* --- showing ---------------------------------------------------------------------------------- */

static void groups_show_words(struct bn_buf *out, const struct bn_list *words)
{
  for (size_t i = 0; i < words->n; i++) {
    (void)bn_buf_char(out, ' ');
    bn_words_show(out, words->item[i]);
  }
}

void bn_groups_mask_texts(const struct bn_group_list *list, struct bn_list *texts)
{
  struct bn_buf text = {.max = 0};

  for (size_t i = 0; i < list->n; i++) {
    const struct bn_group_words *g = &list->group[i];

    (void)bn_buf_printf(&text, "%s%s:", i > 0 ? "; " : "", g->name);
    groups_show_words(&text, &g->script);
    groups_show_words(&text, &g->options);
  }
  bn_words_done(texts);
  bn_words_adopt(texts, bn_buf_take(&text));
}

/* --- data ------------------------------------------------------------------------------------- */

/* Returns whether an option is a general one, which every script has. */
static bool groups_is_general_option(const char *name, const struct bn_optset *options)
{
  static const char *const general[] = {BN_GROUP_GENERAL, BN_GROUP_FILE, BN_GROUP_RAND};
  const struct bn_opt *o;
  const char *section; /* of the help */

  for (size_t i = 0; (o = bn_optset_get_at(options, i, &section)) != NULL; i++) {
    if (!bn_opt_is_same_name(o->name, name))
      continue;
    for (size_t k = 0; k < sizeof general / sizeof *general; k++)
      if (strcmp(section, general[k]) == 0)
        return true;
  }
  return false;
}

/* Returns whether an option decides what data there are, or where they are.  General options do
   not, and neither do options that keep data as they are (BN_OPT_KEEPS_DATA). */
static bool groups_matters_for_data(const char *name, const struct bn_optset *options)
{
  return (bn_optset_get_traits(options, name) & BN_OPT_KEEPS_DATA) == 0 &&
         !groups_is_general_option(name, options);
}

/* Returns whether the group has all options of the other group that matter for data, with the same
   values. */
static bool groups_has_data_options(const struct bn_group_words *g,
                                    const struct bn_group_words *other,
                                    const struct bn_optset *options)
{
  for (size_t i = 0; i < other->options.n; i++) {
    char name[BN_OPT_NAME_MAX];
    const char *value, *other_value;

    groups_read_option_name(other->options.item[i], options, name);
    value = bn_groups_find_value(g, options, name);
    other_value = bn_groups_find_value(other, options, name);
    if (groups_matters_for_data(name, options) &&
        (value == NULL || other_value == NULL || strcmp(value, other_value) != 0))
      return false;
  }
  return true;
}

/* Returns the name of the tables that the script of a word makes, or NULL if it is not bundled. */
static const char *groups_find_tables(const char *word, const struct bn_hosts_setup *setup)
{
  const char *weight = strrchr(word, '@');

  return setup->find_tables(word, weight != NULL ? (size_t)(weight - word) : strlen(word));
}

/* Returns whether a script of the group makes these tables. */
static bool groups_makes_tables(const struct bn_group_words *g, const char *tables,
                                const struct bn_hosts_setup *setup)
{
  for (size_t i = 0; i < g->script.n; i++) {
    const char *made = groups_find_tables(g->script.item[i], setup);

    if (made != NULL && strcmp(made, tables) == 0)
      return true;
  }
  return false;
}

bool bn_groups_share_data(const struct bn_group_words *g, const struct bn_group_words *before,
                          const struct bn_hosts_setup *setup)
{
  const struct bn_optset *options = setup->options;

  for (size_t i = 0; i < g->script.n; i++) {
    const char *tables = groups_find_tables(g->script.item[i], setup);

    if (tables == NULL || !groups_makes_tables(before, tables, setup))
      return false;
  }
  return groups_has_data_options(g, before, options) && groups_has_data_options(before, g, options);
}

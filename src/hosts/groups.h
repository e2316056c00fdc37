/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The groups of a run, as --group names them: each a process on this host with a script and options
   of its own, which otherwise is a part of the run as a host is. */
#ifndef BN_HOSTS_GROUPS_H
#define BN_HOSTS_GROUPS_H

#include <stdbool.h>

#include "api/opt.h"
#include "base/err.h"
#include "option/opt.h"

struct bn_group_words {
  char *name;
  struct bn_list script;  /* owned: its words; several are a mix */
  struct bn_list options; /* owned: its own, which may hold secrets */
};

/* All zero: there are none. */
struct bn_group_list {
  struct bn_group_words *group; /* owned */
  size_t n;
};

/* The command line of a run with groups.  Everything is borrowed. */
struct bn_groups_from {
  const struct bn_list *texts; /* of --group: "NAME: SCRIPT [OPTIONS]", or several with ';' */
  char *const *args;           /* all of it; those of "--NAME.OPTION=VALUE" are a group's, too */
  const struct bn_optset *options;
  const struct bn_conf *conf; /* of the options outside of groups */
  /* Returns what a word is that cannot be the script of a group, or NULL. */
  const char *(*no_script)(const char *word);
};

/* -1: err names the option that is wrong, and quotes no value, which may be a password. */
int bn_groups_read(struct bn_group_list *list, const struct bn_groups_from *from,
                   struct bn_err *err);
void bn_groups_done(struct bn_group_list *list);
/* Returns the group whose option the argument "--NAME.OPTION" is, or NULL. */
const struct bn_group_words *bn_groups_owner(const struct bn_group_list *list, const char *arg);
/* Replaces the texts of --group by one of all groups without passwords, for reports. */
void bn_groups_mask(const struct bn_group_list *list, struct bn_list *texts);
/* Returns whether a command makes or removes the same data for both groups: they run scripts of the
   bundle, and differ only in options that do not matter for data. */
bool bn_groups_share_data(const struct bn_group_words *a, const struct bn_group_words *b,
                          const struct bn_optset *options,
                          bool (*is_bundled)(const char *name, size_t len));

#endif

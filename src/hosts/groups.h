/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The groups of a run, as --group names them.  Each is a process on this host, or on each host,
   with a script and options of its own, and is a part of the run like a host. */
#ifndef BN_HOSTS_GROUPS_H
#define BN_HOSTS_GROUPS_H

#include <stdbool.h>

#include "api/opt.h"
#include "base/err.h"
#include "option/opt.h"

struct bn_hosts_setup; /* hosts/controller.h */

/* What the command line says of one group. */
struct bn_group_words {
  char *name;             /* owned */
  struct bn_list script;  /* owned: the words that name its script; several are a mix */
  struct bn_list options; /* owned: its options; may hold secrets */
};

/* All zero: there are none. */
struct bn_group_list {
  struct bn_group_words *group; /* owned */
  size_t n;
};

/* Reads the texts of --group, and the options "--NAME.OPTION=VALUE" of the command line, into an
   empty list.  Returns 0, or -1 and err, which names the option that is wrong, and quotes no value,
   because it may be a password.  bn_groups_done() follows in both cases. */
int bn_groups_read(struct bn_group_list *list, const struct bn_hosts_setup *setup,
                   struct bn_err *err);
/* Clears what may be secret, and frees all. */
void bn_groups_done(struct bn_group_list *list);
/* Returns the group whose option the argument "--NAME.OPTION" is, or NULL. */
struct bn_group_words *bn_groups_find_owner(const struct bn_group_list *list, const char *arg);
/* Returns the last value that the group gives to an option, also by an alias of it, "" for an
   option without a value, or NULL if it does not have the option. */
const char *bn_groups_find_value(const struct bn_group_words *g, const struct bn_optset *options,
                                 const char *option);
/* Replaces the texts of --group, which are at least one, by one text of all groups without
   passwords, for reports. */
void bn_groups_mask_texts(const struct bn_group_list *list, struct bn_list *texts);
/* Returns whether a command that was executed for the group `before` has made or removed the data
   of g, too: the scripts of g are bundled ones whose tables are among those of `before`, and the
   options that matter for data are the same. */
bool bn_groups_share_data(const struct bn_group_words *g, const struct bn_group_words *before,
                          const struct bn_hosts_setup *setup);

#endif

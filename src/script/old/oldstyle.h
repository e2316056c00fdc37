/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Scripts that declare no options. */
#ifndef BN_SCRIPT_OLD_OLDSTYLE_H
#define BN_SCRIPT_OLD_OLDSTYLE_H

#include <stdbool.h>

struct bn_vm;

/* Returns whether a script that declares no options is one of the interface of 0.5. */
bool bn_oldstyle_is_old(const struct bn_vm *vm);
/* Accepts all options of the command line if the script, which declares none, is one of 0.5: marks
   the options whose names are words of its files as read, and logs the others.  Returns whether it
   has accepted them; true also if no option is unread. */
bool bn_oldstyle_accept_any(const struct bn_vm *vm);

#endif

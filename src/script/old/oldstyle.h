/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Scripts that declare no options. */
#ifndef BN_SCRIPT_OLD_OLDSTYLE_H
#define BN_SCRIPT_OLD_OLDSTYLE_H

#include <stdbool.h>

struct bn_vm;

/* Returns whether a script that declares no options is one of the interface of 0.5. */
bool bn_oldstyle_is_old(const struct bn_vm *vm);
/* Returns whether a script that declares no options takes any option of the command line.  If it
   does, marks the options that the script and the files that it has loaded mention as read, and
   logs those that they never mention. */
bool bn_oldstyle_accepts_any(const struct bn_vm *vm);

#endif

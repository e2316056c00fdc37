/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Scripts that declare no options. */
#ifndef BN_SCRIPT_OLD_OLDSTYLE_H
#define BN_SCRIPT_OLD_OLDSTYLE_H

#include <stdbool.h>

struct bn_vm;

/* Returns whether a script that declares no options is one of the interface of 0.5. */
bool bn_oldstyle_is_old(const struct bn_vm *vm);
/* Accepts any option of the command line for a script of 0.5 that declares none: marks the options
   that the script and the files that it has loaded mention as read, and logs the others.  Returns
   whether it has accepted them; true also if no option is left to be read. */
bool bn_oldstyle_accept_any(const struct bn_vm *vm);

#endif

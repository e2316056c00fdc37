/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Scripts that declare no options. */
#ifndef BN_SCRIPT_OLD_OLDSTYLE_H
#define BN_SCRIPT_OLD_OLDSTYLE_H

#include <stdbool.h>

struct bn_vm;

/* Returns whether such a script takes any option; logs the options that it and the files it loaded
   never mention. */
bool bn_oldstyle_accepts_any(const struct bn_vm *vm);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `package` and `require` of a script instance. */
#ifndef BN_SCRIPT_VM_REQUIRE_H
#define BN_SCRIPT_VM_REQUIRE_H

struct bn_lua;

/* Adds both to the environment on top of the stack; may raise. */
void bn_require_open(struct bn_lua *lua);

#endif

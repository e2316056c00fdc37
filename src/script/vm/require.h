/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `package` and `require` of a script instance. */
#ifndef BN_SCRIPT_VM_REQUIRE_H
#define BN_SCRIPT_VM_REQUIRE_H

struct bn_lua;

/* Sets `package` and `require` of the instance in the environment on top of the stack, which has
   the `package` of the interpreter.  The instance takes that one, or a copy if others need it too.
   May raise an error. */
void bn_require_open(struct bn_lua *lua);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whom the functions behind ffi.C serve: the session the calling thread drives. */
#ifndef BN_SCRIPT_API_FFI_INTERNAL_H
#define BN_SCRIPT_API_FFI_INTERNAL_H

struct bn_lua;
struct bn_session;
struct bn_sqlsys;

/* Never NULL while Lua code runs. */
struct bn_session *bn_ffi_current(void);
struct bn_lua *bn_ffi_lua(void);
struct bn_sqlsys *bn_ffi_sqlsys(void);
/* Makes an instance the current one of this thread; returns the previous one, to be restored. */
struct bn_lua *bn_ffi_enter(struct bn_lua *lua);

#endif

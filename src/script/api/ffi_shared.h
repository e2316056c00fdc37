/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls that may wait, for sessions that share a worker (--workers); declared to Lua like ffi.h,
   and used by the internal module sysbench.shared alone. */
#ifndef BN_SCRIPT_API_FFI_SHARED_H
#define BN_SCRIPT_API_FFI_SHARED_H

#include "script/api/ffi_sql.h"

/* The functions that the calls below stand for. */
enum {
  BN_CALL_QUERY,
  BN_CALL_QUERY_UNCOUNTED,
  BN_CALL_PREPARE,
  BN_CALL_BULK_INIT,
  BN_CALL_BULK_NEXT,
  BN_CALL_BULK_DONE,
  BN_CALL_NEXT_RESULT,
  BN_CALL_EXECUTE,
  BN_CALL_STMT_NEXT_RESULT,
  BN_CALL_STMT_CLOSE,
  BN_CALL_DISCONNECT,
  BN_CALL_RECONNECT,
  BN_CALL_SETTLE,
  BN_CALL_AGAIN,
  BN_CALL_TAKE,
  BN_CALL_PREPARE_HELD,
  BN_CALL_DB_QUERY,
  BN_CALL_DB_NEXT_RESULT,
  BN_CALL_DB_EXECUTE,
  BN_CALL_DB_STMT_NEXT_RESULT
};

/* Each begins a call of the session.  Returns true if it waits: then the session's coroutine
   yields, or bn_ffi_shared_finish waits, and what the arguments point at stays until the call has
   returned. The result is taken from the functions below.  The numbers are those of the function,
   if any. */
BN_API bool bn_ffi_shared_call(int, void *, size_t);
BN_API bool bn_ffi_shared_text(int, void *, const char *, size_t);
BN_API bool bn_ffi_shared_connect(sql_driver *, const char *const *, const char *const *, size_t);
BN_API bool bn_ffi_shared_bind(sql_statement *, const struct bn_ffi_param *const *, size_t);
/* Lets the session wait that many nanoseconds, or until it is interrupted. */
BN_API void bn_ffi_shared_sleep(double);
BN_API void bn_ffi_shared_finish(void);
/* Returns whether the session waits for a call or for an event. */
BN_API bool bn_ffi_shared_waits(void);

/* The arguments are those of the call, which so live until now. */
BN_API sql_result *bn_ffi_shared_rs(const char *);
BN_API sql_connection *bn_ffi_shared_conn(void);
BN_API sql_statement *bn_ffi_shared_stmt(sql_connection *, const char *, const char *);
BN_API int bn_ffi_shared_rc(sql_connection *, const char *);
BN_API int bn_ffi_shared_number(void);
/* Whether the session takes work; after TAKE: whether there was work, whose event has begun. */
BN_API bool bn_ffi_shared_takes(void);
BN_API bool bn_ffi_shared_taken(void);
/* After PREPARE_HELD: whether it has succeeded. */
BN_API bool bn_ffi_shared_prepared(void);

/* Asks for the next event; 0: there is none; 1: there is, begun if asked for; 2: it waits. */
BN_API int bn_ffi_shared_ask(bool);

#endif

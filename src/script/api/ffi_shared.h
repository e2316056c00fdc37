/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls that may wait, for sessions that share a worker (--workers); declared to Lua like ffi.h,
   and used by the internal module sysbench.shared alone. */
#ifndef BN_SCRIPT_API_FFI_SHARED_H
#define BN_SCRIPT_API_FFI_SHARED_H

#include "script/api/ffi_sql.h"

/* The functions that bn_ffi_shared_call calls. */
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
  BN_CALL_BIND,   /* by bn_ffi_shared_bind */
  BN_CALL_CONNECT /* by bn_ffi_shared_connect */
};

/* These begin a call of the session.  They return true if the call waits: then the session's
   coroutine waits (internal.wait), and the data of pointers stays valid until the call has
   returned.  The functions below return its result.  Names of parameters would cost memory in each
   interpreter. */
/* Parameters: the number of the function above, its object, its text (NULL: none), and the length
   of the text or else the number that the function takes. */
BN_API bool bn_ffi_shared_call(int, void *, const char *, size_t);
/* These call bn_ffi_sql_connect and bn_ffi_sql_bind, whose parameters they have. */
BN_API bool bn_ffi_shared_connect(sql_driver *, const char *const *, const char *const *, size_t);
BN_API bool bn_ffi_shared_bind(sql_statement *, const struct bn_ffi_param *const *, size_t);
/* Makes the session wait that many nanoseconds, or until it is interrupted. */
BN_API void bn_ffi_shared_sleep(double);
/* Returns whether the session waits for a call or for an event. */
BN_API bool bn_ffi_shared_waits(void);

/* These return the result of the call that has ended, in the form of the function that was called.
   Their text is that of the call: Lua does not collect it while it is an argument. */
BN_API sql_result *bn_ffi_shared_rs(const char *);
BN_API sql_connection *bn_ffi_shared_conn(void);
/* The last parameter is the name for --statements, as for bn_ffi_sql_prepare. */
BN_API sql_statement *bn_ffi_shared_stmt(sql_connection *, const char *, const char *);
BN_API int bn_ffi_shared_rc(sql_connection *, const char *);
BN_API int bn_ffi_shared_number(void);
/* Returns whether the session takes work (ffi_workqueue.h). */
BN_API bool bn_ffi_shared_takes(void);
/* Returns, after TAKE, whether there was work, and begins the event of the work. */
BN_API bool bn_ffi_shared_taken(void);
/* Returns, after PREPARE_HELD, whether all statements were prepared. */
BN_API bool bn_ffi_shared_prepared(void);

/* Asks for the next event, and begins it if the argument is true.  Returns a number of enum
   bn_event_answer: 0, there is none; 1, there is one; 2, the session waits and asks again. */
BN_API int bn_ffi_shared_ask(bool);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Script instances, as the functions that scripts call use them. */
#ifndef BN_SCRIPT_API_INSTANCE_H
#define BN_SCRIPT_API_INSTANCE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/session.h"
#include "base/buf.h"
#include "base/rng.h"
#include "script/api/metrics.h"
#include "script/api/result.h"
#include "script/api/workqueue.h"
#include "script/vm/lua.h"

struct bn_ffi_param;
struct bn_options;

/* The distributions of bn_ffi_rand (ffi_rand.h); module sysbench.rand has the same numbers. */
enum bn_ffi_distribution {
  BN_FFI_DEFAULT, /* that of --rand-type */
  BN_FFI_UNIFORM,
  BN_FFI_GAUSSIAN,
  BN_FFI_SPECIAL,
  BN_FFI_PARETO,
  BN_FFI_ZIPFIAN
};

/* A call that may wait, of a session that shares its worker (ffi_shared.h). */
struct bn_call {
  int which;    /* BN_CALL_… of ffi_shared.h */
  int number;   /* the result of a function that returns a number */
  size_t len;   /* length of the text or list; or else the number that the function takes */
  void *object; /* the driver, connection or statement */
  void *result; /* the result of a function that returns a pointer */
  union {
    const char *text;
    const char *const *names;
    const struct bn_ffi_param *const *params;
  };
  const char *const *values;
};

/* An interpreter, and what the functions that scripts call keep with it.  Members that every event
   uses stand next to the first members of struct bn_lua. */
struct bn_instance {
  struct bn_buf text;       /* buffer for strings that are passed to Lua */
  unsigned unknown_options; /* number of reads of options that sysbench.opt does not have */
  bool json_open;           /* report_json has begun its array */
  struct bn_tick tick;      /* the event in flight of the preset thread_run */
  struct bn_tick own_tick;  /* the event in flight that sb_event_start() began */
  bool own_event_begun;     /* own_tick is in flight */
  struct bn_call call;
  struct bn_workqueue_part workqueue;
  struct bn_rng choice; /* stream that draws the workloads of a mix */
  struct bn_lua lua;
};

/* The indexes that threads create for the tables of a command; cmdline.c. */
struct bn_index_progress {
  pthread_mutex_t lock;
  unsigned created, creating; /* how many are done, and how many are being created */
  uint64_t start_ns;          /* since when any is being created */
};

/* Data that all instances of a script share; filled by script.c. */
struct bn_api {
  const struct bn_vm *vm;
  char *title;                     /* owned; the name of the script that messages and help show */
  struct bn_instance *main;        /* NULL before it is loaded and after it is closed */
  struct bn_options *options;      /* the options that the script declares */
  struct bn_options **own_options; /* those of each script of a mix; NULL: one script */
  bool takes_any;                  /* unknown options are accepted as texts */
  bool options_win;                /* options that the user sets replace globals of the script */
  struct bn_declarations declared; /* its metrics */
  struct bn_script_results kept;   /* the results kept for done() */
  /* Progress of tables that all threads fill: rows so far, and the time of the first; cmdline.c */
  _Atomic uint64_t loaded, load_start_ns;
  struct bn_index_progress indexes;
  struct bn_workqueue workqueue;
  char shared[64]; /* the text that threads of a command share; cmdline.c */
};

/* Returns the instance whose Lua code runs on this thread. */
static inline struct bn_instance *bn_instance_current(void)
{
  return (struct bn_instance *)(void *)((char *)bn_lua_current() -
                                        offsetof(struct bn_instance, lua));
}

/* Returns the session of the current instance. */
static inline struct bn_session *bn_instance_session(void)
{
  return bn_lua_current()->session;
}

/* Returns the data that all instances of the script share. */
static inline struct bn_api *bn_instance_api(void)
{
  return bn_lua_current()->vm->api;
}

/* Notes, after a call that sends statements, whether the failure of the script's function needs no
   message.  After a failure that was logged it needs one, which adds the place in the script.
   After an interruption it needs none: nothing is wrong, and the SQL layer has logged nothing. */
static inline void bn_instance_set_reported(struct bn_lua *lua, bool has_failed)
{
  lua->reported = has_failed && bn_session_interrupted(lua->session);
}

/* Goes on after an ignored error, which has ended the event at the try of this number, for
   bn_ffi_event_again (ffi_more.h).  Returns tries + 1, perhaps after a wait, if the event is to be
   repeated; 0 if the run is over and the event was dropped; or -1 if the event has failed, and the
   caller begins the next event. */
int bn_ffi_repeat_event(struct bn_instance *in, uint32_t tries);
/* Begins the event of the work that the instance has taken. */
void bn_ffi_begin_taken_event(struct bn_instance *in);

/* Opens an interpreter with an instance in it, without executing the script.  Returns NULL after
   logging why it failed. */
struct bn_instance *bn_instance_open(const struct bn_vm *vm, struct bn_session *s, bool is_worker);
/* Opens a further instance, executes the top level of the script in it and sets sysbench.opt.
   Returns NULL after logging why it failed. */
struct bn_instance *bn_instance_load(const struct bn_vm *vm, struct bn_session *s);
/* Closes the interpreter of the instance, which may be NULL, and leaves the queue of work.  Ends
   the SQL session of a worker's instance. */
void bn_instance_close(struct bn_instance *in);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The inside of the script layer: one struct per script, one per interpreter, and how they work
 * together. */
#ifndef BN_SCRIPT_VM_STATE_H
#define BN_SCRIPT_VM_STATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lua.h>

#include "api/report.h"
#include "api/workload.h"
#include "base/buf.h"
#include "base/dist.h"
#include "base/err.h"
#include "measure/stat.h"
#include "script/script.h"
#include "script/vm/heap.h"

/* One interpreter and the script instance that lives in it.  An instance is an environment: its own
   globals, its own `sysbench` table, its own loaded modules.  Used by one thread at a time. */
struct bn_lua {
  lua_State *L;
  struct bn_script *script;   /* borrowed */
  struct bn_session *session; /* borrowed; whose events, numbers and statistics its functions use */
  struct bn_tick tick;        /* the event in flight of thread_run */
  struct bn_heap heap;        /* what L lives in */
  struct bn_buf text;         /* random strings on their way to Lua */
  int env_ref, sysbench_ref;  /* registry references of the instance's two tables */
  int thread_run_ref;         /* the preset thread_run, to recognise a script's own */
  uintptr_t stack_low;        /* lowest address of the C stack of the call in progress */
  unsigned tid;
  unsigned exits;           /* how often os.exit() has ended the run */
  unsigned unknown_options; /* how often sysbench.opt was asked for what it does not have */
  bool worker;              /* not the main instance: submodules are loaded when first used */
  bool json_open;           /* report_json has begun its array */
  bool traced;              /* the error on its way has its traceback on stderr */
};

/* Loaded source as bytecode, shared read-only by all interpreters of the script. */
struct bn_chunk {
  struct bn_chunk *next;
  char *file;      /* as opened; the key */
  char *chunkname; /* "@L/err.lua", "=stdin" */
  char *data;
  size_t len;
};

/* A file that was run by dofile or loadfile. */
struct bn_source {
  struct bn_source *next;
  char *file;
};

struct bn_script_option; /* options.c */

/* Where a script comes from. */
enum bn_set {
  BN_SET_USER,   /* not with this program */
  BN_SET_MODERN, /* the workloads of 1.x */
  BN_SET_LEGACY  /* those of 0.5 */
};

enum bn_old_names { BN_OLD_NONE, BN_OLD_ON_DEMAND, BN_OLD_NOW };

struct bn_hooks_conf {
  struct bn_script *script;
};

struct bn_script {
  struct bn_script_setup setup;
  char *title;            /* file name without folder, as messages and help show it */
  char *path, *cpath;     /* package.path, package.cpath */
  char *file;             /* the script's; NULL: standard input */
  char *dir;              /* its folder with '/'; NULL: the working directory */
  enum bn_set set;        /* of which the script is one */
  struct bn_chunk *chunk; /* the script itself; in `chunks` as well */
  struct bn_chunk *chunks;
  struct bn_source *sources; /* what the main instance ran besides; see bn_oldstyle_accepts_any */
  pthread_mutex_t lock;      /* guards `chunks` while workers require modules */
  struct bn_lua *main;       /* the main instance */
  struct bn_session *main_session; /* borrowed; the main instance's */
  _Atomic uint32_t uniq;           /* draws of bn_ffi_rand_uniq so far */
  bool has_options;                /* declares sysbench.cmdline.options */
  bool takes_any;                  /* unknown options are texts for it */
  enum bn_old_names old_names;     /* whether the 0.5 interface is global in it */
  struct bn_workload ops;
  struct bn_reporter reporter;
  struct bn_hooks_conf reporter_conf;
  char *option_group;     /* "err.lua options" */
  struct bn_opt *options; /* the script's own, BN_OPT_END at the end */
  struct bn_script_option *option_info;
  size_t n_options;
  void *option_values;
  void *guard; /* stackguard.c: the handler that was installed before ours */
};

/* What a session keeps in bn_session.state. */
struct bn_script_session {
  struct bn_lua *lua;
  bool ready; /* thread_init succeeded and thread_run did not fail; thread_done is due */
};

/* --- state.c: interpreters --- */
/* Opens an interpreter with an instance in it; the script is not executed.  tid: what sysbench.tid
   says.  NULL: the reason has been logged as FATAL. */
struct bn_lua *bn_lua_open(struct bn_script *sc, struct bn_session *s, unsigned tid, bool worker);
/* Executes the top level of the script; 0, or -1 after logging why. */
int bn_lua_load(struct bn_lua *lua);
void bn_lua_close(struct bn_lua *lua);
/* Pushes the script's global of that name (nil: none); never runs a metamethod of the script. */
void bn_lua_push_global(struct bn_lua *lua, const char *name);
/* Pushes sysbench[name]. */
void bn_lua_push_field(struct bn_lua *lua, const char *name);
bool bn_lua_has_function(struct bn_lua *lua, const char *name);
/* Pushes sysbench.hooks[name]; true: it is a function, else nothing is pushed. */
bool bn_lua_push_hook(struct bn_lua *lua, const char *name);
/* Calls the function below its nargs arguments with this instance's session as the current one.
   0 with nresults on the stack, or -1: the error has been logged as "`what' function failed: …"
   (what NULL: the bare message) and the stack is as before the function was pushed. */
int bn_lua_call(struct bn_lua *lua, int nargs, int nresults, const char *what);
/* The same, for a global of the script without arguments and results; an absent one succeeds. */
int bn_lua_call_global(struct bn_lua *lua, const char *name);
/* After the last of loading: collects everything. */
void bn_lua_collect(struct bn_lua *lua);
/* In between: what a large script has left behind makes room for what its thread_init needs. */
void bn_lua_trim(struct bn_lua *lua);

/* --- instance.c: environments --- */
/* Fills lua->env_ref and lua->sysbench_ref; runs under lua_pcall, may raise. */
void bn_instance_make(struct bn_lua *lua);
/* Puts tables in the place of io, os, debug and bit that are filled when they are first used. */
void bn_instance_open_late(lua_State *L);
/* internal.dialect(): "0.5", "1.0" or "1.1" when it was asked for, else nothing. */
int bn_instance_dialect(lua_State *L);
/* The instance that a C function called from Lua serves. */
struct bn_lua *bn_instance_of(lua_State *L);
/* Pushes an internal module ("sysbench.rand"), loading it on first use; may raise. */
void bn_instance_module(lua_State *L, const char *name);

/* --- require.c: package, require, search paths --- */
char *bn_require_default_path(const char *data_dir); /* package.path; malloc'd, NULL: no memory */
char *bn_require_default_cpath(void);
/* The first readable file that a path of templates names for a module; malloc'd or NULL.
   tried (may be NULL) gets "\n\tno file '…'" for each miss. */
char *bn_require_search(const char *path, const char *name, struct bn_buf *tried);
/* Adds `package` and `require` to the environment on top of the stack; may raise. */
void bn_require_open(struct bn_lua *lua);

/* --- chunk.c: source files and the script itself --- */
/* Reads and compiles a file once per process.  On failure NULL and the Lua message, or the system's
   with code set, in msg. */
struct bn_chunk *bn_chunk_file(struct bn_script *sc, lua_State *L, const char *file,
                               struct bn_buf *msg, int *code);
/* The script on standard input; NULL: why is in err. */
struct bn_chunk *bn_chunk_stdin(struct bn_script *sc, lua_State *L, struct bn_err *err);
/* Remembers a file that the main instance runs by other means. */
void bn_chunk_note(struct bn_script *sc, const char *file);
void bn_chunk_free(struct bn_script *sc);
/* Pushes the function of a chunk with the instance's environment; 0, or -1 and a message pushed. */
int bn_chunk_push(lua_State *L, const struct bn_chunk *c);

/* --- find.c: the script itself --- */
/* Finds the file that setup.name means and fills sc->file, dir and set; says on stderr when a
   bundled script takes the place of one that does not exist.  0, or -1 and err. */
int bn_find(struct bn_script *sc, struct bn_err *err);
/* Users name files of old installations: ours in the place of one that does not exist, malloc'd, or
   NULL; says so on stderr unless quiet. */
char *bn_find_instead(const struct bn_script *sc, const char *name, bool quiet);
/* Compiles it; fills sc->chunk.  0, or -1 and err. */
int bn_find_compile(struct bn_script *sc, lua_State *L, struct bn_err *err);

/* --- oldstyle.c: scripts that declare no options --- */
/* Whether the script declares none and so takes any; says on stderr which of them it and the files
   it loaded never mention. */
bool bn_oldstyle_accepts_any(struct bn_script *sc);

/* --- library.c: functions of the standard libraries --- */
/* Replaces those of the library, whose table is on top, that have to know of the program. */
void bn_library_wrap(lua_State *L, const char *library);
/* The error value on top is what os.exit() raised to end the run. */
bool bn_library_leaves(lua_State *L);

/* --- cmdline.c: sysbench.cmdline --- */
void bn_cmdline_make(struct bn_lua *lua); /* pushes a new one; may raise */
bool bn_cmdline_find(struct bn_lua *lua, const char *name, bool *parallel);
/* Pushes the command's function; false: nothing pushed, no such command. */
bool bn_cmdline_push(struct bn_lua *lua, const char *name);

/* --- workload.c --- */
void bn_workload_fill(struct bn_script *sc);
void bn_workload_complete(struct bn_script *sc); /* what only the loaded script shows */

/* --- hooks.c --- */
void bn_hooks_fill(struct bn_script *sc);
void bn_hooks_complete(struct bn_script *sc);

/* --- stackguard.c --- */
/* Installs the handler once per process and removes it. */
int bn_stackguard_install(struct bn_script *sc);
void bn_stackguard_remove(struct bn_script *sc);
/* Calls fn(arg) for the instance that is the current one, with the thread's C stack guarded;
   returns what it returns. */
int bn_stackguard_call(struct bn_lua *lua, int (*fn)(void *arg), void *arg);
/* Gives the unused part of a worker's stack back: loading a script needs far more of it than an
 * event. */
void bn_stackguard_release(void);

#endif

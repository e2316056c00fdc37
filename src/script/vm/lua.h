/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An interpreter, the data that all interpreters of a script share, and the current one of a
   thread. */
#ifndef BN_SCRIPT_VM_LUA_H
#define BN_SCRIPT_VM_LUA_H

#include <stdbool.h>
#include <stdint.h>

#include <lauxlib.h>
#include <lua.h>

#include "script/setup.h"
#include "script/vm/heap.h"
#include "script/vm/script_file.h"

struct bn_api;
struct bn_chunk;
struct bn_chunks;
struct bn_mix;
struct bn_session;
struct bn_shared;
struct bn_shared_pools;
struct bn_vm_table;

/* The time at which names of the 0.5 interface appear. */
enum bn_old_names { BN_OLD_NONE, BN_OLD_ON_DEMAND, BN_OLD_NOW };

/* The data from which vm.h makes the interpreters of a script; complete before a worker's
   interpreter opens, and constant from then on. */
struct bn_vm {
  const struct bn_script_setup *setup; /* borrowed */
  const struct bn_vm_table *table;     /* borrowed; env.h */
  char *path, *cpath;                  /* package.path, package.cpath */
  struct bn_script_place place;        /* place of the script */
  struct bn_mix *mix;                  /* the scripts of several workloads; NULL: one script */
  struct bn_chunks *chunks;            /* all sources; with a lock of its own */
  const struct bn_chunk *chunk;        /* the script itself, in `chunks`; NULL with `mix` */
  enum bn_old_names old_names;         /* set by script.c */
  struct bn_shared_pools *pools;       /* --workers: by worker; NULL: nothing is shared */
  struct bn_api *api; /* for the functions of the table; vm/ does not look into it */
};

/* The reason of the last failed call. */
struct bn_lua_failure {
  char kind[64]; /* the server's error, or the place in the script; UTF-8 */
  char *text;    /* owned; NULL: none */
};

/* An interpreter and the script instance that lives in it.  An instance is an environment: its own
   globals, its own `sysbench` table, its own loaded modules.  One thread at a time uses it. */
struct bn_lua {
  lua_State *L;               /* the interpreter, or the session's coroutine in a shared one */
  struct bn_shared *shared;   /* that interpreter, if sessions share it; NULL: it is not shared */
  const struct bn_vm *vm;     /* borrowed */
  struct bn_session *session; /* borrowed; has the events and random numbers of the script */
  const struct bn_script_place *place; /* borrowed; of the script whose code runs */
  struct bn_heap *heap;                /* owned memory of L; NULL: it is shared */
  int env_ref, sysbench_ref;           /* registry references of the two tables of that script */
  int thread_ref;                      /* shared: of L */
  int thread_run_ref;                  /* the preset thread_run, to recognise a script's own */
  unsigned exits;                      /* number of times that os.exit() has ended the run */
  bool worker; /* not the main instance: submodules are loaded at first use */
  bool traced; /* the traceback of the current error is on stderr */
  /* The last failure needs no further message: it was logged that there is no driver or connection,
     or that the server does not allow so many prepared statements; or the session was
     interrupted. */
  bool reported;
  char sql_state[6]; /* SQLSTATE of the last failed statement, if messages with it differ between
                        threads; else "" */
  struct bn_lua_failure failure;
};

/* Returns a new interpreter, whose memory is in *heap if LuaJIT allows that. */
lua_State *bn_lua_new_state(struct bn_heap *heap);

/* The instance whose Lua code runs on this thread.  Only bn_lua_enter writes it; it is a variable
   and not a function, because every event reads it. */
extern _Thread_local struct bn_lua *bn_lua_entered
    __attribute__((visibility("hidden"), tls_model("local-exec")));

/* Returns the instance whose Lua code runs on this thread; not NULL while such code runs. */
static inline struct bn_lua *bn_lua_current(void)
{
  return bn_lua_entered;
}

/* Makes an instance, or none (NULL), the current one of this thread.  Returns the previous one,
   which the caller restores. */
struct bn_lua *bn_lua_enter(struct bn_lua *lua);

/* Returns whether no other instance can use its interpreter: it is of no session that shares its
   worker, and of no script of a mix. */
bool bn_lua_is_alone(const struct bn_lua *lua);

/* Pushes the script's global of that name, or nil; never runs a metamethod of the script. */
void bn_lua_push_global(struct bn_lua *lua, const char *name);
/* Replaces the table on top by its entry of that name, and a value that is not a table by nil;
   never runs a metamethod of the script. */
void bn_lua_replace_by_entry(lua_State *L, const char *name);
/* Returns whether a key follows `last` in byte order and precedes `next`, where NULL is no bound:
   then it is nearer to `last` than `next`, in a search for the key that follows `last`. */
bool bn_lua_is_between(const char *key, const char *last, const char *next);
/* Returns the function of that name, or NULL if the list has none. */
lua_CFunction bn_lua_find_function(const luaL_Reg *list, const char *name);
/* Copies the entries of the table at index `from` into the table at index `to`. */
void bn_lua_copy_entries(lua_State *L, int from, int to);
/* Pushes sysbench[name], or nil; never runs a metamethod of the script. */
void bn_lua_push_field(struct bn_lua *lua, const char *name);
/* Returns whether the script has a global function of that name. */
bool bn_lua_has_function(struct bn_lua *lua, const char *name);
/* Collects all garbage after loading, because it would stay as gaps in the heap, and sets the pace
   of the collector for the run. */
void bn_lua_collect(struct bn_lua *lua);
/* Collects the garbage of loading a large script, to make room for its thread_init.  Does nothing
   for a shared interpreter, which collects while it loads the next instance. */
void bn_lua_trim(struct bn_lua *lua);

#endif

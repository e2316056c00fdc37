/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Source files of a script: read and compiled once per process. */
#ifndef BN_SCRIPT_VM_CHUNK_H
#define BN_SCRIPT_VM_CHUNK_H

#include <stdbool.h>

#include <lua.h>

#include "base/err.h"

struct bn_buf;
struct bn_chunk; /* one source as bytecode, constant and shared by all interpreters */
struct bn_script_setup;
struct bn_chunks; /* all sources of a script; any thread may use it */

/* Messages show names of files without the folder of files from another host. */
struct bn_chunks *bn_chunks_new(const struct bn_script_setup *setup);
void bn_chunks_free(struct bn_chunks *all);
/* Reads and compiles a file, unless it is compiled already.  Returns NULL after a failure, with the
   message of Lua or the system in msg. */
const struct bn_chunk *bn_chunks_file(struct bn_chunks *all, lua_State *L, const char *file,
                                      struct bn_buf *msg);
/* Compiles the script on standard input; NULL: err has the reason.  Unless it may be blank, white
   space alone is no script, and err->code is ENODATA. */
const struct bn_chunk *bn_chunks_stdin(struct bn_chunks *all, lua_State *L, bool may_be_blank,
                                       struct bn_err *err);
/* Returns whether one of the sources that were compiled draws from math.random, whose stream is the
   interpreter's. */
bool bn_chunks_draw(struct bn_chunks *all);
/* Compares a file that is run by other means with that of another host, if that is wanted.  Returns
   false if it is another one. */
bool bn_chunks_compare(struct bn_chunks *all, const char *file);
/* Remembers a file that the main instance runs by other means. */
void bn_chunks_note(struct bn_chunks *all, const char *file);
/* Calls fn with every compiled file, then with every noted one; called before workers exist. */
void bn_chunks_each(const struct bn_chunks *all, void (*fn)(void *arg, const char *file),
                    void *arg);
/* Pushes the function of a chunk with the environment of L, for the current instance; 0, or -1 and
   pushes a message. */
int bn_chunk_push(lua_State *L, const struct bn_chunk *c);

#endif

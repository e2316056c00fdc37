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

/* Returns an object without sources.  Messages show names of files without the folder of files from
   another host. */
struct bn_chunks *bn_chunks_new(const struct bn_script_setup *setup);
void bn_chunks_free(struct bn_chunks *all);
/* Returns the chunk of a file, which it reads and compiles unless that was done before.  After a
   failure it returns NULL, and msg gets the message of Lua or the system. */
const struct bn_chunk *bn_chunks_load_file(struct bn_chunks *all, lua_State *L, const char *file,
                                           struct bn_buf *msg);
/* Compiles the script on standard input, before any other source.  Returns NULL and err after a
   failure, with the code ENODATA if no test is named and standard input has no script. */
const struct bn_chunk *bn_chunks_load_stdin(struct bn_chunks *all, lua_State *L,
                                            struct bn_err *err);
/* Returns whether one of the sources that were compiled draws from math.random, whose stream is the
   interpreter's. */
bool bn_chunks_use_random(struct bn_chunks *all);
/* Returns false if a file, which Lua itself will read, has another content on the host that files
   are compared with.  Returns true also if there is no such host, or if the file cannot be read. */
bool bn_chunks_compare(struct bn_chunks *all, const char *file);
/* Notes a file that Lua itself reads, for bn_chunks_each.  Only for the main instance. */
void bn_chunks_note(struct bn_chunks *all, const char *file);
/* Calls fn with every compiled file, then with every noted one.  It takes no lock, so it is called
   before workers exist. */
void bn_chunks_each(const struct bn_chunks *all, void (*fn)(void *arg, const char *file),
                    void *arg);
/* Pushes the function of a chunk, for the current instance, with the globals of L as environment.
   Returns 0, or -1 after pushing a message instead. */
int bn_chunk_push(lua_State *L, const struct bn_chunk *c);

#endif

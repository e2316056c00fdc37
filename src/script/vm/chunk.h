/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Source files of a script: read and compiled once per process. */
#ifndef BN_SCRIPT_VM_CHUNK_H
#define BN_SCRIPT_VM_CHUNK_H

#include <stdbool.h>

#include <lua.h>

#include "base/err.h"

struct bn_buf;
struct bn_chunk;  /* one source as bytecode, constant and shared by all interpreters */
struct bn_chunks; /* all of a script; any thread */

/* Messages have the names of files below `folder` without it; NULL: all are as they were opened.
   NULL: no memory. */
struct bn_chunks *bn_chunks_new(const char *folder);
void bn_chunks_free(struct bn_chunks *all);
/* Reads and compiles a file, unless it has been.  On failure NULL, and the Lua message or the
   system's in msg. */
const struct bn_chunk *bn_chunks_file(struct bn_chunks *all, lua_State *L, const char *file,
                                      struct bn_buf *msg);
/* The script on standard input; NULL: why is in err.  Unless it may be blank, nothing but white
   space is no script, and err->code is ENODATA. */
const struct bn_chunk *bn_chunks_stdin(struct bn_chunks *all, lua_State *L, bool may_be_blank,
                                       struct bn_err *err);
/* Remembers a file that the main instance runs by other means. */
void bn_chunks_note(struct bn_chunks *all, const char *file);
/* Calls fn with every file that was compiled, then with those noted; before there are workers. */
void bn_chunks_each(const struct bn_chunks *all, void (*fn)(void *arg, const char *file),
                    void *arg);
/* Pushes the function of a chunk with the instance's environment; 0, or -1 and a message pushed. */
int bn_chunk_push(lua_State *L, const struct bn_chunk *c);

#endif

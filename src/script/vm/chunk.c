/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Source files: read and compiled once per process, then handed to every interpreter as
   bytecode. */
#include "script/vm/chunk.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lauxlib.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"
#include "option/conf.h"
#include "script/setup.h"
#include "script/vm/lua.h"

struct bn_chunk {
  struct bn_chunk *next;
  char *file;      /* name as opened; the key */
  char *chunkname; /* "@L/err.lua", "=stdin" */
  char *data;
  size_t len;
  struct bn_chunk *maker; /* a chunk that makes the function anew at each call; NULL: none */
};

/* A file that dofile or loadfile has run. */
struct noted_file {
  struct noted_file *next;
  char *file;
};

struct bn_chunks {
  pthread_mutex_t lock; /* guards the list `first` while workers require modules */
  struct bn_chunk *first;
  struct noted_file *noted;            /* files of the main instance */
  const struct bn_script_setup *setup; /* borrowed */
  _Atomic bool use_random;             /* bn_chunks_use_random */
};

/* The most bytes of a source, because a device may have no end. */
enum { SOURCE_MAX = 64 << 20 };

/* A lua_Writer: appends bytecode to a struct bn_buf. */
static int chunk_append_code(lua_State *L, const void *data, size_t len, void *ud)
{
  (void)L;
  return bn_buf_add(ud, data, len);
}

static void chunk_free(struct bn_chunk *c)
{
  if (c->maker != NULL)
    chunk_free(c->maker);
  free(c->file);
  free(c->chunkname);
  free(c->data);
  free(c);
}

/* Compiles a text into a chunk, which owns `file` and `chunkname`.  After a failure frees both,
   returns NULL and pushes the message. */
static struct bn_chunk *chunk_compile(lua_State *L, char *file, char *chunkname,
                                      const struct bn_buf *text)
{
  struct bn_chunk *c = bn_alloc(1, sizeof *c);
  struct bn_buf code;

  bn_buf_init(&code, 0);
  c->file = file;
  c->chunkname = chunkname;
  if (luaL_loadbuffer(L, text->data, text->len, chunkname) != 0) {
    chunk_free(c);
    return NULL;
  }
  if (lua_dump(L, chunk_append_code, &code) != 0) /* only for lack of memory */
    bn_alloc_fail();
  lua_pop(L, 1);
  c->len = code.len;
  c->data = bn_buf_take(&code);
  return c;
}

/* Compiles "return function(...) TEXT\nend".  Sessions that share an interpreter load this once,
   and each of them calls it for a function of its own.  The text begins on the first line, so that
   its line numbers stay right, and the newline ends a comment in its last line.  Returns NULL if
   the text compiles only outside of a function: then each session loads the bytecode of c. */
static struct bn_chunk *chunk_compile_maker(lua_State *L, const struct bn_chunk *c,
                                            const struct bn_buf *text)
{
  struct bn_buf wrapped;

  bn_buf_init(&wrapped, 0);
  (void)bn_buf_str(&wrapped, "return function(...) ");
  (void)bn_buf_add(&wrapped, text->data, text->len);
  (void)bn_buf_str(&wrapped, "\nend");
  struct bn_chunk *maker =
      chunk_compile(L, bn_alloc_text(c->file), bn_alloc_text(c->chunkname), &wrapped);

  if (maker == NULL)
    lua_pop(L, 1); /* the message: c does without a maker */
  bn_buf_done(&wrapped);
  return maker;
}

/* Sets use_random if the text names math.random.  Sessions must not share its stream, so they then
   get interpreters of their own from the start.  If a script calls the function by another name
   (`local m = math`), internal.wants_own() finds that when the script draws a number. */
static void chunk_detect_random(struct bn_chunks *all, const struct bn_buf *text)
{
  static const char function[] = "math.random";

  if (memmem(text->data, text->len, function, sizeof function - 1) != NULL)
    atomic_store(&all->use_random, true);
}

/* Makes a chunk for the list as chunk_compile() does, for sessions that may share an interpreter
   (--workers).  A chunk that was made before the script gave --workers a default has no maker:
   then each session loads its bytecode. */
static struct bn_chunk *chunk_make(struct bn_chunks *all, lua_State *L, char *file, char *chunkname,
                                   const struct bn_buf *text)
{
  struct bn_chunk *c = chunk_compile(L, file, chunkname, text);

  if (c == NULL)
    return NULL;
  if (all->setup->conf->raw.workers != 0)
    c->maker = chunk_compile_maker(L, c, text);
  chunk_detect_random(all, text);
  return c;
}

bool bn_chunks_use_random(struct bn_chunks *all)
{
  return atomic_load(&all->use_random);
}

/* Returns the chunk of a file, or NULL.  The caller holds the lock. */
static struct bn_chunk *chunk_find(const struct bn_chunks *all, const char *file)
{
  struct bn_chunk *c = all->first;

  while (c != NULL && strcmp(c->file, file) != 0)
    c = c->next;
  return c;
}

struct bn_chunks *bn_chunks_new(const struct bn_script_setup *setup)
{
  struct bn_chunks *all = bn_alloc(1, sizeof *all);

  all->setup = setup;
  (void)pthread_mutex_init(&all->lock, NULL);
  return all;
}

/* Returns whether the host that files are compared with has the same text for the file.  Returns
   true also if there is no such host, or if the file comes from it. */
static bool chunk_is_same_on_host(const struct bn_chunks *all, const char *file,
                                  const struct bn_buf *text)
{
  const struct bn_script_setup *setup = all->setup;

  if (setup->compare == NULL || bn_script_file_folder_length(file, setup->sent_dir) > 0)
    return true;
  return setup->compare(setup->other, file, bn_script_file_folder_length(file, setup->data_dir),
                        text->data, text->len);
}

bool bn_chunks_compare(struct bn_chunks *all, const char *file)
{
  struct bn_buf text;

  if (all->setup->compare == NULL)
    return true;
  bn_buf_init(&text, SOURCE_MAX);
  /* One thread at a time asks the host. */
  (void)pthread_mutex_lock(&all->lock);
  /* A file that cannot be read counts as the same: Lua will say so when it reads the file. */
  const bool is_same = bn_file_read(file, &text) != 0 || chunk_is_same_on_host(all, file, &text);

  (void)pthread_mutex_unlock(&all->lock);
  bn_buf_done(&text);
  return is_same;
}

/* Compiles the text of a file and adds its chunk to the list.  Returns NULL and a message if the
   text does not compile.  The caller holds the lock. */
static struct bn_chunk *chunk_add(struct bn_chunks *all, lua_State *L, const char *file,
                                  const struct bn_buf *text, struct bn_buf *msg)
{
  /* Messages show a file from another host without its folder. */
  const size_t folder = bn_script_file_folder_length(file, all->setup->sent_dir);
  const char *shown = folder > 0 ? file + folder + 1 : file;
  struct bn_chunk *c = chunk_make(all, L, bn_alloc_text(file), bn_alloc_print("@%s", shown), text);

  if (c == NULL) {
    (void)bn_buf_str(msg, lua_tostring(L, -1));
    lua_pop(L, 1);
    return NULL;
  }
  c->next = all->first;
  all->first = c;
  return c;
}

/* Reads and compiles a file, and adds its chunk to the list.  Returns NULL and a message after a
   failure.  The caller holds the lock. */
static struct bn_chunk *chunk_compile_file(struct bn_chunks *all, lua_State *L, const char *file,
                                           struct bn_buf *msg)
{
  struct bn_chunk *c = NULL;
  struct bn_buf text;

  bn_buf_init(&text, SOURCE_MAX);
  if (bn_file_read(file, &text) != 0)
    (void)bn_buf_printf(msg, "cannot open %s: %s", file, strerror(errno));
  else if (!chunk_is_same_on_host(all, file, &text))
    (void)bn_buf_printf(msg, "%s is another file than that of the controller", file);
  else
    c = chunk_add(all, L, file, &text, msg);
  bn_buf_done(&text);
  return c;
}

const struct bn_chunk *bn_chunks_load_file(struct bn_chunks *all, lua_State *L, const char *file,
                                           struct bn_buf *msg)
{
  (void)pthread_mutex_lock(&all->lock);
  struct bn_chunk *c = chunk_find(all, file);

  if (c == NULL)
    c = chunk_compile_file(all, L, file, msg);
  (void)pthread_mutex_unlock(&all->lock);
  return c;
}

static bool chunk_is_blank(const struct bn_buf *text)
{
  static const char blanks[] = {' ', '\t', '\r', '\n', '\v', '\f'};
  size_t i = 0;

  while (i < text->len && memchr(blanks, text->data[i], sizeof blanks) != NULL)
    i++;
  return i == text->len;
}

const struct bn_chunk *bn_chunks_load_stdin(struct bn_chunks *all, lua_State *L, struct bn_err *err)
{
  /* A script may be empty in a dialect, as in sysbench, and if the user has typed "-". */
  const bool may_be_blank = all->setup->name != NULL || all->setup->conf->policy->plain_errors;
  struct bn_buf text;
  struct bn_chunk *c = NULL;

  bn_buf_init(&text, SOURCE_MAX);
  if (bn_file_read_all(STDIN_FILENO, &text) != 0) {
    (void)bn_err_set(err, errno, "cannot read the standard input: %s", strerror(errno));
  } else if (!may_be_blank && chunk_is_blank(&text)) {
    (void)bn_err_set(err, ENODATA,
                     "no test is named, and standard input has no script; name a test, for "
                     "example: bench cpu run (see bench --help)");
  } else {
    c = chunk_make(all, L, bn_alloc_text("stdin"), bn_alloc_text("=stdin"), &text);
    if (c == NULL)
      (void)bn_err_set(err, EINVAL, "%s", lua_tostring(L, -1));
  }
  bn_buf_done(&text);
  all->first = c; /* the list was empty, because the script is the first source */
  return c;
}

/* Loads the bytecode and pushes its function.  Returns 0, or -1 after pushing a message instead. */
static int chunk_push_function(lua_State *L, const struct bn_chunk *c)
{
  return luaL_loadbuffer(L, c->data, c->len, c->chunkname) == 0 ? 0 : -1;
}

/* Pushes the function of a maker.  An interpreter loads it once and keeps it in its registry, under
   the address of the maker.  Returns 0, or -1 after pushing a message instead. */
static int chunk_push_maker(lua_State *L, const struct bn_chunk *maker)
{
  lua_pushlightuserdata(L, (void *)(uintptr_t)maker);
  lua_rawget(L, LUA_REGISTRYINDEX);
  if (lua_isfunction(L, -1))
    return 0;
  lua_pop(L, 1);
  if (chunk_push_function(L, maker) != 0)
    return -1;
  lua_pushlightuserdata(L, (void *)(uintptr_t)maker);
  lua_pushvalue(L, -2);
  lua_rawset(L, LUA_REGISTRYINDEX);
  return 0;
}

int bn_chunk_push(lua_State *L, const struct bn_chunk *c)
{
  if (bn_lua_current()->shared == NULL || c->maker == NULL)
    return chunk_push_function(L, c);
  if (chunk_push_maker(L, c->maker) != 0)
    return -1;
  lua_call(L, 0, 1);
  /* The function has the environment of its maker: the globals of the session that loaded it. */
  lua_pushvalue(L, LUA_GLOBALSINDEX);
  (void)lua_setfenv(L, -2);
  return 0;
}

void bn_chunks_note(struct bn_chunks *all, const char *file)
{
  struct noted_file *entry = bn_alloc(1, sizeof *entry);

  entry->file = bn_alloc_text(file);
  entry->next = all->noted;
  all->noted = entry;
}

void bn_chunks_each(const struct bn_chunks *all, void (*fn)(void *arg, const char *file), void *arg)
{
  for (const struct bn_chunk *c = all->first; c != NULL; c = c->next)
    fn(arg, c->file);
  for (const struct noted_file *n = all->noted; n != NULL; n = n->next)
    fn(arg, n->file);
}

void bn_chunks_free(struct bn_chunks *all)
{
  while (all->noted != NULL) {
    struct noted_file *next = all->noted->next;

    free(all->noted->file);
    free(all->noted);
    all->noted = next;
  }
  while (all->first != NULL) {
    struct bn_chunk *next = all->first->next;

    chunk_free(all->first);
    all->first = next;
  }
  (void)pthread_mutex_destroy(&all->lock);
  free(all);
}

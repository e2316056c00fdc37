/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Source files: read and compiled once per process, then handed to every interpreter as bytecode.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lauxlib.h>

#include "script/vm/state.h"

static int read_all(int fd, struct bn_buf *text)
{
  for (;;) {
    if (bn_buf_reserve(text, 65536) != 0)
      return ENOMEM;
    const ssize_t n = read(fd, text->data + text->len, 65535);

    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return errno;
    if (n == 0)
      return 0;
    text->len += (size_t)n;
  }
}

static int read_file(const char *file, struct bn_buf *text)
{
  const int fd = open(file, O_RDONLY | O_CLOEXEC);

  if (fd < 0)
    return errno;
  const int code = read_all(fd, text);

  (void)close(fd);
  return code;
}

static int append(lua_State *L, const void *data, size_t len, void *ud)
{
  (void)L;
  return bn_buf_add(ud, data, len);
}

static void free_chunk(struct bn_chunk *c)
{
  if (c == NULL)
    return;
  free(c->file);
  free(c->chunkname);
  free(c->data);
  free(c);
}

/* Compiles; takes file and chunkname over.  NULL: the message is on top of the Lua stack. */
static struct bn_chunk *compile(lua_State *L, char *file, char *chunkname,
                                const struct bn_buf *text)
{
  struct bn_chunk *c = calloc(1, sizeof *c);
  struct bn_buf code;

  bn_buf_init(&code, 0);
  if (c != NULL) {
    c->file = file;
    c->chunkname = chunkname;
  } else {
    free(file);
    free(chunkname);
  }
  if (c == NULL || file == NULL || chunkname == NULL) {
    lua_pushliteral(L, "not enough memory");
  } else if (luaL_loadbuffer(L, text->data != NULL ? text->data : "", text->len, chunkname) == 0) {
    const int rc = lua_dump(L, append, &code);

    lua_pop(L, 1);
    c->len = code.len;
    if (rc == 0 && (c->data = bn_buf_take(&code)) != NULL)
      return c;
    lua_pushliteral(L, "not enough memory");
  }
  bn_buf_done(&code);
  free_chunk(c);
  return NULL;
}

static struct bn_chunk *known(struct bn_script *sc, const char *file)
{
  struct bn_chunk *c = sc->chunks;

  while (c != NULL && strcmp(c->file, file) != 0)
    c = c->next;
  return c;
}

static char *name_after(char mark, const char *file)
{
  struct bn_buf b;

  bn_buf_init(&b, 0);
  (void)bn_buf_char(&b, mark);
  (void)bn_buf_str(&b, file);
  return bn_buf_take(&b);
}

struct bn_chunk *bn_chunk_file(struct bn_script *sc, lua_State *L, const char *file,
                               struct bn_buf *msg, int *code)
{
  struct bn_buf text;
  int failed = 0;

  bn_buf_init(&text, 0);
  (void)pthread_mutex_lock(&sc->lock);
  struct bn_chunk *c = known(sc, file);

  if (c == NULL && (failed = read_file(file, &text)) == 0) {
    c = compile(L, strdup(file), name_after('@', file), &text);
    if (c != NULL) {
      c->next = sc->chunks;
      sc->chunks = c;
    } else {
      (void)bn_buf_str(msg, lua_tostring(L, -1));
      lua_pop(L, 1);
    }
  }
  (void)pthread_mutex_unlock(&sc->lock);
  if (failed != 0)
    (void)bn_buf_printf(msg, "cannot open %s: %s", file, strerror(failed));
  if (code != NULL)
    *code = failed;
  bn_buf_done(&text);
  return c;
}

int bn_chunk_push(lua_State *L, const struct bn_chunk *c)
{
  return luaL_loadbuffer(L, c->data, c->len, c->chunkname) == 0 ? 0 : -1;
}

void bn_chunk_note(struct bn_script *sc, const char *file)
{
  struct bn_source *s = calloc(1, sizeof *s);

  if (s == NULL || (s->file = strdup(file)) == NULL) {
    free(s);
    return;
  }
  s->next = sc->sources;
  sc->sources = s;
}

void bn_chunk_free(struct bn_script *sc)
{
  while (sc->sources != NULL) {
    struct bn_source *next = sc->sources->next;

    free(sc->sources->file);
    free(sc->sources);
    sc->sources = next;
  }
  while (sc->chunks != NULL) {
    struct bn_chunk *next = sc->chunks->next;

    free_chunk(sc->chunks);
    sc->chunks = next;
  }
}

struct bn_chunk *bn_chunk_stdin(struct bn_script *sc, lua_State *L, struct bn_err *err)
{
  struct bn_buf text;
  struct bn_chunk *c = NULL;

  bn_buf_init(&text, 0);
  const int code = read_all(STDIN_FILENO, &text);

  if (code != 0)
    (void)bn_err_set(err, code, "cannot read the standard input: %s", strerror(code));
  else if ((c = compile(L, strdup("stdin"), strdup("=stdin"), &text)) == NULL)
    (void)bn_err_set(err, EINVAL, "%s", lua_tostring(L, -1));
  bn_buf_done(&text);
  sc->chunks = c;
  return c;
}

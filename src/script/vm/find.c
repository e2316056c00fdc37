/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which file the user means: as typed, a module, or one of ours in place of an old installation. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "option/conf.h"
#include "script/vm/state.h"

/* Of the data folder. */
static const char legacy_folder[] = "/tests/include/oltp_legacy";

static bool is_readable_file(const char *path)
{
  struct stat st;

  return stat(path, &st) == 0 && !S_ISDIR(st.st_mode) && access(path, R_OK) == 0;
}

/* Length of a path without a trailing ".lua". */
static size_t bare_length(const char *name)
{
  const size_t len = strlen(name);

  return len > 4 && strcmp(name + len - 4, ".lua") == 0 ? len - 4 : len;
}

/* The bundled script whose file name, with or without ".lua", is the end of `name`; NULL: none. */
static char *bundled(const struct bn_script *sc, enum bn_set set, const char *name)
{
  const char *slash = strrchr(name, '/');
  const char *base = slash != NULL ? slash + 1 : name;
  struct bn_buf b;

  if (sc->setup.data_dir == NULL || base[0] == '\0')
    return NULL;
  bn_buf_init(&b, 0);
  (void)bn_buf_printf(&b, "%s%s/%.*s.lua", sc->setup.data_dir,
                      set == BN_SET_LEGACY ? legacy_folder : "", (int)bare_length(base), base);
  char *file = bn_buf_take(&b);

  if (file != NULL && is_readable_file(file))
    return file;
  free(file);
  return NULL;
}

/* Whether the path's last folders are these, "tests/db". */
static bool is_in(const char *name, const char *folders)
{
  const char *slash = strrchr(name, '/');
  const size_t len = strlen(folders), at = slash != NULL ? (size_t)(slash - name) : 0;

  return at >= len && strncmp(slash - len, folders, len) == 0 &&
         (at == len || slash[-(ptrdiff_t)len - 1] == '/');
}

char *bn_find_instead(const struct bn_script *sc, const char *name, bool quiet)
{
  char *file = NULL;

  if (is_readable_file(name))
    return NULL;
  if (is_in(name, "oltp_legacy") || is_in(name, "tests/db")) {
    file = bundled(sc, BN_SET_LEGACY, name);
  } else if (is_in(name, "sysbench")) {
    const bool old = sc->setup.conf->version == BN_V05;

    file = bundled(sc, old ? BN_SET_LEGACY : BN_SET_MODERN, name);
    if (file == NULL)
      file = bundled(sc, old ? BN_SET_MODERN : BN_SET_LEGACY, name);
  }
  if (file != NULL && !quiet)
    bn_log_stderr("%s does not exist; using the bundled %s", name, file);
  return file;
}

/* As a module: on package.path, then without ".lua". */
static char *find_module(const struct bn_script *sc, const char *name)
{
  char *file = bn_require_search(sc->path, name, NULL);
  const size_t len = bare_length(name);

  if (file == NULL && name[len] != '\0') {
    char *bare = strndup(name, len);

    file = bare != NULL ? bn_require_search(sc->path, bare, NULL) : NULL;
    free(bare);
  }
  return file;
}

static char *find_file(const struct bn_script *sc, const char *name)
{
  char *file = NULL;

  if (is_readable_file(name))
    return strdup(name);
  /* In 0.5 a bare name is a workload of its own set. */
  if (sc->setup.conf->version == BN_V05 && strchr(name, '/') == NULL)
    file = bundled(sc, BN_SET_LEGACY, name);
  if (file == NULL)
    file = find_module(sc, name);
  return file != NULL ? file : bn_find_instead(sc, name, false);
}

static int not_found(const struct bn_script *sc, const char *name, struct bn_err *err)
{
  if (sc->setup.conf->version != BN_V05)
    return bn_err_set(err, ENOENT,
                      "Cannot find benchmark '%s': no such built-in test, file or module", name);
  bn_log_stderr("PANIC: unprotected error in call to Lua API (cannot open %s/%s%s: %s)",
                sc->setup.data_dir, name, strchr(name, '.') == NULL ? ".lua" : "",
                strerror(ENOENT));
  return bn_err_set(err, ENOENT, "%s", "");
}

/* Which of ours the file is, if its folder, under whichever name, is one of ours. */
static enum bn_set set_of(const struct bn_script *sc)
{
  char *dir = sc->dir != NULL ? realpath(sc->dir, NULL) : NULL;
  char *data = sc->setup.data_dir != NULL ? realpath(sc->setup.data_dir, NULL) : NULL;
  const size_t len = data != NULL ? strlen(data) : 0;
  enum bn_set set = BN_SET_USER;

  if (dir != NULL && len > 0 && strncmp(dir, data, len) == 0) {
    if (strcmp(dir + len, legacy_folder) == 0)
      set = BN_SET_LEGACY;
    else if (dir[len] == '\0')
      set = BN_SET_MODERN;
  }
  free(dir);
  free(data);
  return set;
}

int bn_find(struct bn_script *sc, struct bn_err *err)
{
  const char *name = sc->setup.name, *slash;

  if (name == NULL || strcmp(name, "-") == 0)
    return 0;
  sc->file = find_file(sc, name);
  if (sc->file == NULL)
    return not_found(sc, name, err);
  slash = strrchr(sc->file, '/');
  if (slash != NULL && (sc->dir = strndup(sc->file, (size_t)(slash - sc->file) + 1)) == NULL)
    return bn_err_set(err, ENOMEM, "out of memory");
  sc->set = set_of(sc);
  return 0;
}

int bn_find_compile(struct bn_script *sc, lua_State *L, struct bn_err *err)
{
  struct bn_buf msg;

  if (sc->file == NULL) {
    if (isatty(STDIN_FILENO))
      bn_log(BN_NOTICE, "Reading the script from the standard input:\n");
    sc->chunk = bn_chunk_stdin(sc, L, err);
    return sc->chunk != NULL ? 0 : -1;
  }
  bn_buf_init(&msg, 0);
  sc->chunk = bn_chunk_file(sc, L, sc->file, &msg, NULL);
  const char *text = msg.data != NULL ? msg.data : "not enough memory";

  if (sc->chunk == NULL && strcmp(sc->file, sc->setup.name) == 0)
    (void)bn_err_set(err, EINVAL, "%s", text);
  else if (sc->chunk == NULL)
    (void)bn_err_set(err, EINVAL, "error loading module '%s' from file '%s':\n\t%s", sc->setup.name,
                     sc->file, text);
  bn_buf_done(&msg);
  return sc->chunk != NULL ? 0 : -1;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files and folders of studies in Lua. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/plugin.h"
#include "study/ending.h"
#include "study/int64.h"
#include "study/native.h"

static const char lock_key[] = "bn.lock";

/* Pushes nil and the sentence "cannot VERB 'PATH': WHY", and returns their number. */
static int files_push_error(lua_State *L, const char *verb, const char *path, int error)
{
  lua_pushnil(L);
  lua_pushfstring(L, "cannot %s '%s': %s", verb, path, strerror(error));
  return 2;
}

/* --- a lock --- */

/* lock:release(), and the metamethod __gc of a lock.  A lock is the descriptor of the folder, or -1
   once it was released. */
static int files_release_lock(lua_State *L)
{
  int *fd = luaL_checkudata(L, 1, lock_key);

  if (*fd >= 0)
    (void)close(*fd);
  *fd = -1;
  return 0;
}

/* native.lock(folder): returns a lock, or nil and a sentence about --out, which has named the
   folder. */
static int native_lock(lua_State *L)
{
  const char *path = luaL_checkstring(L, 1);
  int *fd = lua_newuserdata(L, sizeof *fd);

  *fd = -1; /* nothing to close, for __gc */
  bn_native_set_mark(L, lock_key);
  *fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (*fd >= 0 && flock(*fd, LOCK_EX | LOCK_NB) == 0)
    return 1;
  const int error = errno;

  lua_pushnil(L);
  if (*fd < 0)
    lua_pushfstring(L, "--out=%s: cannot open the folder: %s", path, strerror(error));
  else if (error == EWOULDBLOCK)
    lua_pushfstring(L, "--out=%s: another sweep uses this folder now", path);
  else
    lua_pushfstring(L, "--out=%s: cannot lock the folder: %s", path, strerror(error));
  return 2;
}

void bn_native_open_files(lua_State *L)
{
  luaL_newmetatable(L, lock_key);
  lua_pushcfunction(L, files_release_lock);
  lua_setfield(L, -2, "__gc");
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, files_release_lock);
  lua_setfield(L, -2, "release");
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
}

/* --- texts --- */

/* native.replace(path, text): writes a file; an old one is replaced only when the new one is
   complete.  Returns true, or nil and a sentence. */
static int native_replace(lua_State *L)
{
  const char *path = luaL_checkstring(L, 1);
  size_t len;
  const char *text = luaL_checklstring(L, 2, &len);

  if (bn_file_save(path, text, len) == 0) {
    lua_pushboolean(L, 1);
    return 1;
  }
  const int error = errno; /* base/file.h gives some values a meaning of its own */

  lua_pushnil(L);
  lua_pushfstring(L, "cannot write '%s': %s", path, bn_file_explain(error));
  return 2;
}

/* native.read(path [, most_bytes]): returns the content of a file, or nil and a sentence.  Without
   most_bytes, or if it is 0, there is no limit. */
static int native_read(lua_State *L)
{
  const char *path = luaL_checkstring(L, 1);
  struct bn_buf text = {.max = (size_t)luaL_optnumber(L, 2, 0)};

  if (bn_file_read(path, &text) != 0) {
    const int error = errno;

    bn_buf_done(&text);
    return bn_native_push_read_error(L, path, error);
  }
  lua_pushlstring(L, text.data, text.len);
  bn_buf_done(&text);
  return 1;
}

/* native.fault(path): returns why a file of that name cannot be written, or nil if it can; a study
   asks that before hours of work.  If an attempt to write has failed, the code of the error is the
   second value. */
static int native_fault(lua_State *L)
{
  const char *path = luaL_checkstring(L, 1);
  const char *fault = bn_file_find_fault(path);

  if (fault == NULL && bn_file_try_save(path) != 0) {
    const int error = errno;

    lua_pushstring(L, bn_file_explain(error));
    lua_pushinteger(L, error);
    return 2;
  }
  lua_pushstring(L, fault);
  return 1;
}

/* native.executable(path): returns true, or nil and the reason why the program cannot be run. */
static int native_executable(lua_State *L)
{
  if (access(luaL_checkstring(L, 1), X_OK) != 0) {
    lua_pushnil(L);
    lua_pushstring(L, strerror(errno));
    return 2;
  }
  lua_pushboolean(L, 1);
  return 1;
}

/* --- folders --- */

/* Returns the length of the shortest beginning of the path that is a symbolic link which another
   user may have made, or a link of this user that leads to one, or 0 if there is none.  Through
   such a link, that user could choose the files that a study replaces. */
static size_t files_find_foreign_link(const char *path)
{
  char beginning[PATH_MAX], target[PATH_MAX];
  size_t len = strspn(path, "/");

  while (path[len] != '\0' && len < sizeof beginning) {
    len += strcspn(path + len, "/");
    (void)snprintf(beginning, sizeof beginning, "%.*s", (int)len, path);
    if (bn_file_follow(beginning, target) != 0 && errno == ELOOP)
      return len;
    len += strspn(path + len, "/");
  }
  return 0;
}

/* native.mkdir(path): makes a folder, unless it is there.  Returns true, or nil and a sentence. */
static int native_mkdir(lua_State *L)
{
  const char *path = luaL_checkstring(L, 1);
  const size_t link_len = files_find_foreign_link(path);
  struct bn_err err;
  struct stat st;

  if (link_len > 0) {
    (void)bn_err_set(&err, ELOOP,
                     "cannot make the folder '%s': '%.*s' is a symbolic link of another user, or "
                     "may lead to one; name its target",
                     path, (int)link_len, path);
    return bn_native_push_error(L, &err);
  }
  if (mkdir(path, 0777) != 0) {
    const int error = errno;
    const bool is_there = error == EEXIST && stat(path, &st) == 0 && S_ISDIR(st.st_mode);

    if (!is_there)
      return files_push_error(L, "make the folder", path, error);
  }
  lua_pushboolean(L, 1);
  return 1;
}

/* native.remove(path): removes a file or an empty folder.  Returns true, or nil and a sentence. */
static int native_remove(lua_State *L)
{
  const char *path = luaL_checkstring(L, 1);

  if (remove(path) != 0)
    return files_push_error(L, "remove", path, errno);
  lua_pushboolean(L, 1);
  return 1;
}

/* native.kind(path): returns "file", "folder" or "other"; nil: nothing is there, or it cannot be
   seen. */
static int native_kind(lua_State *L)
{
  struct stat st;

  if (stat(luaL_checkstring(L, 1), &st) != 0)
    lua_pushnil(L);
  else if (S_ISREG(st.st_mode))
    lua_pushliteral(L, "file");
  else if (S_ISDIR(st.st_mode))
    lua_pushliteral(L, "folder");
  else
    lua_pushliteral(L, "other");
  return 1;
}

/* native.is_same_file(a, b): returns whether both names lead to one file, or to one place for a new
   one. */
static int native_is_same_file(lua_State *L)
{
  lua_pushboolean(L, bn_file_is_same(luaL_checkstring(L, 1), luaL_checkstring(L, 2)));
  return 1;
}

/* native.size(path): returns the size of a file in bytes, or nil and a sentence. */
static int native_size(lua_State *L)
{
  const char *path = luaL_checkstring(L, 1);
  struct stat st;

  if (stat(path, &st) != 0)
    return files_push_error(L, "find the size of", path, errno);
  bn_int64_push(L, st.st_size);
  return 1;
}

/* A filter for scandir(): returns whether an entry is listed. */
static int files_is_listed(const struct dirent *e)
{
  return strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
}

/* native.list(folder): returns a list of the names in a folder, with "run2" before "run10"; or nil
   and a sentence. */
static int native_list(lua_State *L)
{
  const char *path = luaL_checkstring(L, 1);
  struct dirent **entry = NULL;
  const int n = scandir(path, &entry, files_is_listed, versionsort);

  if (n < 0)
    return files_push_error(L, "read the folder", path, errno);
  lua_createtable(L, n, 0);
  for (int i = 0; i < n; i++) {
    lua_pushstring(L, entry[i]->d_name);
    lua_rawseti(L, -2, i + 1);
    free(entry[i]);
  }
  free(entry);
  return 1;
}

/* native.temp_folder(): returns a new folder, which is removed when the study ends; or nil and a
   sentence. */
static int native_temp_folder(lua_State *L)
{
  char path[PATH_MAX];
  struct bn_err err;

  if (bn_ending_make_folder(path, &err) != 0)
    return bn_native_push_error(L, &err);
  lua_pushstring(L, path);
  return 1;
}

/* native.data_folder(): returns the folder of bundled files, or nil and a sentence. */
static int native_data_folder(lua_State *L)
{
  char path[PATH_MAX];
  struct bn_err err;

  if (bn_plugin_data_dir(path, sizeof path, &err) == NULL)
    return bn_native_push_error(L, &err);
  lua_pushstring(L, path);
  return 1;
}

const luaL_Reg bn_native_files[] = {{"data_folder", native_data_folder},
                                    {"executable", native_executable},
                                    {"fault", native_fault},
                                    {"is_same_file", native_is_same_file},
                                    {"kind", native_kind},
                                    {"list", native_list},
                                    {"lock", native_lock},
                                    {"mkdir", native_mkdir},
                                    {"read", native_read},
                                    {"remove", native_remove},
                                    {"replace", native_replace},
                                    {"size", native_size},
                                    {"temp_folder", native_temp_folder},
                                    {NULL, NULL}};

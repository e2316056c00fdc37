/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Search paths for modules. */
#include "script/vm/module_path.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/plugin.h"

/* Appends templates for the user's folders of LuaRocks, "HOME/.luarocks/…?ext;".  with_init: a
   module may also be a folder with a file init.lua.  Appends nothing without HOME. */
static void module_path_add_luarocks(struct bn_buf *b, const char *folder, const char *ext,
                                     bool with_init)
{
  static const char *const subfolders[] = {"5.1/", ""};
  const char *home = getenv("HOME");

  if (home == NULL)
    return;
  for (size_t i = 0; i < sizeof subfolders / sizeof *subfolders; i++) {
    (void)bn_buf_printf(b, "%s/.luarocks/%s/lua/%s?%s;", home, folder, subfolders[i], ext);
    if (with_init)
      (void)bn_buf_printf(b, "%s/.luarocks/%s/lua/%s?/init%s;", home, folder, subfolders[i], ext);
  }
}

/* Returns, malloc'd, the list of templates that the user's variable LUA_PATH or LUA_CPATH asks for:
   its value, with `list` in place of the first ";;"; without the variable, `list`.  `list` is empty
   afterwards. */
static char *module_path_with_variable(const char *variable, struct bn_buf *list)
{
  const char *value = getenv(variable);
  char *base = bn_buf_take(list);

  if (value == NULL)
    return base;
  struct bn_buf b;
  const char *gap = strstr(value, ";;");

  bn_buf_init(&b, 0);
  if (gap == NULL) {
    (void)bn_buf_str(&b, value);
  } else { /* `base` ends with ';', so none follows it */
    (void)bn_buf_add(&b, value, (size_t)(gap - value));
    (void)bn_buf_printf(&b, "%s%s%s", gap > value ? ";" : "", base, gap + 2);
  }
  free(base);
  return bn_buf_take(&b);
}

char *bn_module_path_default(const char *data_dir)
{
  struct bn_buf b;

  bn_buf_init(&b, 0);
  (void)bn_buf_str(&b, "./?.lua;./?/init.lua;./src/lua/?.lua;");
  module_path_add_luarocks(&b, "share", ".lua", true /* with_init */);
  (void)bn_buf_str(&b, "/usr/local/share/lua/5.1/?.lua;/usr/share/lua/5.1/?.lua;");
  if (data_dir != NULL)
    (void)bn_buf_printf(&b, "%s/?.lua;", data_dir);
  return module_path_with_variable("LUA_PATH", &b);
}

char *bn_module_path_default_c(void)
{
  struct bn_buf b;
  char dir[PATH_MAX];

  bn_buf_init(&b, 0);
  (void)bn_buf_str(&b, "./?.so;");
  module_path_add_luarocks(&b, "lib", ".so", false /* with_init */);
  (void)bn_buf_str(&b, "/usr/local/lib/lua/5.1/?.so;/usr/lib/lua/5.1/?.so;");
  if (bn_plugin_lib_dir(dir, sizeof dir, NULL) != NULL)
    (void)bn_buf_printf(&b, "%s/?.so;", dir);
  return module_path_with_variable("LUA_CPATH", &b);
}

bool bn_module_path_is_file(const char *path)
{
  struct stat st;

  return stat(path, &st) == 0 && !S_ISDIR(st.st_mode) && access(path, R_OK) == 0;
}

/* Returns, malloc'd, template[0..len) with the module's name in place of each '?'; the name has '/'
   for '.'. */
static char *module_path_fill(const char *template, size_t len, const char *name)
{
  struct bn_buf b;

  bn_buf_init(&b, 0);
  for (size_t i = 0; i < len; i++) {
    if (template[i] != '?') {
      (void)bn_buf_char(&b, template[i]);
      continue;
    }
    for (const char *c = name; *c != '\0'; c++)
      (void)bn_buf_char(&b, *c == '.' ? '/' : *c);
  }
  return bn_buf_take(&b);
}

char *bn_module_path_find_in(const char *dir, const char *name)
{
  static const char template[] = "?.lua";
  char *relative = module_path_fill(template, sizeof template - 1, name);
  char *file = bn_alloc_print("%s%s", dir, relative);

  free(relative);
  if (bn_module_path_is_file(file))
    return file;
  free(file);
  return NULL;
}

char *bn_module_path_search(const char *path, const char *name, struct bn_buf *tried)
{
  /* Several ';' count as one. */
  for (path += strspn(path, ";"); *path != '\0'; path += strspn(path, ";")) {
    const size_t len = strcspn(path, ";");
    char *file = module_path_fill(path, len, name);

    if (bn_module_path_is_file(file))
      return file;
    if (tried != NULL)
      (void)bn_buf_printf(tried, "\n\tno file '%s'", file);
    free(file);
    path += len;
  }
  return NULL;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts of studies in Lua: escaped for terminals, without secrets, split into words. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/escape.h"
#include "base/mask.h"
#include "option/words.h"
#include "study/native.h"

/* Pushes and returns memory for an escaped text.  Argument 2 is its size in bytes, by default
   default_size, which is enough for the whole text.  Sets *size. */
static char *texts_push_buffer(lua_State *L, size_t default_size, size_t *size)
{
  const lua_Integer given = luaL_optinteger(L, 2, (lua_Integer)default_size);

  luaL_argcheck(L, given > 0, 2, "a size of 1 or more was expected");
  *size = (size_t)given;
  return lua_newuserdata(L, *size);
}

/* native.escape(text [, size]): returns a text that a terminal may show, cut to less than `size`
   bytes. */
static int native_escape(lua_State *L)
{
  const char *text = luaL_checkstring(L, 1);
  size_t size;
  char *shown = texts_push_buffer(L, bn_escape(NULL, 0, text, "") + 1, &size);

  (void)bn_escape(shown, size, text, "");
  lua_pushstring(L, shown);
  return 1;
}

/* native.escape_markdown(text [, size]): returns a text that a cell or a line of Markdown shows as
   it is, cut to less than `size` bytes.  The default size is twice that of native.escape(), because
   each byte may get a backslash. */
static int native_escape_markdown(lua_State *L)
{
  const char *text = luaL_checkstring(L, 1);
  size_t size;
  char *shown = texts_push_buffer(L, 2 * (bn_escape(NULL, 0, text, "") + 1), &size);

  bn_escape_markdown(shown, size, text);
  lua_pushstring(L, shown);
  return 1;
}

/* native.mask(word): returns a word of the command line of a run without its secrets.  The value of
   --group is itself a command line, whose words are masked one by one.  The value of another option
   is masked if the name of the option has a word such as "password"; a run refuses an option whose
   name is mistyped.  A word without dashes may be the name of a script, "./password.lua": in it,
   only what is assigned to such a word is masked. */
static int native_mask(lua_State *L)
{
  static const char group[] = "--group=";
  const char *word = luaL_checkstring(L, 1), *text = word;
  char masked[BN_MASK_MAX];

  if (bn_words_skip(&text, group)) {
    char *shown = bn_words_mask(text);

    lua_pushfstring(L, "%s%s", group, shown);
    free(shown);
  } else if (word[0] == '-' && bn_mask_names_secret(word)) {
    lua_pushstring(L, bn_mask_arg(word, masked));
  } else {
    lua_pushstring(L, bn_mask_text(word, masked));
  }
  return 1;
}

/* native.mask_text(text): returns a text that is not an option, such as a statement, up to the
   first value that is assigned to a word like "password". */
static int native_mask_text(lua_State *L)
{
  char masked[BN_MASK_MAX];

  lua_pushstring(L, bn_mask_text(luaL_checkstring(L, 1), masked));
  return 1;
}

void bn_native_push_list(lua_State *L, const struct bn_list *list)
{
  lua_createtable(L, (int)list->n, 0);
  for (size_t i = 0; i < list->n; i++) {
    lua_pushstring(L, list->item[i]);
    lua_rawseti(L, -2, (int)i + 1);
  }
}

/* native.words(text): returns a list of the words of a text, which blanks separate unless they are
   quoted; or nil and a sentence. */
static int native_words(lua_State *L)
{
  struct bn_list words = {.n = 0};
  struct bn_err err;

  if (bn_words_split(luaL_checkstring(L, 1), &words, &err) != 0)
    return bn_native_push_error(L, &err);
  bn_native_push_list(L, &words);
  bn_words_done(&words);
  return 1;
}

/* native.groups(text): returns a list with the words of each group in a value of --group; a group
   in which a quote has no end has none. */
static int native_groups(lua_State *L)
{
  const char *group = luaL_checkstring(L, 1);
  struct bn_err err;

  lua_newtable(L);
  for (int n = 1;; n++) {
    const size_t len = bn_words_get_group_len(group);
    char *text = bn_alloc_part(group, len);
    struct bn_list words;

    (void)bn_words_split(text, &words, &err);
    free(text);
    bn_native_push_list(L, &words);
    bn_words_done(&words);
    lua_rawseti(L, -2, n);
    if (group[len] == '\0')
      return 1;
    group += len + 1;
  }
}

const luaL_Reg bn_native_texts[] = {{"escape", native_escape},
                                    {"escape_markdown", native_escape_markdown},
                                    {"groups", native_groups},
                                    {"mask", native_mask},
                                    {"mask_text", native_mask_text},
                                    {"words", native_words},
                                    {NULL, NULL}};

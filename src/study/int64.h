/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whole numbers between C and Lua: those that a double cannot hold are 64-bit integers of the
   FFI. */
#ifndef BN_STUDY_INT64_H
#define BN_STUDY_INT64_H

#include <stdbool.h>
#include <stdint.h>

#include <lua.h>

/* Is called before the others, once for an interpreter. */
void bn_int64_open(lua_State *L);
/* Pushes a number, or an int64_t if it is 2^53 or more. */
void bn_int64_push(lua_State *L, int64_t n);
/* The same; a number above INT64_MAX is a uint64_t. */
void bn_int64_push_unsigned(lua_State *L, uint64_t n);
/* Reads a number without a fraction or a 64-bit integer; false: the value is none.  A uint64_t has
   the same bits. */
bool bn_int64_read(lua_State *L, int index, int64_t *out);
/* The same for an argument of a function, which raises an error. */
int64_t bn_int64_check(lua_State *L, int argument);

#endif

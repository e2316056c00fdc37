/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whole numbers between C and Lua: those that a double cannot hold are 64-bit integers of the
   FFI. */
#ifndef BN_STUDY_INT64_H
#define BN_STUDY_INT64_H

#include <stdbool.h>
#include <stdint.h>

#include <lua.h>

/* Puts functions of Lua that the others call into the registry, so it is called once, before them.
   Raises an error if there is no memory. */
void bn_int64_open(lua_State *L);
/* Pushes a number, or an int64_t of the FFI if its magnitude is 2^53 or more. */
void bn_int64_push(lua_State *L, int64_t n);
/* Pushes a number, or an int64_t of the FFI from 2^53 on, or a uint64_t above INT64_MAX. */
void bn_int64_push_unsigned(lua_State *L, uint64_t n);
/* Reads a number without a fraction, or a 64-bit integer of the FFI; *out gets the bits of a
   uint64_t.  Returns false for another value. */
bool bn_int64_read(lua_State *L, int index, int64_t *out);
/* Returns what bn_int64_read reads of an argument of a function; raises an error for
   another value. */
int64_t bn_int64_check(lua_State *L, int argument);

#endif

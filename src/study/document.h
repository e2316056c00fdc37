/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Module study.document: documents as values of Lua, by the module that reads and prints JSON.

   A map is a table whose keys keep their order; a list is a table from 1 on, and an empty list is
   not an empty map; null is a value of its own; whole numbers beyond 2^53 are 64-bit integers. */
#ifndef BN_STUDY_DOCUMENT_H
#define BN_STUDY_DOCUMENT_H

#include <lua.h>

/* A loader for package.preload: returns the module. */
int bn_study_document_open(lua_State *L);

#endif

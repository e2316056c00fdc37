/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Module study.document: documents as values of Lua, by the module that reads and prints JSON.

   A map is a table with its keys, whose order is kept; a list is a table from 1 on, also an empty
   one; null is a value of its own; whole numbers beyond 2^53 are 64-bit integers. */
#ifndef BN_STUDY_DOCUMENT_H
#define BN_STUDY_DOCUMENT_H

#include <lua.h>

/* A loader for package.preload. */
int bn_study_document_open(lua_State *L);

#endif

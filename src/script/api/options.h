/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options that a script declares. */
#ifndef BN_SCRIPT_API_OPTIONS_H
#define BN_SCRIPT_API_OPTIONS_H

#include <stdbool.h>

#include <lua.h>

#include "base/err.h"

struct bn_api;
struct bn_lua;
struct bn_opt;
struct bn_options; /* options of one script; written by the main instance, then constant */

/* Returns an object without options, for a script that has not been read. */
struct bn_options *bn_options_new(void);
void bn_options_free(struct bn_options *o); /* NULL is allowed */
/* Reads sysbench.cmdline.options of the main instance into api->options, which stays without
   options if there is no such table.  Returns 0, or -1 after logging why. */
int bn_options_read(struct bn_lua *lua);
/* Returns whether the script has a table sysbench.cmdline.options. */
bool bn_options_are_declared(const struct bn_options *o);
/* Returns whether opt is one of the options of the script. */
bool bn_options_contain(const struct bn_options *o, const struct bn_opt *opt);
/* Calls the options' validators, adds the options to the program's, which applies the values of the
   command line, and sets the script's defaults of the program's options.  Returns 0, or -1 and err,
   whose text is empty if the reason has been logged. */
int bn_options_add(struct bn_lua *lua, struct bn_err *err);
/* Returns, after bn_options_add, whether the script has set a default of a general option, which a
   run has read already. */
bool bn_options_has_run_defaults(const struct bn_options *o);
/* internal.read_options(number): keeps the options that a script of a mix declares, whose code runs
   in the main instance and which has this number, from 1 on.  Raises an error if a script with a
   lower number declares one of the options with another type. */
int bn_options_read_own(lua_State *L);
/* Calls fn, after bn_options_add, with each option of a script of a mix that nobody has set and for
   which the script has another default than the first script that declares the option; `value` is
   that default.  Leaves out general options, which have one value for the whole run. */
void bn_options_each_own_default(const struct bn_api *api, unsigned number,
                                 void (*fn)(void *arg, const struct bn_opt *o, const void *value),
                                 void *arg);
/* sysbench.cmdline.read_cmdline_options(): raises an error if a declaration is wrong. */
int bn_options_check(lua_State *L);
/* sysbench.cmdline.print_test_options(): prints the help of the options by `print`. */
int bn_options_print(lua_State *L);

#endif

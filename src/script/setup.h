/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a script is given by the program: data that is settled before the script is looked for. */
#ifndef BN_SCRIPT_SETUP_H
#define BN_SCRIPT_SETUP_H

#include <stdbool.h>
#include <stddef.h>

struct bn_conf;
struct bn_optset;
struct bn_sqlsys;

struct bn_script_setup {
  const char *name;    /* as typed: file, module name; NULL or "-": standard input */
  bool hides_name;     /* it may be a password and is not printed */
  const char *command; /* NULL: none; only the top level runs */
  int argc;            /* the whole command line, for sysbench.cmdline.argv */
  char **argv;
  const struct bn_conf *conf; /* version, names, seed, luajit_cmd, threads: filled already */
  struct bn_optset *options;  /* what sysbench.opt exports */
  struct bn_sqlsys *sql;
  const char *data_dir; /* of bundled scripts */
  /* Where the files of another host were put, which come before those of their names here; NULL:
     there are none. */
  const char *sent_dir;
  /* This process is a part of a run on several hosts, whose reports another one prints: hooks that
     print reports or add to them are not called.  It is the first part, which says so. */
  bool is_part, is_first;
  /* Whether name[0..len) is a bundled workload, as the program lists them; NULL: none is. */
  bool (*is_workload)(const char *name, size_t len);
};

#endif

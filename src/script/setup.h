/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The data that the program gives to a script; complete before the script is looked for. */
#ifndef BN_SCRIPT_SETUP_H
#define BN_SCRIPT_SETUP_H

#include <stdbool.h>
#include <stddef.h>

struct bn_conf;
struct bn_optset;
struct bn_sqlsys;

struct bn_script_setup {
  const char *name;    /* as typed: file or module name; NULL or "-": standard input */
  bool hides_name;     /* the name may be a password and is not printed */
  const char *command; /* NULL: none; only the top level runs */
  int argc;            /* the whole command line, for sysbench.cmdline.argv */
  char **argv;
  const struct bn_conf *conf; /* finished; again if the script sets defaults of general options */
  struct bn_optset *options;  /* exported as sysbench.opt */
  struct bn_sqlsys *sql;      /* NULL: no database can be used */
  const char *data_dir;       /* folder of bundled scripts */
  /* Folder of files from another host, which are used before files of the same names here; NULL:
     none. */
  const char *sent_dir;
  bool prints_apart; /* what the script prints goes to standard error */
  /* Returns whether another host, `other`, has the same text in the file, which does not come from
     that host; the first `folder` bytes of the file's name are data_dir (0: it is not below).  One
     thread at a time calls it.  NULL: there is no such host. */
  bool (*compare)(void *other, const char *file, size_t folder, const void *text, size_t len);
  void *other; /* the first argument of compare */
  /* is_part: this process is a part of a run on several hosts, whose reports another process
     prints, so hooks that print reports or add to them are not called.  is_first: this part logs
     that they are not.  is_share: the other process decides the work of this part. */
  bool is_part, is_first, is_share;
  /* Returns whether name[0..len) is a bundled workload that the program lists; NULL: none is. */
  bool (*is_workload)(const char *name, size_t len);
};

#endif

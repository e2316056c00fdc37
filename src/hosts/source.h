/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares the scripts and modules that hosts load from their own disks with the files here, so
   that all hosts run the same bytes.  Files that the controller has sent are not compared. */
#ifndef BN_HOSTS_SOURCE_H
#define BN_HOSTS_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* A file with which the files of its name on all hosts are compared. */
struct bn_source {
  char *name;       /* owned; as the hosts open it, or below the folder of the bundle */
  char *file;       /* owned; its path */
  const char *host; /* borrowed; the host that has it; NULL: it is here */
  uint64_t len;
  uint32_t crc;
};

/* All zero: nothing has been compared. */
struct bn_sources {
  struct bn_source *item; /* owned */
  size_t n;
};

/* Appends the payload of SOURCE, which names a file and has the length and the CRC of its text.
   folder_len is the length of the path of the bundle, with which `file` begins, or 0 if the file is
   not in the bundle. */
void bn_source_print(struct bn_buf *out, const char *file, size_t folder_len, const void *text,
                     size_t len);
/* Compares the file of a host that a payload SOURCE names with the file of that name here or, if
   there is none, with that of the first host that has loaded it.  Returns 0, or -1 and err, which
   names both files. */
int bn_sources_compare(struct bn_sources *sources, const char *host, const char *data, size_t len,
                       struct bn_err *err);
void bn_sources_done(struct bn_sources *sources);

#endif

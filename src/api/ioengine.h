/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The contract of I/O engines: how the fileio test's requests reach the kernel. */
#ifndef BN_API_IOENGINE_H
#define BN_API_IOENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Raised when a member changes meaning; members are only ever appended. */
enum { BN_IOENGINE_ABI = 1 };

enum bn_io_op { BN_IO_READ, BN_IO_WRITE, BN_IO_FSYNC, BN_IO_FDATASYNC };

/* One request.  Owned by fileio; lent to the engine from submit until it is done. */
struct bn_io_req {
  enum bn_io_op op;
  unsigned file; /* index into bn_io_setup.fd */
  unsigned slot; /* 0 … depth-1, unique among the requests in flight of a session */
  uint64_t offset;
  size_t len;
  void *buf;      /* the slot's buffer, never shared; untouched by flushes */
  int64_t result; /* set by the engine: bytes moved (0 for a flush), or -errno */
};

/* What an engine works on; outlives it. */
struct bn_io_setup {
  const int *fd; /* [n_files], open until every session's engine is closed */
  unsigned n_files;
  uint64_t file_size; /* bytes of each file that requests may touch */
  bool writing;       /* the files are open for writing */
  bool empty;         /* they were just created: an engine that maps them makes them that long */
  bool iopoll, sqpoll;
  unsigned depth; /* requests in flight per session; 1 when the engine is not async */
  /* For open only: */
  unsigned char *buffers; /* depth of them, page aligned, each buffer_size bytes */
  size_t buffer_size;
  void *shared; /* what start made */
};

/* How many requests an engine may collect before it sends them.  Collecting saves system calls, but
   the device idles meanwhile: at a depth of 32, sending all that reap had returned at once cost a
   quarter of the rate, one by one nothing. */
static inline unsigned bn_io_together(unsigned depth)
{
  return depth < 64 ? 1 : depth / 32;
}

/* `bench_engine` is the one symbol an engine's module exports. */
struct bn_ioengine {
  unsigned abi;        /* BN_IOENGINE_ABI it was built with */
  size_t size;         /* sizeof (struct bn_ioengine) it was built with */
  const char *name;    /* the value of --file-io-mode */
  const char *title;   /* "asynchronous", in "Using asynchronous I/O mode" */
  bool async;          /* may keep more than one request in flight */
  size_t session_size; /* zeroed bytes for each session, given to open as self */
  /* Once per run, in the main thread, before open: tests what the kernel allows and makes what
     sessions share.  NULL: nothing to do.  0 or -1 and err; stop is called after either. */
  int (*start)(void **shared, const struct bn_io_setup *setup, struct bn_err *err);
  void (*stop)(void *shared);
  /* Once per session; this and all below only from its thread.  0, or -1 and err; close is called
     after either.  close waits for what the kernel still does with the buffers. */
  int (*open)(void *self, const struct bn_io_setup *setup, struct bn_err *err);
  void (*close)(void *self);
  /* 1: done, result is set; 0: queued, reap will return it, perhaps sent only then. */
  int (*submit)(void *self, struct bn_io_req *r);
  /* Sends what is queued and returns up to max done requests; waits for min of them (min and max
     never more than are in flight), but no longer than timeout_ns (UINT64_MAX: for ever).  The
     number, or -errno. NULL when not async. */
  int (*reap)(void *self, unsigned min, struct bn_io_req **done, unsigned max, uint64_t timeout_ns);
};

/* How its modules are found: a struct bn_plugin_kind (base/plugin.h). */
#define BN_ENGINE_KIND                                                                             \
  {                                                                                                \
    "engine", "bench_engine", BN_IOENGINE_ABI, sizeof(struct bn_ioengine)                          \
  }

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The contract of I/O engines: how the fileio test's requests reach the kernel. */
#ifndef BN_API_IOENGINE_H
#define BN_API_IOENGINE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include "base/err.h"

/* Raised when a member changes meaning; members are only ever appended. */
enum { BN_IOENGINE_ABI = 1 };

enum bn_io_op { BN_IO_READ, BN_IO_WRITE, BN_IO_FSYNC, BN_IO_FDATASYNC };

/* Returns whether a request moves no data. */
static inline bool bn_io_is_flush(enum bn_io_op op)
{
  return op == BN_IO_FSYNC || op == BN_IO_FDATASYNC;
}

/* Flushes a file with a system call, as `op` says, which is a flush.  Returns the result of the
   request: 0 or -errno. */
static inline int64_t bn_io_flush(int fd, enum bn_io_op op)
{
  return (op == BN_IO_FSYNC ? fsync(fd) : fdatasync(fd)) == 0 ? 0 : -errno;
}

/* A request.  fileio owns it and lends it to the engine from submit until the request is done. */
struct bn_io_req {
  enum bn_io_op op;
  unsigned file; /* index into bn_io_setup.fd */
  unsigned slot; /* 0 … depth-1, unique among the requests in flight of a session */
  uint64_t offset;
  size_t len;
  void *buf;      /* the slot's buffer, never shared; untouched by flushes */
  int64_t result; /* set by the engine: bytes moved (0 for a flush), or -errno */
};

/* The files and settings of an engine; they outlive it. */
struct bn_io_setup {
  const int *fd; /* [n_files], open until every session's engine is closed */
  unsigned n_files;
  uint64_t file_size; /* bytes of each file that requests may touch */
  bool writing;       /* the files are open for writing */
  bool empty;         /* the files are new: an engine that maps them sets their size */
  bool iopoll, sqpoll;
  unsigned depth; /* requests in flight per session; 1 when the engine is not async */
  /* The members below are for open only. */
  unsigned char *buffers; /* an array of depth buffers of buffer_size bytes, page aligned */
  size_t buffer_size;
  void *shared; /* the object that start made */
};

/* Returns how many requests an engine may collect before it sends them together.  Collecting saves
   system calls, but the device idles meanwhile.  At a depth of 32, a quarter of the rate was lost
   when all requests after a reap were sent together, and nothing when each was sent at once. */
static inline unsigned bn_io_together(unsigned depth)
{
  return depth < 64 ? 1 : depth / 32;
}

/* `bench_engine` is the only symbol an engine's module exports. */
struct bn_ioengine {
  unsigned abi;        /* BN_IOENGINE_ABI it was built with */
  size_t size;         /* sizeof (struct bn_ioengine) it was built with */
  const char *name;    /* the value of --file-io-mode */
  const char *title;   /* "asynchronous", in "Using asynchronous I/O mode" */
  bool async;          /* may keep more than one request in flight */
  size_t session_size; /* zeroed bytes for each session, given to open as self */
  /* Called once per run in the main thread, before open: tests the kernel and makes what sessions
     share.  NULL: nothing to do.  Returns 0 or -1 and err; stop is called after either. */
  int (*start)(void **shared, const struct bn_io_setup *setup, struct bn_err *err);
  void (*stop)(void *shared);
  /* Is called once per session; its thread makes this call and all below.  Returns 0, or -1 and
     err; close is called after either. close waits until the kernel no longer uses the buffers. */
  int (*open)(void *self, const struct bn_io_setup *setup, struct bn_err *err);
  void (*close)(void *self);
  /* Returns 1 if the request is done and result is set, 0 if reap will send or return it. */
  int (*submit)(void *self, struct bn_io_req *r);
  /* Sends the queued requests and returns up to max done ones; waits for min of them (min and max
     are never more than are in flight), but no longer than timeout_ns (UINT64_MAX: for ever).
     Returns their number, or -errno.  NULL if not async. */
  int (*reap)(void *self, unsigned min, struct bn_io_req **done, unsigned max, uint64_t timeout_ns);
};

/* Describes the modules of this kind (struct bn_plugin_kind, base/plugin.h). */
#define BN_ENGINE_KIND                                                                             \
  {                                                                                                \
    "engine", "bench_engine", BN_IOENGINE_ABI, sizeof(struct bn_ioengine)                          \
  }

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The contract of the modules that serve a page. */
#ifndef BN_API_WEB_H
#define BN_API_WEB_H

#include <stddef.h>
#include <sys/socket.h>

#include "base/err.h"

/* Raised when a member changes meaning; members are only ever appended. */
enum { BN_WEB_ABI = 1 };

/* A page to be served. */
struct bn_web_page {
  const char *path; /* "/metrics" */
  /* Returns the text of *len bytes, which the caller frees, and sets *type to its media type, a
     static text.  accept: the media types that the client takes, or NULL.  Threads of the module
     call it. */
  char *(*text)(void *arg, const char *accept, size_t *len, const char **type);
  void *arg;
};

/* A server; owned by the module. */
struct bn_web_server;

/* `bench_web` is the only symbol the module exports.  One thread at a time works on a server. */
struct bn_web {
  unsigned abi;     /* BN_WEB_ABI it was built with */
  size_t size;      /* sizeof (struct bn_web) it was built with */
  const char *name; /* "http" */
  /* Serves a page, which is borrowed, at an address until stop returns.  Returns NULL if the
     address is not available; err says why. */
  struct bn_web_server *(*start)(const struct sockaddr *at, const struct bn_web_page *page,
                                 struct bn_err *err);
  unsigned (*port)(const struct bn_web_server *s); /* the port that was chosen for port 0 */
  void (*stop)(struct bn_web_server *s);           /* NULL is allowed */
};

/* Describes the modules of this kind (struct bn_plugin_kind, base/plugin.h). */
#define BN_WEB_KIND                                                                                \
  {                                                                                                \
    "web", "bench_web", BN_WEB_ABI, sizeof(struct bn_web)                                          \
  }

#endif

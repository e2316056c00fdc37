/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takes a URI of a database apart: scheme://user:password@host:port/path?name=value&... */
#ifndef BN_BASE_URI_H
#define BN_BASE_URI_H

#include <stddef.h>

#include "base/err.h"

enum { BN_URI_PARAMS_MAX = 32 };

struct bn_uri_param {
  const char *name, *value;
};

/* The parts of a URI; NULL, and port 0: none.  All are decoded but the names of parameters. */
struct bn_uri {
  char *text; /* owned; the other members point into it */
  size_t size;
  const char *scheme, *user, *password;
  const char *host; /* several hosts have commas between; an IPv6 address has no brackets */
  unsigned port;    /* the port of all hosts */
  const char *path; /* without its first slash */
  struct bn_uri_param param[BN_URI_PARAMS_MAX];
  size_t n_params;
};

/* Parses a URI.  Returns 0, or -1 and err, which names the wrong part and quotes no part of a
   password.  In either case u is freed by bn_uri_done. */
int bn_uri_parse(struct bn_uri *u, const char *text, struct bn_err *err);
/* Overwrites and frees the text, also after a failure. */
void bn_uri_done(struct bn_uri *u);

#endif

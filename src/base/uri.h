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

/* NULL, and port 0: it has none.  Everything is decoded but the names of parameters. */
struct bn_uri {
  char *text; /* owns what the others point to */
  size_t size;
  const char *scheme, *user, *password;
  const char *host; /* several with commas between; an IPv6 address without its brackets */
  unsigned port;    /* of all hosts */
  const char *path; /* without its first slash */
  struct bn_uri_param param[BN_URI_PARAMS_MAX];
  size_t n_params;
};

/* 0, or -1; err names the part that is wrong and quotes nothing that may be of a password. */
int bn_uri_parse(struct bn_uri *u, const char *text, struct bn_err *err);
/* Overwrites and frees, also after a failure. */
void bn_uri_done(struct bn_uri *u);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a PostgreSQL server may ask who is there, judged from what it sends before it lets a client
   in.  Knows no socket and no client library. */
#ifndef BN_DRIVERS_PGSQL_LOGIN_H
#define BN_DRIVERS_PGSQL_LOGIN_H

#include <stdbool.h>
#include <stddef.h>

#include "api/opt.h"

/* Methods, as libpq's require_auth names them. */
enum {
  BN_LOGIN_PASSWORD = 1, /* in clear text */
  BN_LOGIN_MD5 = 2,
  BN_LOGIN_GSS = 4,
  BN_LOGIN_SSPI = 8,
  BN_LOGIN_SCRAM = 16,
  BN_LOGIN_NONE = 32,
  BN_LOGIN_OTHER = 64 /* it has no name there */
};

enum { BN_LOGIN_MESSAGE_MAX = 16384 };

/* Of --pgsql-require-auth. */
struct bn_pgsql_login_rule {
  unsigned allowed;
  bool given; /* false: the option was not given, and nothing is refused but PASSWORD */
};

/* The list has names, or names with '!' before each.  PASSWORD is allowed only by its name.
   Returns the first item that is wrong, or NULL. */
const char *bn_pgsql_login_rule(struct bn_pgsql_login_rule *rule, const struct bn_list *list);

/* One connection; all zero but `rule` at its start. */
struct bn_pgsql_login {
  const struct bn_pgsql_login_rule *rule;
  unsigned asked; /* the method that was asked for last; 0: none was */
  bool over;      /* the server has sent an error */
  bool proved;    /* SCRAM: the server says that it knows the password too */
};

enum bn_pgsql_login_act {
  BN_LOGIN_WAIT,  /* for more bytes */
  BN_LOGIN_PASS,  /* *n bytes may reach libpq, none behind them before it has answered */
  BN_LOGIN_LAST,  /* the same, and then whatever comes */
  BN_LOGIN_OPEN,  /* whatever comes, from here on: encryption begins, or libpq gives up */
  BN_LOGIN_REFUSE /* nothing more; bn_pgsql_login_why says why */
};

/* The next bytes from the server, at least one.  negotiates: libpq has asked for encryption and
   waits for the answer. */
enum bn_pgsql_login_act bn_pgsql_login_look(struct bn_pgsql_login *l, bool negotiates,
                                            const char *data, size_t len, size_t *n);
void bn_pgsql_login_why(const struct bn_pgsql_login *l, char *out, size_t room);

#endif

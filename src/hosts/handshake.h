/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first messages of a controller and an agent: the payloads of HELLO and WELCOME. */
#ifndef BN_HOSTS_HANDSHAKE_H
#define BN_HOSTS_HANDSHAKE_H

#include <stddef.h>
#include <stdint.h>

#include "api/opt.h"
#include "base/err.h"
#include "measure/json.h"

enum { BN_HANDSHAKE_ARGS = 10000 };

/* From the controller.  {"protocol":1,"version":"…","host":0,"hosts":2,"first_session":0,
   "sessions":16,"argv":["oltp_read_write","--threads=8","run"],"environment":["MYSQL_PWD=…"]} */
struct bn_handshake {
  char *version;              /* of the program, owned */
  unsigned host, hosts;       /* which of how many: host < hosts */
  uint64_t first_session;     /* first_session < sessions: of all hosts */
  uint64_t sessions;          /* 0: the process of a group, whose sessions are its own */
  struct bn_list argv;        /* the arguments behind the program's name, owned; may hold secrets */
  struct bn_list environment; /* "NAME=value", owned: the passwords that drivers read there */
};

/* From an agent.  {"protocol":1,"version":"…","host name":"…","processors":4} */
struct bn_welcome {
  char *version, *host_name; /* owned */
  unsigned processors;
};

/* The payload, malloc'd; NULL: out of memory, or an argument is not UTF-8 (err says which). */
char *bn_handshake_print(const struct bn_handshake *h, size_t *len, struct bn_err *err);
/* Returns 0, or -1 and err, which says that this is no such payload, or which protocol the other
   side speaks; out is then empty. */
int bn_handshake_parse(const char *data, size_t len, struct bn_handshake *out, struct bn_err *err);
/* Takes the passwords of this process's environment into it, and gives them to another's: before
   there are threads that read it.  -1: a variable is not one of these. */
void bn_handshake_take_environment(struct bn_handshake *h);
int bn_handshake_set_environment(const struct bn_handshake *h, struct bn_err *err);
void bn_handshake_done(struct bn_handshake *h); /* clears the secrets, too */

char *bn_welcome_print(const struct bn_welcome *w, size_t *len, struct bn_err *err);
int bn_welcome_parse(const char *data, size_t len, struct bn_welcome *out, struct bn_err *err);
void bn_welcome_done(struct bn_welcome *w);

#endif

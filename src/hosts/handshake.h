/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first messages of a controller and an agent: the payloads of HELLO and WELCOME. */
#ifndef BN_HOSTS_HANDSHAKE_H
#define BN_HOSTS_HANDSHAKE_H

#include <stddef.h>
#include <stdint.h>

#include "api/opt.h"
#include "base/err.h"

/* From the controller.  {"protocol":1,"version":"…","host":0,"first_session":0,"sessions":16,
   "argv":["oltp_read_write","--threads=8","run"],"environment":["MYSQL_PWD=…"]} */
struct bn_handshake {
  unsigned host; /* the number of the host, from 0 on */
  /* The sessions of all hosts, or of the hosts of its group, have numbers from 0 on, and those of
     the host begin at first_session < sessions.  Both members are 0 for a group that is one
     process. */
  uint64_t first_session, sessions;
  struct bn_list argv; /* the arguments after the program's name, owned; may hold secrets */
  uint64_t outside; /* how many first arguments stand outside of groups; 0: there are no groups */
  struct bn_list environment; /* "NAME=value", owned: the passwords that drivers read there */
};

/* From an agent.  {"protocol":1,"version":"…","host name":"…"} */
struct bn_welcome {
  char *version, *host_name; /* owned */
};

/* Returns the payload HELLO, which the caller frees and which may hold secrets, or NULL and err if
   an argument or a password is not UTF-8. */
char *bn_handshake_print(const struct bn_handshake *h, size_t *len, struct bn_err *err);
/* Reads a payload HELLO.  Returns 0, or -1 and err, which says that this is no such payload, or
   which protocol the other side speaks; *out is then empty. */
int bn_handshake_parse(const char *data, size_t len, struct bn_handshake *out, struct bn_err *err);
/* Adds the passwords that the environment of this process has to h->environment. */
void bn_handshake_add_passwords(struct bn_handshake *h);
/* Sets the passwords of *h in the environment of this process, before there are threads that read
   it.  Returns 0, or -1 and err if h->environment has another variable than one of a password. */
int bn_handshake_set_environment(const struct bn_handshake *h, struct bn_err *err);
/* Clears the secrets and frees all. */
void bn_handshake_done(struct bn_handshake *h);

/* Returns the payload WELCOME of this program, which the caller frees. */
char *bn_welcome_print(const char *host_name, size_t *len);
/* Reads a payload WELCOME, as bn_handshake_parse() does a HELLO. */
int bn_welcome_parse(const char *data, size_t len, struct bn_welcome *out, struct bn_err *err);
void bn_welcome_done(struct bn_welcome *w);

#endif

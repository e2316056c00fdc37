/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options of MySQL connections: known to every command line and to scripts, driver or not. */
#ifndef BN_DRIVERS_MYSQL_OPTIONS_H
#define BN_DRIVERS_MYSQL_OPTIONS_H

#include "api/opt.h"
#include "drivers/common/protocol.h"

/* Indices of --mysql-ssl's choices; BN_MYSQL_SSL_WORDS begins other words for on and off. */
enum {
  BN_MYSQL_SSL_DISABLED,
  BN_MYSQL_SSL_PREFERRED,
  BN_MYSQL_SSL_REQUIRED,
  BN_MYSQL_SSL_VERIFY_CA,
  BN_MYSQL_SSL_VERIFY_IDENTITY,
  BN_MYSQL_SSL_WORDS
};
/* Returns the mode that a choice stands for. */
int bn_mysql_ssl_mode_of(int choice);

/* Returns the choice with that spelling, or -1. */
int bn_mysql_find_ssl_choice(const char *word);

/* The host that the library reaches by a socket. */
#define BN_MYSQL_HOST "localhost"

struct bn_mysql_conf {
  struct bn_list host, port, socket, ignore_errors;
  char *user, *password, *db;
  char *password_file, *defaults_file, *charset;
  char *table_engine, *engine_trx; /* for scripts of 0.5 */
  int64_t myisam_max_rows;
  int64_t connect_timeout_s, read_timeout_s; /* 0: none */
  bool compression, debug, dry_run, password_prompt, cleartext_password;
  int ssl;                                            /* a choice, for bn_mysql_ssl_mode_of */
  int protocol;                                       /* enum bn_protocol */
  bool host_given, port_given, user_given, ssl_given; /* false: the option file decides */
  char *ssl_key, *ssl_ca, *ssl_cert, *ssl_cipher, *compression_algorithms;
};

extern const struct bn_opt bn_mysql_options[];

#endif

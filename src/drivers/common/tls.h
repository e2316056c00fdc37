/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bytes of a connection that a client library has encrypted by OpenSSL, and that it lends to
   the driver's own protocol: the login, the certificates and the end stay the library's.  Needs a
   socket that does not block. */
#ifndef BN_DRIVERS_COMMON_TLS_H
#define BN_DRIVERS_COMMON_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct ssl_st; /* SSL of OpenSSL */

/* Returns whether a library that names its version so ("OpenSSL 3.0.15", and what may follow) has
   been linked with this OpenSSL: only then its SSL may be used here. */
bool bn_tls_matches_version(const char *version);

/* Called before the driver reads or writes.  Then one call of the system reads what has come, where
   OpenSSL takes two for each record.  is_mostly_idle: the connection is one of many, most of them
   idle, and keeps no buffers while it is idle. */
void bn_tls_take(struct ssl_st *tls, bool is_mostly_idle);
/* Called before the library reads: libpq looks for a complete record in the socket alone. */
void bn_tls_lend(struct ssl_st *tls);

/* Returns whether bytes were received that bn_tls_read has not returned, so that no event of the
   socket will tell of them. */
bool bn_tls_is_ahead(const struct ssl_st *tls);

/* Read and write as recv(2) and send(2) do, with their results and errno.  After EAGAIN the caller
   waits for the socket; bytes that were to be written have to be written again, from the same or
   another address. */
ssize_t bn_tls_read(struct ssl_st *tls, void *to, size_t n);
ssize_t bn_tls_write(struct ssl_st *tls, const void *from, size_t n);
/* Returns whether the last call of OpenSSL has found no room in the socket. */
bool bn_tls_lacks_room(const struct ssl_st *tls);
/* Drops OpenSSL's errors of this thread.  They are left there by failed calls for any connection,
   and a library that does not drop them takes them for those of its own next call. */
void bn_tls_drop_errors(void);

#endif

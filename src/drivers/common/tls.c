/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads and writes what a client library has encrypted. */
#include "drivers/common/tls.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include <openssl/err.h>
#include <openssl/ssl.h>

bool bn_tls_matches_version(const char *version)
{
  static const char name[] = "OpenSSL ";
  const char *linked = OpenSSL_version(OPENSSL_VERSION); /* "OpenSSL 3.0.15 3 Sep 2024" */
  size_t len = sizeof name - 1;

  if (strncmp(version, name, len) != 0)
    return false;
  /* The number is compared, but not the date that may follow it. */
  len += strcspn(version + len, " ");
  return strncmp(version, linked, len) == 0 && (linked[len] == ' ' || linked[len] == '\0');
}

void bn_tls_take(struct ssl_st *tls, bool is_mostly_idle)
{
  /* As with send(2), a call may write a part, and the rest may be moved before the next call. */
  long modes = SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER;

  if (is_mostly_idle)
    modes |= SSL_MODE_RELEASE_BUFFERS;
  SSL_set_read_ahead(tls, 1);
  (void)SSL_set_mode(tls, modes);
}

void bn_tls_lend(struct ssl_st *tls)
{
  SSL_set_read_ahead(tls, 0);
}

bool bn_tls_is_ahead(const struct ssl_st *tls)
{
  return SSL_has_pending(tls) != 0;
}

bool bn_tls_lacks_room(const struct ssl_st *tls)
{
  return SSL_want_write(tls);
}

void bn_tls_drop_errors(void)
{
  if (ERR_peek_error() != 0) /* clearing visits all places of the queue, also of an empty one */
    ERR_clear_error();
}

/* Returns what recv(2) would return for a call of OpenSSL that returned rc <= 0, with errno.
   Before that call, errno was 0: if it still is, the system has found the end of the connection. */
static ssize_t tls_outcome(const struct ssl_st *tls, int rc)
{
  switch (SSL_get_error(tls, rc)) {
  case SSL_ERROR_WANT_READ:
  case SSL_ERROR_WANT_WRITE:
    errno = EAGAIN;
    return -1;
  case SSL_ERROR_ZERO_RETURN:
    return 0;
  case SSL_ERROR_SYSCALL:
    return errno == 0 ? 0 : -1;
  default:
    /* OpenSSL 3 takes an end without the message close_notify for an error. */
    if (ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING)
      return 0;
    errno = EPROTO;
    return -1;
  }
}

/* Returns n, or the longest length that a call of OpenSSL takes. */
static int tls_limit_length(size_t n)
{
  return n < INT_MAX ? (int)n : INT_MAX;
}

ssize_t bn_tls_read(struct ssl_st *tls, void *to, size_t n)
{
  int rc;

  /* An error left from an earlier call would be taken for that of this one. */
  ERR_clear_error();
  errno = 0;
  rc = SSL_read(tls, to, tls_limit_length(n));
  return rc > 0 ? rc : tls_outcome(tls, rc);
}

/* The end of a connection is an error here, as it is of send(2). */
ssize_t bn_tls_write(struct ssl_st *tls, const void *from, size_t n)
{
  ssize_t sent;
  int rc;

  /* An error left from an earlier call would be taken for that of this one. */
  ERR_clear_error();
  errno = 0;
  rc = SSL_write(tls, from, tls_limit_length(n));
  sent = rc > 0 ? rc : tls_outcome(tls, rc);
  if (sent == 0)
    errno = EPIPE;
  return sent > 0 ? sent : -1;
}

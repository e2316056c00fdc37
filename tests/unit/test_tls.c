/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The byte stream of the drivers over OpenSSL: whatever the records are, bytes come as they would
   from a plain socket. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/ssl.h>

#include "cm.h"
#include "drivers/common/stream.h"
#include "drivers/common/tls.h"

enum { LARGE = 1 << 20, RECORD = 1 << 14 };

struct pair {
  struct bn_stream s;
  SSL *client, *server;
  int fd[2];
};

/* Without certificates, which nothing here is about. */
static SSL *make_side(int fd, const SSL_METHOD *method)
{
  SSL_CTX *context = SSL_CTX_new(method);
  SSL *side;

  assert_non_null(context);
  assert_int_equal(SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION), 1);
  assert_int_equal(SSL_CTX_set_cipher_list(context, "AECDH-AES128-SHA:@SECLEVEL=0"), 1);
  side = SSL_new(context);
  SSL_CTX_free(context);
  assert_non_null(side);
  assert_int_equal(SSL_set_fd(side, fd), 1);
  return side;
}

static void *accept_client(void *server)
{
  return SSL_accept(server) == 1 ? server : NULL;
}

static void open_pair(struct pair *p)
{
  pthread_t thread;
  void *accepted;

  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, p->fd), 0);
  p->client = make_side(p->fd[0], TLS_client_method());
  p->server = make_side(p->fd[1], TLS_server_method());
  assert_int_equal(pthread_create(&thread, NULL, accept_client, p->server), 0);
  assert_int_equal(SSL_connect(p->client), 1);
  assert_int_equal(pthread_join(thread, &accepted), 0);
  assert_ptr_equal(accepted, p->server);
  bn_stream_init(&p->s, p->fd[0], p->client, NULL);
}

static void open_taken(struct pair *p)
{
  open_pair(p);
  assert_int_equal(bn_stream_take(&p->s), 0);
}

static void close_pair(struct pair *p)
{
  bn_stream_done(&p->s);
  SSL_free(p->client);
  SSL_free(p->server);
  (void)close(p->fd[0]);
  (void)close(p->fd[1]);
}

static void feed(struct pair *p, const char *text)
{
  assert_int_equal(SSL_write(p->server, text, (int)strlen(text)), strlen(text));
}

/* The socket has both records read at once, so that no event would tell of the second. */
static void takes_records_that_came_together(void **state)
{
  struct pair p;

  (void)state;
  open_taken(&p);
  feed(&p, "abc");
  feed(&p, "defg");
  assert_int_equal(bn_stream_fill(&p.s, true), 1);
  assert_int_equal(bn_stream_len(&p.s), 3);
  assert_true(bn_tls_is_ahead(p.client));
  bn_stream_skip(&p.s, 3);
  assert_int_equal(bn_stream_need(&p.s, 4), 0);
  assert_memory_equal(bn_stream_data(&p.s), "defg", 4);
  assert_false(bn_tls_is_ahead(p.client));
  assert_int_equal(bn_stream_fill(&p.s, false), 0);
  close_pair(&p);
}

/* Has libpq's view: it reads a record, and waits for the socket if it needs another. */
static void read_by_library(struct pair *p)
{
  char text[8];

  feed(p, "abc");
  feed(p, "defg");
  assert_int_equal(SSL_read(p->client, text, sizeof text), 3);
  assert_false(bn_tls_is_ahead(p->client));
  assert_int_equal(recv(p->fd[0], text, 1, MSG_PEEK | MSG_DONTWAIT), 1);
}

static void leaves_the_next_record_to_the_library(void **state)
{
  struct pair p;

  (void)state;
  open_pair(&p);
  read_by_library(&p);
  assert_int_equal(bn_stream_take(&p.s), 0);
  assert_int_equal(bn_stream_need(&p.s, 4), 0);
  bn_stream_skip(&p.s, 4);
  assert_int_equal(bn_stream_lend(&p.s), 0);
  read_by_library(&p);
  close_pair(&p);
}

/* Answers a large message by another, and reads only after that: both sides' sockets are full. */
static void *answer_first(void *of)
{
  struct pair *p = of;
  static char text[LARGE];
  int sent = 0, taken = 0;

  memset(text, 'a', sizeof text);
  while (sent < LARGE)
    sent += SSL_write(p->server, text + sent, LARGE - sent < RECORD ? LARGE - sent : RECORD);
  while (taken < LARGE)
    taken += SSL_read(p->server, text, RECORD);
  return text[0] == 'q' ? p : NULL;
}

static void reads_answers_while_it_sends(void **state)
{
  struct pair p;
  pthread_t thread;
  void *answered;
  char *room;

  (void)state;
  open_taken(&p);
  assert_int_equal(pthread_create(&thread, NULL, answer_first, &p), 0);
  room = bn_stream_room(&p.s, LARGE);
  assert_non_null(room);
  memset(room, 'q', LARGE);
  bn_stream_wrote(&p.s, LARGE);
  assert_int_equal(bn_stream_flush(&p.s), 0);
  assert_int_equal(bn_stream_need(&p.s, LARGE), 0);
  assert_int_equal(bn_stream_data(&p.s)[LARGE - 1], 'a');
  assert_int_equal(pthread_join(thread, &answered), 0);
  assert_ptr_equal(answered, &p);
  close_pair(&p);
}

/* With the goodbye of TLS and without it.  OpenSSL may write about the latter, as the program
   expects of any socket. */
static void tells_the_end(void **state)
{
  struct pair p;

  (void)state;
  (void)signal(SIGPIPE, SIG_IGN);
  for (int polite = 0; polite < 2; polite++) {
    open_taken(&p);
    feed(&p, "ab");
    if (polite)
      (void)SSL_shutdown(p.server);
    (void)shutdown(p.fd[1], SHUT_RDWR);
    assert_int_equal(bn_stream_need(&p.s, 2), 0);
    assert_int_equal(bn_stream_need(&p.s, 3), -1);
    assert_int_equal(p.s.error, 0);
    close_pair(&p);
  }
}

static void tells_bytes_that_are_not_encrypted(void **state)
{
  struct pair p;

  (void)state;
  open_taken(&p);
  assert_int_equal(write(p.fd[1], "plain text, no record", 21), 21);
  assert_int_equal(bn_stream_need(&p.s, 1), -1);
  assert_int_equal(p.s.error, EPROTO);
  close_pair(&p);
}

static void knows_its_own_version_alone(void **state)
{
  (void)state;
  assert_true(bn_tls_matches_version(OpenSSL_version(OPENSSL_VERSION)));
  assert_false(bn_tls_matches_version("OpenSSL 0.9.8"));
  assert_false(bn_tls_matches_version("OpenSSL 3"));
  assert_false(bn_tls_matches_version("GnuTLS 3.7.9"));
  assert_false(bn_tls_matches_version(""));
}

BN_TESTS(tls)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(takes_records_that_came_together),
      cmocka_unit_test(leaves_the_next_record_to_the_library),
      cmocka_unit_test(reads_answers_while_it_sends),
      cmocka_unit_test(tells_the_end),
      cmocka_unit_test(tells_bytes_that_are_not_encrypted),
      cmocka_unit_test(knows_its_own_version_alone),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The module that serves a page by HTTP, by libmicrohttpd. */
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "api/web.h"

/* A client that neither asks nor reads for TIMEOUT_S is disconnected. */
enum { CONNECTIONS_MAX = 64, TIMEOUT_S = 10, TIMEOUT_MS = TIMEOUT_S * 1000 };

struct bn_web_server {
  struct MHD_Daemon *daemon;
  const struct bn_web_page *page;
  pthread_t thread; /* serves the page */
  int end;          /* an eventfd, readable when the thread is to end */
};

/* Sends a response, and frees it.  r NULL: there is no memory for it, which ends the connection. */
static enum MHD_Result http_answer(struct MHD_Connection *c, unsigned status,
                                   struct MHD_Response *r)
{
  enum MHD_Result queued;

  if (r == NULL)
    return MHD_NO;
  queued = MHD_queue_response(c, status, r);
  MHD_destroy_response(r);
  return queued;
}

/* Answers a request with the reason why it gets no page. */
static enum MHD_Result http_refuse(struct MHD_Connection *c, unsigned status, const char *why)
{
  /* The library copies the text: the cast only takes its const away. */
  struct MHD_Response *r =
      MHD_create_response_from_buffer(strlen(why), (void *)(uintptr_t)why, MHD_RESPMEM_MUST_COPY);

  if (r != NULL && status == MHD_HTTP_METHOD_NOT_ALLOWED)
    (void)MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
  return http_answer(c, status, r);
}

/* Answers a request for another path. */
static enum MHD_Result http_refuse_path(struct MHD_Connection *c, const struct bn_web_page *page)
{
  char why[128];

  (void)snprintf(why, sizeof why, "there is only %s\n", page->path);
  return http_refuse(c, MHD_HTTP_NOT_FOUND, why);
}

/* Answers with the page, in the form that the client takes. */
static enum MHD_Result http_show(struct MHD_Connection *c, const struct bn_web_page *page)
{
  const char *type = NULL;
  size_t len = 0;
  char *text =
      page->text(page->arg, MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT),
                 &len, &type);
  struct MHD_Response *r = MHD_create_response_from_buffer(len, text, MHD_RESPMEM_MUST_FREE);

  if (r == NULL) {
    free(text);
    return MHD_NO;
  }
  (void)MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
  return http_answer(c, MHD_HTTP_OK, r);
}

/* Answers a request.  libmicrohttpd calls it several times: with the headers, which is too early
   for an answer, then with each part of a body, which is dropped, and at the end of the request. */
static enum MHD_Result http_handle(void *arg, struct MHD_Connection *c, const char *url,
                                   const char *method, const char *version, const char *upload,
                                   size_t *upload_len, void **request)
{
  const struct bn_web_server *s = arg;

  (void)version;
  (void)upload;
  if (*request == NULL) {
    *request = arg; /* marks that the headers have come */
    return MHD_YES;
  }
  if (*upload_len > 0) {
    *upload_len = 0;
    return MHD_YES;
  }
  if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
    return http_refuse(c, MHD_HTTP_METHOD_NOT_ALLOWED, "use GET\n");
  if (strcmp(url, s->page->path) != 0)
    return http_refuse_path(c, s->page);
  return http_show(c, s->page);
}

/* Serves the page until s->end is readable.  libmicrohttpd's own thread is not used: it goes on
   while another thread stops the library, and 0.9.75 then crashes. */
static void *http_serve(void *arg)
{
  enum { REQUESTS, END, EVENTS };
  const struct bn_web_server *s = arg;
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD);
  struct pollfd wait[EVENTS] = {[REQUESTS] = {.fd = info->epoll_fd, .events = POLLIN},
                                [END] = {.fd = s->end, .events = POLLIN}};

  while (wait[END].revents == 0) {
    MHD_UNSIGNED_LONG_LONG ms = 0;
    const bool is_timed = MHD_get_timeout(s->daemon, &ms) == MHD_YES && ms <= TIMEOUT_MS;

    (void)poll(wait, EVENTS, is_timed ? (int)ms : TIMEOUT_MS);
    (void)MHD_run(s->daemon);
  }
  return NULL;
}

static void http_free(struct bn_web_server *s)
{
  if (s->daemon != NULL)
    MHD_stop_daemon(s->daemon);
  if (s->end >= 0)
    (void)close(s->end);
  free(s);
}

/* Implements `start` of struct bn_web: a thread serves the page until `stop`. */
static struct bn_web_server *http_start(const struct sockaddr *address,
                                        const struct bn_web_page *page, struct bn_err *err)
{
  const unsigned family = address->sa_family == AF_INET6 ? MHD_USE_IPv6 : 0;
  struct bn_web_server *s = calloc(1, sizeof *s);

  if (s == NULL) {
    (void)bn_err_set(err, ENOMEM, "out of memory");
    return NULL;
  }
  s->page = page;
  s->end = eventfd(0, EFD_CLOEXEC);
  errno = 0; /* libmicrohttpd may fail without setting it */
  s->daemon =
      MHD_start_daemon(MHD_USE_EPOLL | family, 0, NULL, NULL, http_handle, s, MHD_OPTION_SOCK_ADDR,
                       address, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
                       MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)TIMEOUT_S, MHD_OPTION_END);
  if (s->daemon != NULL && s->end >= 0) {
    errno = pthread_create(&s->thread, NULL, http_serve, s);
    if (errno == 0)
      return s;
  }
  (void)bn_err_set(err, errno, "%s", errno != 0 ? strerror(errno) : "the server does not start");
  http_free(s);
  return NULL;
}

/* Implements `port` of struct bn_web. */
static unsigned http_port(const struct bn_web_server *s)
{
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_BIND_PORT);

  return info != NULL ? info->port : 0;
}

/* Implements `stop` of struct bn_web; s is NULL if the server was not started. */
static void http_stop(struct bn_web_server *s)
{
  if (s == NULL)
    return;
  (void)eventfd_write(s->end, 1);
  (void)pthread_join(s->thread, NULL);
  http_free(s);
}

extern __attribute__((visibility("default"))) const struct bn_web bench_web;
const struct bn_web bench_web = {
    .abi = BN_WEB_ABI,
    .size = sizeof(struct bn_web),
    .name = "http",
    .start = http_start,
    .port = http_port,
    .stop = http_stop,
};

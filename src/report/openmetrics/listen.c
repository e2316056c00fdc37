/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Renders the metrics of a run once a second for a page that a module serves. */
#include "report/openmetrics/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/web.h"
#include "base/alloc.h"
#include "base/log.h"
#include "base/plugin.h"
#include "base/units.h"
#include "report/openmetrics/render.h"

static const struct bn_plugin_kind web_kind = BN_WEB_KIND;

const struct bn_opt bn_listen_options[] = {
    {.name = "metrics-listen",
     .type = BN_STRING,
     .traits = BN_OPT_CONTROLLER_ONLY | BN_OPT_OUTPUT_ONLY | BN_OPT_KEEPS_DATA,
     .offset = offsetof(struct bn_listen_conf, at),
     .form = "=PORT",
     .help = "port, or address and port, of a page with the metrics of the run"},
    BN_OPT_END,
};

struct listen {
  const struct bn_web *web;
  struct bn_web_server *server;
  struct bn_web_page page;
  struct bn_buf facts;          /* rendered when they are complete, because threads add to them */
  pthread_mutex_t lock;         /* guards the texts that follow */
  struct bn_buf metrics, plain; /* in OpenMetrics; in the older format of Prometheus */
};

/* --- the address ------------------------------------------------------------------------------ */

union address {
  struct sockaddr any;
  struct sockaddr_in v4;
  struct sockaddr_in6 v6;
};

/* host: an address, in brackets if it has colons. */
static int find_address(const char *host, uint16_t port, union address *out)
{
  char inner[INET6_ADDRSTRLEN + 2];
  const size_t len = strlen(host);

  memset(out, 0, sizeof *out);
  if (strcmp(host, "localhost") == 0)
    host = "127.0.0.1";
  out->v4.sin_family = AF_INET;
  out->v4.sin_port = htons(port);
  if (inet_pton(AF_INET, host, &out->v4.sin_addr) == 1)
    return 0;
  if (len < 2 || len >= sizeof inner || host[0] != '[' || host[len - 1] != ']')
    return -1;
  (void)snprintf(inner, sizeof inner, "%.*s", (int)len - 2, host + 1);
  memset(out, 0, sizeof *out);
  out->v6.sin6_family = AF_INET6;
  out->v6.sin6_port = htons(port);
  return inet_pton(AF_INET6, inner, &out->v6.sin6_addr) == 1 ? 0 : -1;
}

static int listen_parse(const char *at, union address *out, struct bn_err *err)
{
  const char *colon = strrchr(at, ':'), *digits = colon != NULL ? colon + 1 : at;
  char host[INET6_ADDRSTRLEN + 3];
  int64_t port = -1;

  (void)snprintf(host, sizeof host, "%.*s", colon != NULL ? (int)(colon - at) : 0, at);
  if (host[0] == '\0')
    (void)snprintf(host, sizeof host, "127.0.0.1");
  if (bn_units_int(digits, &port) == 0 && port >= 0 && port <= UINT16_MAX &&
      (colon == NULL || colon - at < (ptrdiff_t)sizeof host) &&
      find_address(host, (uint16_t)port, out) == 0)
    return 0;
  return bn_err_set(err, EINVAL,
                    "--metrics-listen=%s: this is not an address; name a port of 127.0.0.1, or an "
                    "address and a port: 9090, 192.0.2.1:9090 or [::1]:9090",
                    at);
}

/* --- the page --------------------------------------------------------------------------------- */

static char *page_text(void *arg, const char *accept, size_t *len, const char **type)
{
  struct listen *l = arg;
  const bool openmetrics = accept != NULL && strstr(accept, "application/openmetrics-text") != NULL;
  const struct bn_buf *text = openmetrics ? &l->metrics : &l->plain;
  char *copy;

  (void)pthread_mutex_lock(&l->lock);
  *len = text->len;
  copy = bn_alloc(1, *len);
  memcpy(copy, text->len > 0 ? text->data : "", *len);
  (void)pthread_mutex_unlock(&l->lock);
  *type = openmetrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                      : "text/plain; version=0.0.4; charset=utf-8";
  return copy;
}

/* Renders without the lock, so that a client waits for a swap at most. */
static void listen_refresh(struct listen *l, const struct bn_view *v)
{
  struct bn_buf metrics = {.max = 0}, plain = {.max = 0}, old[2];

  (void)bn_buf_add(&metrics, l->facts.data, l->facts.len);
  if (v != NULL)
    bn_openmetrics_view(&metrics, v);
  bn_openmetrics_end(&metrics, NULL);
  bn_openmetrics_plain(&plain, metrics.data);
  (void)pthread_mutex_lock(&l->lock);
  old[0] = l->metrics;
  old[1] = l->plain;
  l->metrics = metrics;
  l->plain = plain;
  (void)pthread_mutex_unlock(&l->lock);
  bn_buf_done(&old[0]);
  bn_buf_done(&old[1]);
}

/* --- the run ---------------------------------------------------------------------------------- */

static int listen_start(struct listen *l, const char *at, struct bn_err *err)
{
  union address address = {.v4 = {.sin_port = 0}};
  struct bn_err why = {0};

  if (listen_parse(at, &address, err) != 0)
    return -1;
  l->web = bn_plugin_open(&web_kind, "http", &why);
  if (l->web == NULL && why.code == ENOENT)
    return bn_err_set(err, ENOENT,
                      "--metrics-listen: this build has no HTTP server; install libmicrohttpd's "
                      "headers (libmicrohttpd-dev) and build again");
  if (l->web == NULL || (l->server = l->web->start(&address.any, &l->page, &why)) == NULL)
    return bn_err_set(err, why.code, "--metrics-listen=%s: %s", at, why.text);
  if (address.v4.sin_port == 0) /* IPv4 and IPv6 have the port at the same offset */
    bn_log_stderr("metrics: port %u", l->web->port(l->server));
  return 0;
}

static int listen_open(void *self, const void *conf, const char *path, FILE *out,
                       struct bn_err *err)
{
  const struct bn_listen_conf *c = conf;
  struct listen *l = self;

  (void)path;
  (void)out;
  l->page = (struct bn_web_page){.path = "/metrics", .text = page_text, .arg = l};
  (void)pthread_mutex_init(&l->lock, NULL);
  /* The page is complete, although nothing is known before listen_begin(). */
  bn_openmetrics_end(&l->metrics, NULL);
  return listen_start(l, c->at, err);
}

/* Called before the heading, and again when the server's name is known. */
static void listen_begin(void *self, const struct bn_facts *f)
{
  struct listen *l = self;

  bn_buf_clear(&l->facts);
  bn_openmetrics_facts(&l->facts, f);
  listen_refresh(l, NULL);
}

static int listen_tick(void *self, const struct bn_view *v, struct bn_err *err)
{
  (void)err;
  listen_refresh(self, v);
  return 0;
}

static int listen_close(void *self, struct bn_err *err)
{
  struct listen *l = self;

  (void)err;
  if (l->web != NULL)
    l->web->stop(l->server);
  bn_buf_done(&l->facts);
  bn_buf_done(&l->metrics);
  bn_buf_done(&l->plain);
  (void)pthread_mutex_destroy(&l->lock);
  return 0;
}

const struct bn_reporter bn_reporter_listen = {
    .name = "listen",
    .state_size = sizeof(struct listen),
    .own_file = true,
    .aside = true,
    .facts = true,
    .open = listen_open,
    .begin = listen_begin,
    .started = listen_begin,
    .tick = listen_tick,
    .close = listen_close,
};

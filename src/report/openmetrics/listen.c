/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Renders the metrics of a run once a second for a page that a module serves. */
#include "report/openmetrics/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/web.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/end_signals.h"
#include "base/log.h"
#include "base/plugin.h"
#include "base/units.h"
#include "base/wait.h"
#include "report/openmetrics/render.h"

static const struct bn_plugin_kind web_kind = BN_WEB_KIND;

const struct bn_opt bn_listen_options[] = {
    {.name = "metrics-listen",
     .type = BN_STRING,
     .traits = BN_OPT_CONTROLLER_ONLY | BN_OPT_OUTPUT_ONLY | BN_OPT_KEEPS_DATA,
     .offset = offsetof(struct bn_listen_conf, at),
     .form = "=PORT",
     .help = "port, or address and port, of a page with the metrics of the run"},
    {.name = "metrics-linger",
     .type = BN_SECONDS,
     .traits = BN_OPT_CONTROLLER_ONLY | BN_OPT_OUTPUT_ONLY | BN_OPT_KEEPS_DATA,
     .offset = offsetof(struct bn_listen_conf, linger_s),
     .def = "0",
     .min = 0,
     .max = INT32_MAX,
     .help = "time for which that page stays after the end of the run"},
    BN_OPT_END,
};

struct bn_listen {
  const struct bn_web *web; /* NULL: nothing is served yet */
  struct bn_web_server *server;
  struct bn_web_page page;
  const struct bn_facts *run;   /* the facts of the run; threads add to them */
  bool has_checkpoint;          /* the total covers only the time since the last checkpoint */
  struct bn_buf facts, view;    /* texts of the last facts and the last view */
  pthread_mutex_t lock;         /* guards the texts that follow */
  struct bn_buf metrics, plain; /* in OpenMetrics; in the older format of Prometheus */
};

/* --- the address ------------------------------------------------------------------------------ */

union address {
  struct sockaddr any;
  struct sockaddr_in v4;
  struct sockaddr_in6 v6;
};

/* Bytes of the text of a host with its 0: an address of IPv6 in brackets is the longest one. */
enum { HOST_BYTES = INET6_ADDRSTRLEN + 2 };

/* Sets an address of IPv4 and a port.  Returns whether the host is such an address, or
   "localhost". */
static bool listen_set_ipv4(const char *host, uint16_t port, union address *out)
{
  const char *digits = strcmp(host, "localhost") == 0 ? "127.0.0.1" : host;

  memset(out, 0, sizeof *out);
  out->v4.sin_family = AF_INET;
  out->v4.sin_port = htons(port);
  return inet_pton(AF_INET, digits, &out->v4.sin_addr) == 1;
}

/* Sets an address of IPv6 and a port.  Returns whether the host is such an address in brackets. */
static bool listen_set_ipv6(const char *host, uint16_t port, union address *out)
{
  char digits[HOST_BYTES];
  const size_t len = strlen(host);

  if (len < 2 || len >= sizeof digits || host[0] != '[' || host[len - 1] != ']')
    return false;
  (void)snprintf(digits, sizeof digits, "%.*s", (int)len - 2, host + 1);
  memset(out, 0, sizeof *out);
  out->v6.sin6_family = AF_INET6;
  out->v6.sin6_port = htons(port);
  return inet_pton(AF_INET6, digits, &out->v6.sin6_addr) == 1;
}

/* Reads "HOST:PORT", or "PORT" alone for 127.0.0.1.  Returns whether the text is either. */
static bool listen_parse_address(const char *text, union address *out)
{
  const char *colon = strrchr(text, ':');
  const char *digits = colon != NULL ? colon + 1 : text;
  const size_t host_len = colon != NULL ? (size_t)(colon - text) : 0;
  char host[HOST_BYTES] = "127.0.0.1";
  int64_t port;

  if (bn_units_parse_int(digits, &port) != 0 || port < 0 || port > UINT16_MAX)
    return false;
  if (host_len >= sizeof host)
    return false;
  if (host_len > 0)
    (void)snprintf(host, sizeof host, "%.*s", (int)host_len, text);
  return listen_set_ipv4(host, (uint16_t)port, out) || listen_set_ipv6(host, (uint16_t)port, out);
}

/* Reads the address of --metrics-listen.  Returns 0, or -1 and err. */
static int listen_read_address(const char *text, union address *out, struct bn_err *err)
{
  if (listen_parse_address(text, out))
    return 0;
  return bn_err_set(err, EINVAL,
                    "--metrics-listen=%s: this is not an address; name a port of 127.0.0.1, or an "
                    "address and a port: 9090, localhost:9090, 192.0.2.1:9090 or [::1]:9090",
                    text);
}

/* --- the page --------------------------------------------------------------------------------- */

/* Implements `text` of struct bn_web_page: returns a copy of the text that was rendered last, in
   OpenMetrics if the client takes that, else in the older format. */
static char *listen_copy_text(void *arg, const char *accept, size_t *len, const char **type)
{
  struct bn_listen *l = arg;
  const bool takes_openmetrics =
      accept != NULL && strstr(accept, "application/openmetrics-text") != NULL;
  const struct bn_buf *text = takes_openmetrics ? &l->metrics : &l->plain;
  char *copy;

  (void)pthread_mutex_lock(&l->lock);
  *len = text->len;
  copy = bn_alloc(1, *len);
  memcpy(copy, text->len > 0 ? text->data : "", *len);
  (void)pthread_mutex_unlock(&l->lock);
  *type = takes_openmetrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                            : "text/plain; version=0.0.4; charset=utf-8";
  return copy;
}

/* Renders both texts of the page anew from the present facts and view.  The lock is held only while
   new texts replace the old ones, so that no client waits for the rendering.  end NULL: the run
   goes on. */
static void listen_refresh(struct bn_listen *l, const struct bn_end *end)
{
  struct bn_buf metrics = {.max = 0}, plain = {.max = 0}, old_metrics, old_plain;

  (void)bn_buf_add(&metrics, l->facts.data, l->facts.len);
  (void)bn_buf_add(&metrics, l->view.data, l->view.len);
  bn_openmetrics_add_end(&metrics, end);
  bn_openmetrics_convert(&plain, metrics.data);
  (void)pthread_mutex_lock(&l->lock);
  old_metrics = l->metrics;
  old_plain = l->plain;
  l->metrics = metrics;
  l->plain = plain;
  (void)pthread_mutex_unlock(&l->lock);
  bn_buf_done(&old_metrics);
  bn_buf_done(&old_plain);
}

static void listen_render(struct bn_listen *l, const struct bn_view *v)
{
  bn_buf_clear(&l->view);
  bn_openmetrics_add_view(&l->view, v);
  listen_refresh(l, NULL);
}

int bn_listen_new(struct bn_listen_conf *conf, struct bn_err *err)
{
  struct bn_listen *l;

  if (conf->at == NULL || conf->at[0] == '\0') {
    if (conf->linger_s <= 0)
      return 0;
    return bn_err_set(err, EINVAL,
                      "--metrics-linger is for the page of --metrics-listen: name its port too, as "
                      "--metrics-listen=9090");
  }
  l = bn_alloc(1, sizeof *l);
  l->page = (struct bn_web_page){.path = "/metrics", .text = listen_copy_text, .arg = l};
  (void)pthread_mutex_init(&l->lock, NULL);
  /* A client may ask before listen_begin(), when nothing is known: it gets a text that ends. */
  bn_openmetrics_add_end(&l->metrics, NULL);
  conf->page = l;
  return 0;
}

/* Waits for linger_s, or until a signal that would end a run.  The signal only ends the wait,
   because the run is over. */
static void listen_linger(double linger_s)
{
  static const struct bn_wait last_reader = {"the last reader of the metrics", BN_BOUND_DEADLINE};
  const uint64_t until_ns = bn_clock_mono() + (uint64_t)(linger_s * (double)BN_NSEC_PER_SEC);
  sigset_t ending, old_mask;

  bn_end_signals_choose(&ending);
  (void)pthread_sigmask(SIG_BLOCK, &ending, &old_mask);
  (void)bn_wait_signal(&last_reader, &ending, until_ns, NULL);
  (void)pthread_sigmask(SIG_SETMASK, &old_mask, NULL);
}

void bn_listen_end(struct bn_listen_conf *conf, bool at_once)
{
  struct bn_listen *l = conf->page;

  conf->page = NULL;
  if (l == NULL)
    return;
  if (l->server != NULL && conf->linger_s > 0 && !at_once)
    listen_linger(conf->linger_s);
  if (l->web != NULL)
    l->web->stop(l->server);
  bn_buf_done(&l->facts);
  bn_buf_done(&l->view);
  bn_buf_done(&l->metrics);
  bn_buf_done(&l->plain);
  (void)pthread_mutex_destroy(&l->lock);
  free(l);
}

/* --- the run ---------------------------------------------------------------------------------- */

/* The state of the reporter. */
struct listen_state {
  struct bn_listen *page;
};

static struct bn_listen *listen_page_of(const void *self)
{
  const struct listen_state *state = self;

  return state->page;
}

/* Loads the module, which may be missing, and serves the page from now on.  address: the one that
   `text` names.  Returns 0, or -1 and err. */
static int listen_start(struct bn_listen *l, const char *text, const union address *address,
                        struct bn_err *err)
{
  struct bn_err reason = {0};

  l->web = bn_plugin_open(&web_kind, "http", &reason);
  if (l->web == NULL && reason.code == ENOENT)
    return bn_err_set(err, ENOENT,
                      "--metrics-listen: this build has no HTTP server; install libmicrohttpd's "
                      "headers (libmicrohttpd-dev) and build again");
  if (l->web != NULL)
    l->server = l->web->start(&address->any, &l->page, &reason);
  if (l->web == NULL || l->server == NULL)
    return bn_err_set(err, reason.code, "--metrics-listen=%s: %s", text, reason.text);
  return 0;
}

/* Serves the page at the address of --metrics-listen, and logs which port the kernel has chosen if
   that of the address is 0.  Returns 0, or -1 and err. */
static int listen_open(void *self, const void *conf, const char *path, FILE *out,
                       struct bn_err *err)
{
  const struct bn_listen_conf *c = conf;
  struct listen_state *state = self;
  struct bn_listen *l = c->page;
  union address address = {.v4 = {.sin_port = 0}}; /* the analyser does not follow the union */

  (void)path;
  (void)out;
  state->page = l;
  if (listen_read_address(c->at, &address, err) != 0 || listen_start(l, c->at, &address, err) != 0)
    return -1;
  /* IPv4 and IPv6 have the port at the same offset. */
  if (address.v4.sin_port == 0)
    bn_log_stderr("metrics: port %u", l->web->port(l->server));
  return 0;
}

/* Shows the facts on the page, as they are now.  end NULL: the run goes on. */
static void listen_render_facts(struct bn_listen *l, const struct bn_end *end)
{
  bn_buf_clear(&l->facts);
  bn_openmetrics_add_facts(&l->facts, l->run);
  listen_refresh(l, end);
}

/* Shows the facts of the run on the page of metrics.  This is both `begin` and `started`: when the
   threads have started, there are more facts, such as the name of the server. */
static void listen_begin(void *self, const struct bn_facts *f)
{
  struct bn_listen *l = listen_page_of(self);

  l->run = f;
  listen_render_facts(l, NULL /* the run goes on */);
}

/* Renders a tick.  The oldest unfinished event counts for the maximum, as in the final report. */
static int listen_tick(void *self, const struct bn_view *v, struct bn_err *err)
{
  struct bn_view shown = *v;

  (void)err;
  if (shown.oldest_s > shown.max_s) {
    shown.max_s = shown.oldest_s;
    shown.max_at_least = true;
  }
  listen_render(listen_page_of(self), &shown);
  return 0;
}

/* Notes that the total will not cover the whole run. */
static int listen_checkpoint(void *self, const struct bn_view *v, struct bn_err *err)
{
  (void)v;
  (void)err;
  listen_page_of(self)->has_checkpoint = true;
  return 0;
}

/* Renders the total, unless there was a checkpoint.  The total then covers only the time since it,
   and counters must not decrease, so the last tick stays on the page. */
static int listen_total(void *self, const struct bn_view *v, struct bn_err *err)
{
  struct bn_listen *l = listen_page_of(self);

  (void)err;
  if (!l->has_checkpoint)
    listen_render(l, v);
  return 0;
}

/* Adds to the page what is known at the end: the last facts, and the exit status.  A run that
   failed before it began has no facts. */
static int listen_finish(void *self, const struct bn_end *end, struct bn_err *err)
{
  struct bn_listen *l = listen_page_of(self);

  (void)err;
  if (l->run != NULL)
    listen_render_facts(l, end);
  return 0;
}

const struct bn_reporter bn_reporter_listen = {
    .name = "listen",
    .state_size = sizeof(struct listen_state),
    .own_file = true,
    .aside = true,
    .facts = true,
    .open = listen_open,
    .begin = listen_begin,
    .started = listen_begin,
    .checkpoint = listen_checkpoint,
    .tick = listen_tick,
    .total = listen_total,
    .finish = listen_finish,
};

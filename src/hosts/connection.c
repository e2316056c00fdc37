/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the frames of one agent. */
#include "hosts/connection.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/escape.h"
#include "hosts/remote_output.h"
#include "measure/store.h"

/* The largest payload that may wait to be sent: the files, and some frames. */
enum { QUEUE_MAX = 3 * BN_FRAME_MAX };
/* For a process to end after its stream; and for the next frame of a result to begin. */
static const uint64_t patience_ns = BN_NSEC_PER_SEC;

/* --- life ------------------------------------------------------------------------------------- */

static int connection_put_hello(struct bn_connection *c, const struct bn_handshake *handshake,
                                const struct bn_buf *files, struct bn_err *err)
{
  struct bn_buf *out = &c->link.to.queue;
  size_t len = 0;
  char *text = bn_handshake_print(handshake, &len, err);
  int rc;

  if (text == NULL)
    return -1;
  rc = bn_frame_put(out, BN_FRAME_HELLO, text, len);
  explicit_bzero(text, len);
  free(text);
  if (rc == 0 && files->len > 0)
    rc = bn_buf_add(out, files->data, files->len);
  if (rc == 0)
    rc = bn_frame_put(out, BN_FRAME_OPEN, "", 0);
  return rc == 0 ? 0 : bn_err_set(err, ENOMEM, "out of memory");
}

int bn_connection_begin(struct bn_connection *c, const struct bn_handshake *handshake,
                        const struct bn_buf *files, struct bn_err *err)
{
  bn_buf_init(&c->link.to.queue, QUEUE_MAX);
  if (connection_put_hello(c, handshake, files, err) != 0)
    return -1;
  bn_link_send(&c->link);
  return 0;
}

void bn_connection_done(struct bn_connection *c)
{
  bn_link_done(&c->link);
  bn_result_done(&c->head);
  bn_buf_done(&c->result_text);
  bn_result_done(&c->result);
}

bool bn_connection_is_there(const struct bn_connection *c)
{
  return c->state < BN_CONNECTION_ENDED;
}

void bn_connection_lose(struct bn_connection *c, const char *fmt, ...)
{
  va_list ap;

  if (!bn_connection_is_there(c))
    return;
  c->state = BN_CONNECTION_LOST;
  va_start(ap, fmt);
  (void)vsnprintf(c->why.text, sizeof c->why.text, fmt, ap);
  va_end(ap);
  bn_pipe_close(&c->link.to);
  bn_link_kill(&c->link, SIGTERM);
}

/* --- what comes ------------------------------------------------------------------------------- */

static int connection_refuse_time(const struct bn_frame *f, struct bn_err *err)
{
  return bn_err_set(err, EPROTO, "it sent %s at a wrong time", bn_frame_name(f->type));
}

/* Names a rank by its host and its number: a launcher may start several ranks on a host. */
static void connection_take_name(struct bn_connection *c, const char *host_name)
{
  char shown[BN_WORK_SPLIT_NAME_MAX - 16];

  if (c->rank < 0)
    return;
  (void)bn_escape(shown, sizeof shown, host_name, "");
  (void)snprintf(c->own_name, sizeof c->own_name, "%s:%d", shown, c->rank);
  c->link.name = c->own_name;
  c->name = c->own_name;
}

static int connection_take_welcome(struct bn_connection *c, const struct bn_frame *f,
                                   struct bn_err *err)
{
  struct bn_welcome w;
  int rc = 0;

  if (c->state != BN_CONNECTION_CONNECTING)
    return connection_refuse_time(f, err);
  if (bn_welcome_parse(f->data, f->len, &w, err) != 0)
    return -1;
  if (strcmp(w.version, PACKAGE_VERSION) != 0) {
    char shown[64];

    (void)bn_escape(shown, sizeof shown, w.version, "");
    rc = bn_err_set(err, EPROTO,
                    "it has bench %s, and this is bench %s; install the same version on all hosts",
                    shown, PACKAGE_VERSION);
  }
  /* Also after a failure: the message about it names the host. */
  connection_take_name(c, w.host_name);
  bn_welcome_done(&w);
  c->state = BN_CONNECTION_OPENING;
  return rc;
}

static int connection_take_refusal(const struct bn_frame *f, struct bn_err *err)
{
  char shown[sizeof err->text];

  bn_frame_text(f, shown, sizeof shown);
  return bn_err_set(err, EPROTO, "%s", shown);
}

static int connection_take_pong(struct bn_connection *c, const struct bn_frame *f,
                                struct bn_err *err)
{
  const uint64_t asked_ns = bn_frame_time(f, 0), theirs_ns = bn_frame_time(f, 1);

  /* The ping was only a sign of life. */
  if (asked_ns == 0)
    return 0;
  if (asked_ns != c->ping_ns)
    return bn_err_set(err, EPROTO, "it sent a time that nobody asked for");
  if (bn_clock_sync_add(&c->clock_sync, asked_ns, theirs_ns, bn_clock_mono()) != 0)
    return bn_err_set(err, EPROTO, "it sent a time that no clock can have");
  c->ping_ns = 0;
  return 0;
}

static int connection_read_head(struct bn_connection *c, const struct bn_node *map,
                                struct bn_err *err)
{
  const struct bn_node *facts = bn_node_get(map, "facts");

  if (bn_store_read_facts(facts != NULL ? facts : map, &c->head.facts, err) != 0)
    return -1;
  bn_result_escape(&c->head);
  if (c->group)
    c->work = (struct bn_work_split){.threads = c->head.facts.plan.threads,
                                     .events = c->head.facts.plan.events,
                                     .rate = c->head.facts.plan.rate};
  if (c->head.facts.plan.threads != c->work.threads)
    return bn_err_set(err, EPROTO, "it runs %u threads in place of %u", c->head.facts.plan.threads,
                      c->work.threads);
  return bn_intervals_begin(c->intervals, c->number, bn_node_get(map, "group"), &c->head.facts,
                            err);
}

static int connection_take_ready(struct bn_connection *c, const struct bn_frame *f,
                                 struct bn_err *err)
{
  struct bn_node *map;
  int rc;

  if (c->state != BN_CONNECTION_OPENING)
    return connection_refuse_time(f, err);
  map = bn_node_parse_within(f->data, f->len, BN_VALID_HEAD_VALUES, err);
  if (map == NULL)
    return -1;
  rc = connection_read_head(c, map, err);
  bn_node_free(map);
  c->state = BN_CONNECTION_READY;
  return rc;
}

static int connection_take_interval(struct bn_connection *c, const struct bn_frame *f,
                                    struct bn_err *err)
{
  if (c->state != BN_CONNECTION_READY && c->state != BN_CONNECTION_RUNNING)
    return connection_refuse_time(f, err);
  return bn_intervals_take(c->intervals, c->number, f->data, f->len, err);
}

/* A result may need several frames.  A host that fails or is told to stop before it is told to
   start has a result too, of nothing. */
static int connection_take_result(struct bn_connection *c, const struct bn_frame *f,
                                  struct bn_err *err)
{
  if (c->state == BN_CONNECTION_CONNECTING)
    return connection_refuse_time(f, err);
  c->result_text.max = bn_valid_bytes(bn_intervals_as(c->intervals, c->number), c->statements);
  if (f->len > c->result_text.max - c->result_text.len)
    return bn_err_set(err, EFBIG, "its result is larger than %zu MiB", c->result_text.max >> 20);
  if (bn_buf_add(&c->result_text, f->data, f->len) != 0)
    return bn_err_set(err, ENOMEM, "out of memory");
  c->result_ns = bn_clock_mono();
  return 0;
}

bool bn_connection_is_sending(const struct bn_connection *c, uint64_t now_ns)
{
  return bn_connection_is_there(c) && c->result_ns != 0 &&
         (bn_frame_is_within(&c->link.reader, BN_FRAME_RESULT) ||
          now_ns <= c->result_ns + patience_ns);
}

static int connection_read_result(struct bn_connection *c, const struct bn_valid_as *as,
                                  struct bn_err *err)
{
  if (c->result_text.len == 0)
    return 0;
  c->has_result = bn_valid_read(as, &c->result_text, c->statements, &c->result, err) == 0;
  bn_buf_done(&c->result_text);
  return c->has_result ? 0 : -1;
}

static int connection_take_end(struct bn_connection *c, const struct bn_frame *f,
                               struct bn_err *err)
{
  if (connection_read_result(c, bn_intervals_as(c->intervals, c->number), err) != 0)
    return -1;
  c->status = (int)bn_frame_byte(f);
  c->state = BN_CONNECTION_ENDED;
  bn_pipe_close(&c->link.to);
  return 0;
}

/* Notes that the sessions of a command wait for those of other hosts.  Those of a run wait when it
   is READY. */
static int connection_take_meet(struct bn_connection *c, const struct bn_frame *f,
                                struct bn_err *err)
{
  if (c->state != BN_CONNECTION_OPENING || c->met)
    return connection_refuse_time(f, err);
  c->met = true;
  return 0;
}

static int connection_take_output(const struct bn_connection *c, const struct bn_frame *f,
                                  struct bn_err *err)
{
  if (c->state != BN_CONNECTION_OPENING)
    return connection_refuse_time(f, err);
  bn_remote_output_show(c->printer, c->local_data ? c->name : NULL, f->data, f->len);
  return 0;
}

static int connection_take_source(struct bn_connection *c, const struct bn_frame *f,
                                  struct bn_err *err)
{
  if (c->state == BN_CONNECTION_CONNECTING)
    return connection_refuse_time(f, err);
  if (bn_sources_compare(c->sources, c->name, f->data, f->len, err) != 0)
    return -1;
  if (bn_frame_put(&c->link.to.queue, BN_FRAME_SAME, "", 0) != 0)
    bn_alloc_fail();
  bn_link_send(&c->link);
  return 0;
}

static int connection_take_frame(struct bn_connection *c, const struct bn_frame *f,
                                 struct bn_err *err)
{
  switch (f->type) {
  case BN_FRAME_WELCOME:
    return connection_take_welcome(c, f, err);
  case BN_FRAME_REFUSE:
    return connection_take_refusal(f, err);
  case BN_FRAME_PONG:
    return connection_take_pong(c, f, err);
  case BN_FRAME_READY:
    return connection_take_ready(c, f, err);
  case BN_FRAME_INTERVAL:
    return connection_take_interval(c, f, err);
  case BN_FRAME_RESULT:
    return connection_take_result(c, f, err);
  case BN_FRAME_END:
    return connection_take_end(c, f, err);
  case BN_FRAME_MEET:
    return connection_take_meet(c, f, err);
  case BN_FRAME_PRINTED:
    return connection_take_output(c, f, err);
  case BN_FRAME_SOURCE:
    return connection_take_source(c, f, err);
  default:
    return connection_refuse_time(f, err);
  }
}

/* Returns what an exit status of the shell or of ssh means, as the end of a sentence. */
static const char *connection_hint(const struct bn_connection *c, int status)
{
  enum { NOT_FOUND = 127, SSH_FAILED = 255 };
  const bool answered = c->state != BN_CONNECTION_CONNECTING;

  if (status == NOT_FOUND && !answered)
    return ": bench was not found there; install it, or name its path (--hosts-program)";
  if (status == SSH_FAILED && !answered)
    return ": the shell could not connect, does not know the host's key, or asks for a password "
           "(--hosts-shell)";
  if (status == SSH_FAILED)
    return ": the shell lost it, or bench was killed there";
  return answered ? "; did its script call os.exit()?"
                  : "; is bench installed there (--hosts-program)?";
}

/* Waits for the end of the process for a moment, because it says more than the end of the
   stream. */
void bn_connection_check_end(struct bn_connection *c, uint64_t now_ns)
{
  const bool ended = bn_link_has_ended(&c->link);

  if (!bn_connection_is_there(c) || c->closed_ns == 0 ||
      (!ended && now_ns < c->closed_ns + patience_ns))
    return;
  if (c->rank >= 0)
    bn_connection_lose(c, "its agent or the process of this rank has ended%s",
                       bn_frame_is_cut(&c->link.reader) ? " in the middle of a message" : "");
  else if (!ended || (c->link.how == 0 && bn_frame_is_cut(&c->link.reader)))
    bn_connection_lose(c, "its connection was closed%s",
                       bn_frame_is_cut(&c->link.reader) ? " in the middle of a message" : "");
  else if (WIFSIGNALED(c->link.how))
    bn_connection_lose(c, "its connection was ended by a signal: %s",
                       strsignal(WTERMSIG(c->link.how)));
  else
    bn_connection_lose(c, "its connection ended with status %d%s", WEXITSTATUS(c->link.how),
                       connection_hint(c, WEXITSTATUS(c->link.how)));
}

bool bn_connection_take(struct bn_connection *c)
{
  const int came = bn_link_receive(&c->link);
  struct bn_err err = {0};
  struct bn_frame f;
  int rc = came > 0 ? 1 : 0;

  while (rc > 0 && bn_connection_is_there(c)) {
    rc = bn_frame_next(&c->link.reader, &f, &err);
    if (rc > 0 && connection_take_frame(c, &f, &err) != 0)
      rc = -1;
  }
  if (came > 0 && bn_frame_is_within(&c->link.reader, BN_FRAME_RESULT))
    c->result_ns = bn_clock_mono();
  if (rc < 0) {
    bn_escape_error(&err);
    /* Only an error of the protocol is a sentence about the host; others are about a part of a
       frame. */
    bn_connection_lose(c, err.code == EPROTO ? "%s" : "what it sent cannot be read: %s", err.text);
  }
  if (came < 0)
    c->closed_ns = bn_clock_mono();
  return came > 0;
}

struct bn_result *bn_connection_result(struct bn_connection *c)
{
  struct bn_err err = {0};

  if (c->has_result)
    return &c->result;
  if (c->head.n_groups == 0 && bn_intervals_result(c->intervals, c->number, &c->head, &err) <= 0)
    return NULL;
  return c->head.group[0].has_total ? &c->head : NULL;
}

/* --- what goes -------------------------------------------------------------------------------- */

/* Sends what waits, with a frame whose bn_frame_put() has returned rc.  A host that does not get a
   frame cannot go on. */
static void connection_send(struct bn_connection *c, int rc)
{
  if (rc != 0)
    bn_connection_lose(c, "out of memory");
  bn_link_send(&c->link);
}

void bn_connection_ping(struct bn_connection *c)
{
  const uint64_t now_ns = bn_clock_mono();
  const bool goes_on = c->ping_ns != 0;

  /* An answer may wait behind much else, and an agent that hears nothing ends its run. */
  if (bn_pipe_waits(&c->link.to) || (goes_on && now_ns < c->pinged_ns + BN_NSEC_PER_SEC))
    return;
  c->pinged_ns = now_ns;
  if (!goes_on)
    c->ping_ns = now_ns;
  connection_send(c, bn_frame_put_time(&c->link.to.queue, BN_FRAME_PING, goes_on ? 0 : now_ns));
}

void bn_connection_start(struct bn_connection *c, uint64_t at_ns)
{
  if (!bn_connection_is_there(c))
    return;
  if (!bn_clock_sync_read(&c->clock_sync, bn_clock_mono(), &c->clock) ||
      bn_frame_put_time(&c->link.to.queue, BN_FRAME_START, bn_clock_sync_there(&c->clock, at_ns)) !=
          0) {
    bn_connection_lose(c, "out of memory");
    return;
  }
  c->state = BN_CONNECTION_RUNNING;
  bn_link_send(&c->link);
}

void bn_connection_stop(struct bn_connection *c, enum bn_frame_stop how)
{
  connection_send(c, bn_frame_put_byte(&c->link.to.queue, BN_FRAME_STOP, how));
}

void bn_connection_pass(struct bn_connection *c)
{
  c->met = false;
  connection_send(c, bn_frame_put(&c->link.to.queue, BN_FRAME_PASS, "", 0));
}

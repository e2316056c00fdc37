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

/* The most bytes that may wait to be sent: the files, and some frames. */
enum { QUEUE_MAX = 3 * BN_FRAME_MAX };
/* How long a process may take to end after its stream has. */
static const uint64_t process_end_ns = BN_NSEC_PER_SEC;
/* How long the next frame of a result may take to begin. */
static const uint64_t next_piece_ns = BN_NSEC_PER_SEC;

/* --- names ------------------------------------------------------------------------------------ */

char *bn_connection_get_host(struct bn_connection *c)
{
  return c->own_host[0] != '\0' ? c->own_host : c->host;
}

void bn_connection_set_name(struct bn_connection *c)
{
  const char *host = bn_connection_get_host(c);

  if (host == NULL) {
    c->name = c->group;
  } else if (c->group == NULL) {
    c->name = host;
  } else {
    (void)snprintf(c->both, sizeof c->both, "%s/%s", host, c->group);
    c->name = c->both;
  }
}

/* --- life ------------------------------------------------------------------------------------- */

/* Queues a frame, for which there is room, and sends what the pipe takes. */
static void connection_send(struct bn_connection *c, enum bn_frame_type type, const void *data,
                            size_t len)
{
  if (bn_frame_put(&c->link.to.queue, type, data, len) != 0)
    bn_alloc_fail();
  bn_link_send(&c->link);
}

int bn_connection_begin(struct bn_connection *c, const struct bn_handshake *handshake,
                        const struct bn_buf *files, struct bn_err *err)
{
  struct bn_buf *out = &c->link.to.queue;
  size_t len = 0;
  char *text = bn_handshake_print(handshake, &len, err);
  int rc;

  if (text == NULL)
    return -1;
  bn_buf_init(out, QUEUE_MAX);
  rc = bn_frame_put(out, BN_FRAME_HELLO, text, len);
  explicit_bzero(text, len); /* it may have passwords */
  free(text);
  if (rc == 0 && files->len > 0)
    rc = bn_buf_add(out, files->data, files->len);
  if (rc != 0)
    return bn_err_set(err, ENOMEM, "out of memory");
  connection_send(c, BN_FRAME_OPEN, "", 0);
  return 0;
}

void bn_connection_done(struct bn_connection *c)
{
  bn_link_done(&c->link);
  bn_result_done(&c->head);
  bn_buf_done(&c->result_text);
  bn_result_done(&c->result);
}

bool bn_connection_is_alive(const struct bn_connection *c)
{
  return c->state < BN_CONNECTION_ENDED;
}

void bn_connection_lose(struct bn_connection *c, const char *fmt, ...)
{
  va_list ap;

  if (!bn_connection_is_alive(c))
    return;
  c->state = BN_CONNECTION_LOST;
  va_start(ap, fmt);
  (void)vsnprintf(c->why.text, sizeof c->why.text, fmt, ap);
  va_end(ap);
  bn_pipe_close(&c->link.to);
  bn_link_kill(&c->link, SIGTERM);
}

/* --- what comes ------------------------------------------------------------------------------- */

/* Each function connection_handle_*() does what one type of frame says.  It returns 0, or -1 and
   err if the host is to be lost.  The text of an err with the code EPROTO is a sentence about the
   host, as "it sent ...".  Any other err is about a part of the frame. */

/* Refuses a frame that the host must not send now.  Returns -1. */
static int connection_refuse_frame(const struct bn_frame *f, struct bn_err *err)
{
  return bn_err_set(err, EPROTO, "it sent %s at a wrong time", bn_frame_get_type_name(f->type));
}

/* Names a rank by its host and its number, because a launcher may start several ranks on a host.
   Other hosts keep the names that the user has given them. */
static void connection_set_rank_name(struct bn_connection *c, const char *host_name)
{
  enum { RANK_BYTES = 16 }; /* more than the longest ":RANK", which follows in c->own_host */
  char shown[BN_WORK_SPLIT_NAME_MAX - RANK_BYTES];

  if (c->rank < 0)
    return;
  (void)bn_escape(shown, sizeof shown, host_name, "");
  (void)snprintf(c->own_host, sizeof c->own_host, "%s:%d", shown, c->rank);
  bn_connection_set_name(c);
  c->link.name = c->name;
}

/* Refuses a host with another version of bench.  Returns 0, or -1 and err. */
static int connection_check_version(const char *version, struct bn_err *err)
{
  char shown[64];

  if (strcmp(version, PACKAGE_VERSION) == 0)
    return 0;
  (void)bn_escape(shown, sizeof shown, version, "");
  return bn_err_set(err, EPROTO,
                    "it has bench %s, and this is bench %s; install the same version on all hosts",
                    shown, PACKAGE_VERSION);
}

/* Stores the name of the host, refuses another version of bench, and makes the host connected. */
static int connection_handle_welcome(struct bn_connection *c, const struct bn_frame *f,
                                     struct bn_err *err)
{
  struct bn_welcome w;
  int rc;

  if (c->state != BN_CONNECTION_CONNECTING)
    return connection_refuse_frame(f, err);
  if (bn_welcome_parse(f->data, f->len, &w, err) != 0)
    return -1;
  rc = connection_check_version(w.version, err);
  /* The message that refuses the version needs the name, too. */
  connection_set_rank_name(c, w.host_name);
  bn_welcome_done(&w);
  if (rc == 0)
    c->state = BN_CONNECTION_OPENING;
  return rc;
}

/* Returns -1, with the reason that the host gives for its end as err. */
static int connection_handle_refusal(const struct bn_frame *f, struct bn_err *err)
{
  char shown[sizeof err->text];

  bn_frame_get_text(f, shown, sizeof shown);
  return bn_err_set(err, EPROTO, "%s", shown);
}

/* Adds the exchange of times that a PONG completes. */
static int connection_handle_pong(struct bn_connection *c, const struct bn_frame *f,
                                  struct bn_err *err)
{
  const uint64_t asked_ns = bn_frame_get_number(f, 0), there_ns = bn_frame_get_number(f, 1);

  /* A PING with the time 0 has asked for a sign of life only (bn_connection_send_ping()). */
  if (asked_ns == 0)
    return 0;
  if (asked_ns != c->ping_ns)
    return bn_err_set(err, EPROTO, "it sent a time that nobody asked for");
  if (bn_clock_sync_add(&c->clock_sync, asked_ns, there_ns, bn_clock_mono()) != 0)
    return bn_err_set(err, EPROTO, "it sent a time that no clock can have");
  c->ping_ns = 0;
  return 0;
}

/* Stores the work of a group here, which reads it from its own command line.  Refuses another host
   whose number of threads is not the one that it was told.  Returns 0, or -1 and err. */
static int connection_read_work(struct bn_connection *c, const struct bn_plan *plan,
                                struct bn_err *err)
{
  const bool is_group_here = c->group != NULL && c->host == NULL;

  if (is_group_here) {
    c->work = (struct bn_work_split){
        .threads = plan->threads, .events = plan->events, .rate = plan->rate};
    return 0;
  }
  if (plan->threads == c->work.threads)
    return 0;
  return bn_err_set(err, EPROTO, "it runs %u threads in place of %u", plan->threads,
                    c->work.threads);
}

/* Reads READY, which has the facts of the run there and what the host measures.  Returns 0, or -1
   and err. */
static int connection_read_head(struct bn_connection *c, const struct bn_node *map,
                                struct bn_err *err)
{
  if (bn_store_read_facts(bn_node_get(map, "facts"), &c->head.facts, err) != 0)
    return -1;
  bn_result_escape(&c->head);
  if (connection_read_work(c, &c->head.facts.plan, err) != 0)
    return -1;
  return bn_intervals_begin_host(c->intervals, c->number, bn_node_get(map, "group"), &c->head.facts,
                                 err);
}

/* Stores what the host measures, and makes it READY, because its sessions wait for the start. */
static int connection_handle_ready(struct bn_connection *c, const struct bn_frame *f,
                                   struct bn_err *err)
{
  struct bn_node *map;
  int rc;

  if (c->state != BN_CONNECTION_OPENING)
    return connection_refuse_frame(f, err);
  map = bn_node_parse_within(f->data, f->len, BN_VALID_HEAD_VALUES, err);
  if (map == NULL)
    return -1;
  rc = connection_read_head(c, map, err);
  bn_node_free(map);
  if (rc == 0)
    c->state = BN_CONNECTION_READY;
  return rc;
}

/* Passes on a line of the journal: an interval, a checkpoint or a tick. */
static int connection_handle_interval(struct bn_connection *c, const struct bn_frame *f,
                                      struct bn_err *err)
{
  if (c->state != BN_CONNECTION_RUNNING)
    return connection_refuse_frame(f, err);
  return bn_intervals_take_line(c->intervals, c->number, f->data, f->len, err);
}

/* Adds a piece of the result, which may need several frames.  It may come before the run: a host
   that fails, or is stopped before it is told to start, sends a result without figures. */
static int connection_handle_result(struct bn_connection *c, const struct bn_frame *f,
                                    struct bn_err *err)
{
  if (c->state == BN_CONNECTION_CONNECTING)
    return connection_refuse_frame(f, err);
  /* The bound only grows, when the host gets ready, so it is never less than result_text.len. */
  c->result_text.max =
      bn_valid_max_bytes(bn_intervals_get_spec(c->intervals, c->number), c->statements);
  if (f->len > c->result_text.max - c->result_text.len)
    return bn_err_set(err, EFBIG, "its result is larger than %zu MiB", c->result_text.max >> 20);
  if (bn_buf_add(&c->result_text, f->data, f->len) != 0)
    return bn_err_set(err, ENOMEM, "out of memory");
  c->result_ns = bn_clock_mono();
  return 0;
}

bool bn_connection_is_sending(const struct bn_connection *c, uint64_t now_ns)
{
  const bool is_within_piece = bn_frame_is_within(&c->link.reader, BN_FRAME_RESULT);
  const bool may_begin_piece = now_ns <= c->result_ns + next_piece_ns;

  return bn_connection_is_alive(c) && c->result_ns != 0 && (is_within_piece || may_begin_piece);
}

/* Reads the result if any of it has come.  Returns 0, or -1 and err. */
static int connection_read_result(struct bn_connection *c, struct bn_err *err)
{
  const struct bn_valid_spec *spec = bn_intervals_get_spec(c->intervals, c->number);

  if (c->result_text.len == 0)
    return 0;
  c->has_result = bn_valid_read_result(spec, &c->result_text, c->statements, &c->result, err) == 0;
  bn_buf_done(&c->result_text);
  if (!c->has_result)
    return -1;
  bn_facts_name_group(&c->result.facts, c->group);
  return 0;
}

/* Reads the result, which is complete now, and stores the exit status. */
static int connection_handle_end(struct bn_connection *c, const struct bn_frame *f,
                                 struct bn_err *err)
{
  if (connection_read_result(c, err) != 0)
    return -1;
  c->status = (int)bn_frame_get_byte(f);
  c->state = BN_CONNECTION_ENDED;
  bn_pipe_close(&c->link.to);
  return 0;
}

/* Notes that the sessions of a command wait for the other hosts (bn_fleet_have_met()).  A run sends
   no MEET, because its sessions wait when it is READY. */
static int connection_handle_meet(struct bn_connection *c, const struct bn_frame *f,
                                  struct bn_err *err)
{
  if (c->state != BN_CONNECTION_OPENING || c->is_waiting)
    return connection_refuse_frame(f, err);
  c->is_waiting = true;
  return 0;
}

/* Prints what a command has printed.  The lines begin with the name of the connection if each host
   executes the whole command for its own data, and otherwise with that of the group, if any. */
static int connection_handle_output(const struct bn_connection *c, const struct bn_frame *f,
                                    struct bn_err *err)
{
  const char *prefix = c->local_data ? c->name : c->group; /* NULL: none */

  if (c->state != BN_CONNECTION_OPENING)
    return connection_refuse_frame(f, err);
  bn_remote_output_show(c->printer, c->line, prefix, f->data, f->len);
  return 0;
}

/* Answers SAME if the script of the host is the same as here.  A script that is not here has to be
   the same as on the first host that has loaded it. */
static int connection_handle_source(struct bn_connection *c, const struct bn_frame *f,
                                    struct bn_err *err)
{
  if (c->state == BN_CONNECTION_CONNECTING)
    return connection_refuse_frame(f, err);
  if (bn_sources_compare(c->sources, c->name, f->data, f->len, err) != 0)
    return -1;
  connection_send(c, BN_FRAME_SAME, "", 0);
  return 0;
}

static int connection_handle_frame(struct bn_connection *c, const struct bn_frame *f,
                                   struct bn_err *err)
{
  switch (f->type) {
  case BN_FRAME_WELCOME:
    return connection_handle_welcome(c, f, err);
  case BN_FRAME_REFUSE:
    return connection_handle_refusal(f, err);
  case BN_FRAME_PONG:
    return connection_handle_pong(c, f, err);
  case BN_FRAME_READY:
    return connection_handle_ready(c, f, err);
  case BN_FRAME_INTERVAL:
    return connection_handle_interval(c, f, err);
  case BN_FRAME_RESULT:
    return connection_handle_result(c, f, err);
  case BN_FRAME_END:
    return connection_handle_end(c, f, err);
  case BN_FRAME_MEET:
    return connection_handle_meet(c, f, err);
  case BN_FRAME_PRINTED:
    return connection_handle_output(c, f, err);
  case BN_FRAME_SOURCE:
    return connection_handle_source(c, f, err);
  default:
    return connection_refuse_frame(f, err);
  }
}

/* Returns the likely meaning of the exit status of the process here that connects to the host, or a
   hint, as the end of a sentence. */
static const char *connection_explain_status(const struct bn_connection *c, int status)
{
  enum { NOT_FOUND = 127, SSH_FAILED = 255 }; /* of a shell; of ssh(1) */
  const bool has_answered = c->state != BN_CONNECTION_CONNECTING;

  if (has_answered)
    return status == SSH_FAILED ? ": the shell lost it, or bench was killed there"
                                : "; did its script call os.exit()?";
  if (status == NOT_FOUND)
    return ": bench was not found there; install it, or name its path (--hosts-program)";
  if (status == SSH_FAILED)
    return ": the shell could not connect, does not know the host's key, or asks for a password "
           "(--hosts-shell)";
  return "; is bench installed there (--hosts-program)?";
}

/* Loses a host whose stream has ended too early.  If its process has ended, too (`has_ended`), the
   status of the process tells the reason.  But 0 tells nothing about a stream that was cut. */
static void connection_lose_stream(struct bn_connection *c, bool has_ended)
{
  const int wait_status = c->link.wait_status; /* 0 unless has_ended */
  const bool is_cut = bn_frame_is_cut(&c->link.reader);
  const bool tells_reason = has_ended && (wait_status != 0 || !is_cut);
  const char *where = is_cut ? " in the middle of a message" : "";

  if (c->rank >= 0)
    bn_connection_lose(c, "its agent or the process of this rank has ended%s", where);
  else if (!tells_reason)
    bn_connection_lose(c, "its connection was closed%s", where);
  else if (WIFSIGNALED(wait_status))
    bn_connection_lose(c, "the process started for it was ended by a signal: %s",
                       strsignal(WTERMSIG(wait_status)));
  else
    bn_connection_lose(c, "the process started for it ended with status %d%s",
                       WEXITSTATUS(wait_status),
                       connection_explain_status(c, WEXITSTATUS(wait_status)));
}

/* The loss waits for the end of the process, up to process_end_ns, because the status of the
   process tells the reason, and the end of the stream does not. */
void bn_connection_check_end(struct bn_connection *c, uint64_t now_ns)
{
  const bool has_ended = bn_link_check_ended(&c->link); /* collects the process in each case */

  if (!bn_connection_is_alive(c) || c->closed_ns == 0)
    return;
  if (has_ended || now_ns >= c->closed_ns + process_end_ns)
    connection_lose_stream(c, has_ended);
}

/* Takes the frames that are complete, until the host has ended or is lost.  Returns 0, or -1 and
   err. */
static int connection_handle_frames(struct bn_connection *c, struct bn_err *err)
{
  while (bn_connection_is_alive(c)) {
    struct bn_frame f;
    const int rc = bn_frame_next(&c->link.reader, &f, err);

    if (rc <= 0)
      return rc;
    if (connection_handle_frame(c, &f, err) != 0)
      return -1;
  }
  return 0;
}

void bn_connection_receive(struct bn_connection *c)
{
  const int received = bn_link_receive(&c->link); /* -1: closed; 0: nothing has come */
  struct bn_err err = {0};

  if (received < 0)
    c->closed_ns = bn_clock_mono();
  if (received <= 0)
    return;
  if (connection_handle_frames(c, &err) != 0) {
    bn_escape_error(&err);
    /* Only an error EPROTO is a sentence about the host. */
    bn_connection_lose(c, err.code == EPROTO ? "%s" : "what it sent cannot be read: %s", err.text);
  }
  if (bn_frame_is_within(&c->link.reader, BN_FRAME_RESULT))
    c->result_ns = bn_clock_mono();
}

/* The first call makes the result, which adds a group to c->head.  A host whose ticks make no sense
   counts as one that has sent none. */
struct bn_result *bn_connection_find_result(struct bn_connection *c)
{
  struct bn_err err = {0};

  if (c->has_result)
    return &c->result;
  if (c->head.n_groups == 0 &&
      bn_intervals_make_result(c->intervals, c->number, &c->head, &err) <= 0)
    return NULL;
  return bn_result_total(&c->head) != NULL ? &c->head : NULL;
}

/* --- what goes -------------------------------------------------------------------------------- */

static void connection_send_time(struct bn_connection *c, enum bn_frame_type type, uint64_t ns)
{
  char payload[BN_FRAME_NUMBER];

  bn_frame_write_number(payload, ns);
  connection_send(c, type, payload, sizeof payload);
}

/* While an answer is awaited, which may come after many other frames, a PING with the time 0 is
   sent each second.  It asks for no time, but an agent that hears nothing would end its run. */
void bn_connection_send_ping(struct bn_connection *c)
{
  const uint64_t now_ns = bn_clock_mono();
  const bool is_awaiting = c->ping_ns != 0;
  const bool was_sent_lately = now_ns < c->pinged_ns + BN_NSEC_PER_SEC;

  if (bn_pipe_has_queued(&c->link.to) || (is_awaiting && was_sent_lately))
    return;
  c->pinged_ns = now_ns;
  if (!is_awaiting)
    c->ping_ns = now_ns;
  connection_send_time(c, BN_FRAME_PING, is_awaiting ? 0 : now_ns);
}

void bn_connection_send_start(struct bn_connection *c, uint64_t at_ns)
{
  if (!bn_connection_is_alive(c))
    return;
  /* Returns true, because the clocks have been compared before. */
  (void)bn_clock_sync_read(&c->clock_sync, bn_clock_mono(), &c->clock);
  c->state = BN_CONNECTION_RUNNING;
  connection_send_time(c, BN_FRAME_START, bn_clock_sync_to_there(&c->clock, at_ns));
}

void bn_connection_send_stop(struct bn_connection *c, enum bn_frame_stop how)
{
  const char payload = (char)how;

  connection_send(c, BN_FRAME_STOP, &payload, sizeof payload);
}

void bn_connection_send_pass(struct bn_connection *c)
{
  c->is_waiting = false;
  connection_send(c, BN_FRAME_PASS, "", 0);
}

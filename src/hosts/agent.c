/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of an agent, and the thread that listens to the controller. */
#include "hosts/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/wait.h"
#include "engine/run.h"
#include "hosts/handshake.h"
#include "hosts/launcher.h"
#include "hosts/remote_output.h"
#include "hosts/source.h"
#include "hosts/temp_folder.h"
#include "measure/host.h"
#include "option/words.h"

/* When the controller is lost, the run is stopped in order.  It is stopped at once stop_at_once_ns
   later, and the process exits without it exit_ns later. */
static const uint64_t stop_at_once_ns = BN_NSEC_PER_SEC;
static const uint64_t exit_ns = 3 * BN_NSEC_PER_SEC / 2;
/* How long the last frames may wait for a reader that takes nothing. */
static const uint64_t reader_timeout_ns = 5 * BN_NSEC_PER_SEC;
/* How long a process that is stopped before its run may take to send END. */
static const uint64_t early_end_ns = BN_NSEC_PER_SEC;
/* The longest wait before the state is looked at again.  Each change of it wakes the threads that
   wait, but the listener finds a controller silent only when its own wait is over. */
static const uint64_t poll_ns = BN_NSEC_PER_SEC / 10;

static const struct bn_wait comparing = {"the controller's SAME", BN_BOUND_DEADLINE};
static const struct bn_wait opening = {"the controller's OPEN", BN_BOUND_DEADLINE};
static const struct bn_wait sending = {"the last frames to be sent", BN_BOUND_DEADLINE};
static const struct bn_wait returning = {"the listener to return", BN_BOUND_RETURNING};

/* The stage of the exchange with the controller; it only moves forward. */
enum stage {
  STAGE_HELLO, /* HELLO is awaited */
  STAGE_FILES, /* FILE or OPEN is awaited */
  STAGE_OPEN,  /* the run is made */
  STAGE_RUN,   /* the run can be stopped */
  STAGE_AFTER  /* the run has ended */
};

struct bn_agent {
  int in, out; /* the streams, under numbers of their own; -1: none */
  struct bn_send_queue queue;
  struct bn_temp_folder temp_folder;
  struct bn_handshake handshake;
  char **argv; /* owned, but for the arguments themselves */
  char name[sizeof "bench"];
  struct bn_host_group host_group;
  FILE *document;
  char *text; /* owned; what was written to the document */
  size_t text_len;
  pthread_t listener;
  bool has_listener;
  /* The next three are used by the listener only. */
  struct bn_frame_reader reader;
  uint64_t heard_ns; /* when something came last */
  char input[BN_FRAME_PIECE];
  pthread_mutex_t lock; /* is taken before the locks of the run */
  pthread_cond_t changed;
  /* The lock guards the rest. */
  enum stage stage;
  struct bn_run *run; /* in STAGE_RUN */
  struct bn_remote_output remote_output;
  uint64_t lost_ns;     /* when the controller was lost; 0: it is there */
  bool stopped_at_once; /* the controller is lost, and the run has been stopped at once */
  bool listener_ends;   /* the listener is to return */
  bool has_same;        /* SAME has come for the last SOURCE */
};

bool bn_agent_is_wanted(int argc, char *const *argv)
{
  return argc == 2 && strcmp(argv[1], "--agent") == 0;
}

/* --- the listener: what a frame does ---------------------------------------------------------- */

static void agent_lock(struct bn_agent *a)
{
  (void)pthread_mutex_lock(&a->lock);
}

/* Releases the lock, and wakes the threads that wait for a change of what it guards. */
static void agent_unlock(struct bn_agent *a)
{
  bn_wait_wake(&a->changed);
  (void)pthread_mutex_unlock(&a->lock);
}

/* Returns the stage.  Up to STAGE_OPEN, the listener alone changes it, so it can rely on the result
   without the lock. */
static enum stage agent_get_stage(struct bn_agent *a)
{
  enum stage stage;

  agent_lock(a);
  stage = a->stage;
  agent_unlock(a);
  return stage;
}

static void agent_set_stage(struct bn_agent *a, enum stage stage)
{
  agent_lock(a);
  a->stage = stage;
  agent_unlock(a);
}

/* Sets when the controller was lost, and stops the run in order.  Does nothing the second time. */
static void agent_lose_controller(struct bn_agent *a)
{
  agent_lock(a);
  if (a->lost_ns == 0) {
    a->lost_ns = bn_clock_mono();
    if (a->run != NULL)
      bn_run_stop(a->run, false /* at_once */);
  }
  agent_unlock(a);
}

/* Refuses a frame that the controller must not send now.  Returns -1. */
static int agent_refuse_frame(const struct bn_frame *f, struct bn_err *err)
{
  return bn_err_set(err, EPROTO, "the controller sent %s at a wrong time",
                    bn_frame_get_type_name(f->type));
}

/* Answers HELLO.  Returns 0, or -1 if the controller does not read any more. */
static int agent_send_welcome(struct bn_agent *a)
{
  struct bn_host host;
  size_t len = 0;
  char *text;
  int rc;

  bn_host_read(&host, "");
  text = bn_welcome_print(host.name, &len);
  rc = bn_send_queue_put(&a->queue, BN_FRAME_WELCOME, text, len);
  free(text);
  return rc;
}

/* Makes the command line of the run: item i + 1 is word i of the handshake, which owns it. */
static void agent_make_argv(struct bn_agent *a)
{
  const struct bn_list *list = &a->handshake.argv;

  a->argv = bn_alloc(1 + list->n + 1 /* NULL */, sizeof *a->argv);
  a->argv[0] = a->name;
  for (size_t i = 0; i < list->n; i++)
    a->argv[i + 1] = list->item[i];
}

/* Stores the command line, puts the passwords into the environment, and answers WELCOME.  From now
   on the output of a command other than `run` goes to the controller.  Returns 0, or -1 and err. */
static int agent_handle_hello(struct bn_agent *a, const struct bn_frame *f, struct bn_err *err)
{
  const struct bn_list *words = &a->handshake.argv; /* the last one is the command */

  if (agent_get_stage(a) != STAGE_HELLO)
    return agent_refuse_frame(f, err);
  if (bn_handshake_parse(f->data, f->len, &a->handshake, err) != 0)
    return -1;
  agent_make_argv(a);
  if (bn_handshake_set_environment(&a->handshake, err) != 0)
    return -1;
  if (strcmp(words->item[words->n - 1], "run") != 0 &&
      bn_remote_output_begin(&a->remote_output, err) != 0)
    return -1;
  if (agent_send_welcome(a) != 0)
    return -1;
  a->host_group.first = (unsigned)a->handshake.first_session;
  a->host_group.sessions = (unsigned)a->handshake.sessions;
  agent_set_stage(a, STAGE_FILES);
  return 0;
}

/* Stores a file of the controller in the temporary folder.  Returns 0, or -1 and err. */
static int agent_handle_file(struct bn_agent *a, const struct bn_frame *f, struct bn_err *err)
{
  struct bn_frame_file file;

  if (agent_get_stage(a) != STAGE_FILES)
    return agent_refuse_frame(f, err);
  if (bn_frame_get_file(f, &file, err) != 0)
    return -1;
  return bn_temp_folder_add(&a->temp_folder, &file, err);
}

/* Replaces the name of each configuration file, all of which were sent, by its path in the
   temporary folder.  That folder is not the working folder of the run, because the files that the
   run makes are to stay.  Scripts need no path: they are looked for in the temporary folder first.
 */
static void agent_place_config_files(struct bn_agent *a)
{
  const struct bn_list *list = &a->handshake.argv;

  for (size_t i = 0; i < list->n; i++) {
    const char *name = list->item[i];

    if (!bn_words_skip(&name, "--config-file=") || name[0] == '\0')
      continue;
    char *placed = bn_alloc_print("--config-file=%s/%s", a->temp_folder.path, name);

    free(list->item[i]);
    list->item[i] = a->argv[i + 1] = placed; /* agent_make_argv() has put item i there */
  }
}

/* Has the main thread go on, now that all files have come.  Returns 0, or -1 and err. */
static int agent_handle_open(struct bn_agent *a, const struct bn_frame *f, struct bn_err *err)
{
  if (agent_get_stage(a) != STAGE_FILES)
    return agent_refuse_frame(f, err);
  agent_place_config_files(a);
  agent_set_stage(a, STAGE_OPEN);
  return 0;
}

/* Answers a PING with its time and the time here.  Returns 0, or -1 if the controller does not
   read any more. */
static int agent_handle_ping(struct bn_agent *a, const struct bn_frame *f)
{
  char pong[2 * BN_FRAME_NUMBER];

  bn_frame_write_number(pong, bn_frame_get_number(f, 0));
  bn_frame_write_number(pong + BN_FRAME_NUMBER, bn_clock_mono());
  return bn_send_queue_put(&a->queue, BN_FRAME_PONG, pong, sizeof pong);
}

/* Sets when the sessions begin.  Returns 0, or -1 and err if there is no run yet.  After the run,
   does nothing. */
static int agent_handle_start(struct bn_agent *a, const struct bn_frame *f, struct bn_err *err)
{
  const uint64_t start_ns = bn_frame_get_number(f, 0);
  bool is_early;

  agent_lock(a);
  is_early = a->stage < STAGE_RUN;
  /* To bn_run_set_start(), 0 means no time, so a START at 0 is passed as 1: both have passed. */
  if (a->run != NULL)
    bn_run_set_start(a->run, start_ns != 0 ? start_ns : 1);
  agent_unlock(a);
  return is_early ? agent_refuse_frame(f, err) : 0;
}

/* Lets the sessions of a command go on, because the sessions of all hosts have met.  Returns 0, or
   -1 and err if there is no run yet.  After the run, does nothing. */
static int agent_handle_pass(struct bn_agent *a, const struct bn_frame *f, struct bn_err *err)
{
  bool is_early;

  agent_lock(a);
  is_early = a->stage < STAGE_RUN;
  if (a->run != NULL)
    bn_run_release_barrier(a->run);
  agent_unlock(a);
  return is_early ? agent_refuse_frame(f, err) : 0;
}

/* Lets bn_agent_compare_source() return, because the controller has the same script. */
static void agent_handle_same(struct bn_agent *a)
{
  agent_lock(a);
  a->has_same = true;
  agent_unlock(a);
}

/* Stops the run in order or at once; a->run is NULL before STAGE_RUN, and after the run.  If there
   is no run yet, sends END and ends the process, with the status of a program that SIGINT ends
   before its run. */
static void agent_handle_stop(struct bn_agent *a, const struct bn_frame *f)
{
  const unsigned char early_status = BN_STATUS_SIGNAL + SIGINT;
  enum stage stage;

  agent_lock(a);
  stage = a->stage;
  if (a->run != NULL)
    bn_run_stop(a->run, bn_frame_get_byte(f) == BN_FRAME_STOP_NOW);
  agent_unlock(a);
  if (stage >= STAGE_RUN)
    return;
  (void)bn_send_queue_put(&a->queue, BN_FRAME_END, &early_status, sizeof early_status);
  bn_send_queue_flush(&a->queue, bn_clock_mono() + early_end_ns);
  _exit(early_status);
}

/* Does what a frame says.  Returns 0, or -1 if no more frames can be taken; err then has the reason
   for the controller, or no sentence if the controller does not read any more. */
static int agent_handle_frame(struct bn_agent *a, const struct bn_frame *f, struct bn_err *err)
{
  switch (f->type) {
  case BN_FRAME_HELLO:
    return agent_handle_hello(a, f, err);
  case BN_FRAME_FILE:
    return agent_handle_file(a, f, err);
  case BN_FRAME_OPEN:
    return agent_handle_open(a, f, err);
  case BN_FRAME_PING:
    return agent_handle_ping(a, f);
  case BN_FRAME_START:
    return agent_handle_start(a, f, err);
  case BN_FRAME_STOP:
    agent_handle_stop(a, f);
    return 0;
  case BN_FRAME_PASS:
    return agent_handle_pass(a, f, err);
  case BN_FRAME_SAME:
    agent_handle_same(a);
    return 0;
  default:
    return agent_refuse_frame(f, err);
  }
}

/* --- the listener: the streams ---------------------------------------------------------------- */

/* Adds the first len bytes of a->input to the stream, and handles the frames that are complete now.
   Returns 0, or -1 and err as agent_handle_frame(). */
static int agent_handle_frames(struct bn_agent *a, size_t len, struct bn_err *err)
{
  struct bn_frame f;
  int rc = bn_frame_feed(&a->reader, a->input, len, err);

  while (rc == 0 && (rc = bn_frame_next(&a->reader, &f, err)) > 0)
    rc = agent_handle_frame(a, &f, err);
  return rc;
}

/* Reads a piece of the input, and does what its frames say.  The controller is lost if the input
   has ended, or if a frame is refused, for which REFUSE has the reason if there is one. */
static void agent_receive(struct bn_agent *a)
{
  const ssize_t n = read(a->in, a->input, sizeof a->input);
  struct bn_err err = {0};

  if (n < 0 && (errno == EINTR || errno == EAGAIN))
    return;
  a->heard_ns = bn_clock_mono();
  if (n > 0 && agent_handle_frames(a, (size_t)n, &err) == 0)
    return;
  if (err.text[0] != '\0')
    (void)bn_send_queue_put(&a->queue, BN_FRAME_REFUSE, err.text, strlen(err.text));
  agent_lose_controller(a);
}

/* Escalates the stop that agent_lose_controller() has begun: stops the run at once after
   stop_at_once_ns, and exits without its report after exit_ns. */
static void agent_escalate(struct bn_agent *a)
{
  const uint64_t now_ns = bn_clock_mono();

  agent_lock(a);
  const uint64_t lost_for_ns = a->lost_ns != 0 ? now_ns - a->lost_ns : 0;

  if (lost_for_ns >= exit_ns)
    _exit(BN_STATUS_FAILED);
  if (lost_for_ns >= stop_at_once_ns && !a->stopped_at_once) {
    a->stopped_at_once = true;
    if (a->run != NULL)
      bn_run_stop(a->run, true /* at_once */);
  }
  agent_unlock(a);
}

/* The descriptors that the listener waits for: frames from the controller, a put into the send
   queue, frames to the controller, and text that the command prints. */
enum { FD_IN, FD_WAKE, FD_OUT, FD_PRINTED, STREAMS };

/* Lists the streams to wait for.  The input is not read any more once the controller is lost.  The
   output is listed even if there is nothing to send, because poll(2) tells if its reader has left.
   Returns false if the listener is to return. */
static bool agent_list_streams(struct bn_agent *a, struct pollfd p[STREAMS])
{
  const bool is_broken = bn_send_queue_is_broken(&a->queue);
  const bool has_frames = bn_send_queue_get_pending(&a->queue) > 0;
  bool goes_on;

  p[FD_WAKE] = (struct pollfd){.fd = a->queue.wake, .events = POLLIN};
  p[FD_OUT] = (struct pollfd){.fd = is_broken ? -1 : a->out, .events = has_frames ? POLLOUT : 0};
  agent_lock(a);
  p[FD_IN] = (struct pollfd){.fd = a->lost_ns != 0 ? -1 : a->in, .events = POLLIN};
  p[FD_PRINTED] = (struct pollfd){.fd = a->remote_output.fd, .events = POLLIN};
  goes_on = !a->listener_ends;
  agent_unlock(a);
  return goes_on;
}

static void agent_serve_streams(struct bn_agent *a, struct pollfd p[STREAMS])
{
  if (poll(p, STREAMS, (int)(poll_ns / BN_NSEC_PER_MSEC)) <= 0)
    return;
  if (p[FD_WAKE].revents != 0)
    bn_send_queue_reset_wake(&a->queue);
  if ((p[FD_OUT].revents & POLLOUT) != 0)
    (void)bn_send_queue_send_piece(&a->queue); /* a failure breaks the queue */
  else if (p[FD_OUT].revents != 0)
    bn_send_queue_break(&a->queue); /* POLLERR or POLLHUP: the reader has left */
  if (p[FD_PRINTED].revents != 0) {
    agent_lock(a);
    bn_remote_output_send(&a->remote_output, &a->queue);
    agent_unlock(a);
  }
  if (p[FD_IN].revents != 0)
    agent_receive(a);
  if (bn_send_queue_is_broken(&a->queue))
    agent_lose_controller(a);
}

/* The listener: serves the streams until the main thread lets it go. */
static void *agent_listen(void *arg)
{
  struct bn_agent *a = arg;
  struct pollfd p[STREAMS];

  a->heard_ns = bn_clock_mono();
  while (agent_list_streams(a, p)) {
    agent_serve_streams(a, p);
    if (bn_clock_mono() > a->heard_ns + BN_AGENT_SILENCE_NS)
      agent_lose_controller(a);
    agent_escalate(a);
  }
  return NULL;
}

/* Starts the listener with all signals blocked: they are for the main thread.  Returns 0, or -1 and
   err. */
static int agent_start_listener(struct bn_agent *a, struct bn_err *err)
{
  sigset_t all, before;
  int rc;

  (void)sigfillset(&all);
  (void)pthread_sigmask(SIG_SETMASK, &all, &before);
  rc = bn_wait_spawn(&a->listener, 0 /* the default stack */, agent_listen, a);
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  a->has_listener = rc == 0;
  if (rc == 0)
    return 0;
  return bn_err_set(err, rc, "cannot start a thread: %s", strerror(rc));
}

/* --- the run ---------------------------------------------------------------------------------- */

/* Hands the run to the listener, which starts and stops it from now on.  If the controller is lost
   already, stops the run, as firmly as agent_escalate() would have by now. */
static void agent_attach_run(void *agent, struct bn_run *run)
{
  struct bn_agent *a = agent;

  agent_lock(a);
  a->run = run;
  a->stage = STAGE_RUN;
  if (a->lost_ns != 0)
    bn_run_stop(run, a->stopped_at_once);
  agent_unlock(a);
}

/* Takes the run, which ends, away from the listener. */
static void agent_detach_run(void *agent)
{
  struct bn_agent *a = agent;

  agent_lock(a);
  a->run = NULL;
  a->stage = STAGE_AFTER;
  agent_unlock(a);
}

/* Tells the controller that the sessions here wait for the sessions of the other hosts.  If the
   frame cannot be queued, the queue is broken, and the listener ends the run because of that. */
static void agent_send_meet(void *agent)
{
  struct bn_agent *a = agent;

  (void)bn_send_queue_put(&a->queue, BN_FRAME_MEET, "", 0);
}

const char *bn_agent_get_folder(const struct bn_agent *a)
{
  return a != NULL && a->temp_folder.has_files ? a->temp_folder.path : NULL;
}

bool bn_agent_compare_source(void *agent, const char *file, size_t folder_len, const void *text,
                             size_t len)
{
  struct bn_agent *a = agent;
  struct bn_buf data = {.max = 0};
  bool is_lost;

  bn_source_print(&data, file, folder_len, text, len);
  is_lost = bn_send_queue_put(&a->queue, BN_FRAME_SOURCE, data.data, data.len) != 0;
  bn_buf_done(&data);
  agent_lock(a);
  while (!is_lost && !a->has_same) {
    (void)bn_wait_until(&comparing, &a->changed, &a->lock, bn_clock_mono() + poll_ns);
    is_lost = a->lost_ns != 0;
  }
  a->has_same = false; /* of the next script */
  agent_unlock(a);
  return !is_lost;
}

bool bn_agent_is_first(const struct bn_agent *a)
{
  return a == NULL || a->handshake.host == 0;
}

const struct bn_host_group *bn_agent_get_group(const struct bn_agent *a)
{
  return a != NULL ? &a->host_group : NULL;
}

FILE *bn_agent_open_document(struct bn_agent *a)
{
  a->document = bn_alloc_stream(&a->text, &a->text_len);
  return a->document;
}

/* A document that does not fit into one frame is sent in several. */
int bn_agent_send_document(struct bn_agent *a, struct bn_err *err)
{
  enum { PIECE_MAX = BN_FRAME_MAX - 1 }; /* the type of a frame is one byte of it */

  if (fflush(a->document) != 0)
    return bn_err_set(err, ENOMEM, "out of memory for the result");
  for (size_t sent = 0; sent < a->text_len; sent += PIECE_MAX) {
    const size_t unsent = a->text_len - sent, len = unsent < PIECE_MAX ? unsent : PIECE_MAX;

    if (bn_send_queue_put(&a->queue, BN_FRAME_RESULT, a->text + sent, len) != 0)
      return bn_err_set(err, EPIPE, "the controller does not read the result");
  }
  return 0;
}

struct bn_send_queue *bn_agent_get_send_queue(struct bn_agent *a)
{
  return &a->queue;
}

/* --- life ------------------------------------------------------------------------------------- */

/* Moves the streams of frames from standard input and output to descriptors of their own, so that
   no other text comes between frames.  Standard input is empty from now on, and standard output is
   standard error.  Returns 0, or -1 and err. */
static int agent_move_streams(struct bn_agent *a, struct bn_err *err)
{
  enum { FIRST_FD = 3 }; /* the first number behind the standard streams */
  int null;

  a->in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, FIRST_FD);
  a->out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, FIRST_FD);
  null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (a->in < 0 || a->out < 0 || null < 0 || dup2(null, STDIN_FILENO) < 0 ||
      dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
    return bn_err_set(err, errno, "cannot take the standard streams: %s", strerror(errno));
  (void)close(null);
  return 0;
}

/* Prepares what the listener uses, and starts it last: bn_temp_folder_make() forks, so there must
   be one thread until then.  Returns 0, or -1 and err. */
static int agent_start(struct bn_agent *a, struct bn_err *err)
{
  a->host_group = (struct bn_host_group){
      .of = a, .attach = agent_attach_run, .detach = agent_detach_run, .meet = agent_send_meet};
  bn_wait_init_cond(&a->changed);
  if (bn_send_queue_init(&a->queue, a->out) != 0)
    return bn_err_set(err, errno, "cannot make an event descriptor: %s", strerror(errno));
  if (bn_temp_folder_make(&a->temp_folder, err) != 0)
    return -1;
  return agent_start_listener(a, err);
}

/* Waits for OPEN.  Returns false if the controller is lost. */
static bool agent_await_open(struct bn_agent *a)
{
  bool is_open;

  agent_lock(a);
  while (a->stage < STAGE_OPEN && a->lost_ns == 0)
    (void)bn_wait_until(&opening, &a->changed, &a->lock, bn_clock_mono() + poll_ns);
  is_open = a->lost_ns == 0;
  agent_unlock(a);
  return is_open;
}

/* Returns an agent without streams, without a listener and without a temporary folder. */
static struct bn_agent *agent_new(void)
{
  struct bn_agent *a = bn_alloc(1, sizeof *a);

  memcpy(a->name, "bench", sizeof a->name);
  a->in = a->out = a->queue.fd = a->queue.wake = -1;
  a->temp_folder.at = a->temp_folder.life = a->remote_output.fd = -1;
  (void)pthread_mutex_init(&a->lock, NULL);
  bn_frame_reader_init(&a->reader, BN_FRAME_FROM_CONTROLLER);
  return a;
}

int bn_agent_open(struct bn_agent **out, struct bn_err *err)
{
  struct bn_agent *a;

  *out = NULL;
  if (isatty(STDIN_FILENO) == 1)
    return bn_err_set(err, 0,
                      "--agent: standard input is a terminal; agents are started by a run with "
                      "--hosts");
  a = *out = agent_new();
  /* The dialect is the controller's, not that of this host, and the run of an agent has no hosts of
     its own. */
  (void)unsetenv("BENCH_COMPAT");
  bn_ranks_unset();
  if (agent_move_streams(a, err) != 0)
    return -1;
  if (agent_start(a, err) == 0)
    return agent_await_open(a) ? 0 : -1;
  /* There is no listener, so the refusal is sent here. */
  (void)bn_send_queue_put(&a->queue, BN_FRAME_REFUSE, err->text, strlen(err->text));
  bn_send_queue_flush(&a->queue, bn_clock_mono() + reader_timeout_ns);
  return -1;
}

int bn_agent_get_argc(const struct bn_agent *a)
{
  return (int)a->handshake.argv.n + 1; /* with the program's name */
}

char **bn_agent_get_argv(struct bn_agent *a)
{
  return a->argv;
}

size_t bn_agent_count_outside(const struct bn_agent *a)
{
  return a != NULL ? (size_t)a->handshake.outside : 0;
}

/* Waits until the listener has sent all frames, or until the reader has taken nothing for
   reader_timeout_ns.  Does nothing without a listener, which alone sends frames. */
static void agent_await_sent(struct bn_agent *a)
{
  size_t last_pending = SIZE_MAX; /* more than there can be: the first turn sets until_ns */
  uint64_t until_ns = 0;

  if (!a->has_listener)
    return;
  agent_lock(a);
  for (;;) {
    const size_t pending = bn_send_queue_get_pending(&a->queue);
    const uint64_t now_ns = bn_clock_mono();

    if (pending != last_pending) /* the reader has taken something */
      until_ns = now_ns + reader_timeout_ns;
    last_pending = pending;
    if (pending == 0 || now_ns >= until_ns)
      break;
    /* The queue does not signal a->changed when it gets shorter. */
    (void)bn_wait_until(&sending, &a->changed, &a->lock, now_ns + BN_NSEC_PER_MSEC);
  }
  agent_unlock(a);
}

void bn_agent_send_end(struct bn_agent *a, int status)
{
  const unsigned char byte = (unsigned char)status;

  /* END comes last, because the controller takes no frame after it. */
  agent_lock(a);
  bn_remote_output_end(&a->remote_output, &a->queue);
  agent_unlock(a);
  (void)bn_send_queue_put(&a->queue, BN_FRAME_END, &byte, sizeof byte);
  agent_await_sent(a);
}

/* Lets the listener send all frames, and ends it. */
static void agent_stop_listener(struct bn_agent *a)
{
  if (!a->has_listener)
    return;
  agent_await_sent(a);
  agent_lock(a);
  a->listener_ends = true;
  agent_unlock(a);
  bn_send_queue_wake(&a->queue);
  bn_wait_join(&returning, a->listener);
}

void bn_agent_free(struct bn_agent *a)
{
  if (a == NULL)
    return;
  agent_stop_listener(a);
  bn_temp_folder_done(&a->temp_folder);
  bn_send_queue_done(&a->queue);
  bn_frame_reader_done(&a->reader);
  explicit_bzero(a->input, sizeof a->input); /* it may have passwords */
  bn_handshake_done(&a->handshake);
  free(a->argv);
  free(a->text);
  if (a->in >= 0)
    (void)close(a->in);
  if (a->out >= 0)
    (void)close(a->out);
  (void)pthread_cond_destroy(&a->changed);
  (void)pthread_mutex_destroy(&a->lock);
  free(a);
}

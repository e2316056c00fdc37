/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starts the process that connects to a host, and reads and writes its pipes. */
#include "hosts/link.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/spawn.h"
#include "hosts/handover.h"
#include "option/words.h"

/* A line of standard error that is longer is cut into several. */
enum { LINE_MAX_BYTES = 4096 };

/* --- life ------------------------------------------------------------------------------------- */

/* Makes a link without a process and without pipes. */
static void link_init(struct bn_link *l)
{
  *l = (struct bn_link){.to = {.fd = -1}, .out = -1, .errors = -1};
  bn_frame_reader_init(&l->reader, BN_FRAME_FROM_AGENT);
  l->heard_ns = l->taken_ns = bn_clock_mono();
}

/* Makes the pipes of a link, and stores the ends for its program.  `errors` is NULL if there is no
   pipe for its standard error.  Returns 0, or -1 and errno; the ends that were made stay open. */
static int link_make_pipes(struct bn_link *l, int *in, int *out, int *errors)
{
  if (bn_pipe_make(&l->to.fd, in, true /* we_write */) != 0 ||
      bn_pipe_make(&l->out, out, false /* we_write */) != 0)
    return -1;
  return errors != NULL ? bn_pipe_make(&l->errors, errors, false /* we_write */) : 0;
}

/* Starts the program with the words of argv.  `errors` is its standard error, or -1 for a pipe
   whose lines bn_link_print_errors() prints.  Returns 0, or -1 and err.  After a failure, the pipe
   to the program is closed, which tells bn_fleet_launch() that the host was not started.
   bn_link_done() closes the rest. */
static int link_start(struct bn_link *l, char *const *argv, int errors, const sigset_t *masked,
                      struct bn_err *err)
{
  int in = -1, out = -1, errors_pipe = -1; /* the ends of the program */
  pid_t pid = -1;

  link_init(l);
  if (link_make_pipes(l, &in, &out, errors < 0 ? &errors_pipe : NULL) != 0) {
    (void)bn_err_set(err, errno, "cannot start '%s': %s", argv[0], strerror(errno));
  } else {
    const struct bn_spawn s = {.argv = argv,
                               .in = in,
                               .out = out,
                               .errors = errors >= 0 ? errors : errors_pipe,
                               .masked = masked,
                               .orphaned = SIGTERM};

    pid = bn_spawn(&s, err);
  }
  bn_pipe_close_end(&in);
  bn_pipe_close_end(&out);
  bn_pipe_close_end(&errors_pipe);
  if (pid > 0) {
    l->pid = pid;
    return 0;
  }
  bn_pipe_close(&l->to);
  return -1;
}

int bn_link_start_shell(struct bn_link *l, const char *host, const char *shell, const char *program,
                        const sigset_t *masked, struct bn_err *err)
{
  enum { N_ADDED = 3 };
  const char *const added[N_ADDED] = {host, program, "--agent"};
  struct bn_list words = {.n = 0};
  int rc = bn_words_split(shell, &words, err);
  char **argv = bn_alloc(words.n + N_ADDED + 1 /* NULL */, sizeof *argv);

  if (rc == 0 && words.n == 0)
    rc = bn_err_set(err, EINVAL, "--hosts-shell is empty; leave it out to use ssh");
  for (size_t i = 0; i < words.n; i++)
    argv[i] = words.item[i];
  for (size_t i = 0; i < N_ADDED; i++)
    argv[words.n + i] = (char *)(uintptr_t)added[i]; /* bn_spawn() does not change it */
  if (rc == 0)
    rc = link_start(l, argv, -1 /* errors */, masked, err);
  free(argv);
  bn_words_done(&words);
  return rc;
}

int bn_link_start_agent(struct bn_link *l, bool shares_stderr, const sigset_t *masked,
                        struct bn_err *err)
{
  char *program = bn_spawn_self(err);
  char *argv[] = {program, (char[]){"--agent"}, NULL};
  const int errors = shares_stderr ? STDERR_FILENO : -1;
  const int rc = program != NULL ? link_start(l, argv, errors, masked, err) : -1;

  free(program);
  return rc;
}

int bn_link_request_agent(struct bn_link *l, const char *name, int socket, uint32_t number,
                          struct bn_err *err)
{
  link_init(l);
  if (bn_handover_send_pipes(socket, number, &l->to.fd, &l->out) == 0)
    return 0;
  return bn_err_set(err, errno, "%s: cannot ask the launcher's process for an agent: %s", name,
                    strerror(errno));
}

void bn_link_done(struct bn_link *l)
{
  bn_pipe_close(&l->to);
  bn_pipe_close_end(&l->out);
  bn_pipe_close_end(&l->errors);
  if (l->pid > 0 && !l->ended) {
    bn_link_kill(l, SIGKILL);
    while (waitpid(l->pid, &l->wait_status, 0) < 0 && errno == EINTR)
      continue;
    l->ended = true;
  }
  bn_frame_reader_done(&l->reader);
  bn_buf_done(&l->line);
}

bool bn_link_check_ended(struct bn_link *l)
{
  if (l->pid > 0 && !l->ended)
    l->ended = waitpid(l->pid, &l->wait_status, WNOHANG) == l->pid;
  return l->pid == 0 || l->ended;
}

void bn_link_kill(const struct bn_link *l, int signo)
{
  if (l->pid > 0 && !l->ended)
    (void)kill(-l->pid, signo); /* its process group */
}

/* --- sending ---------------------------------------------------------------------------------- */

void bn_link_send(struct bn_link *l)
{
  if (bn_pipe_send(&l->to) > 0)
    l->taken_ns = bn_clock_mono();
}

/* --- receiving -------------------------------------------------------------------------------- */

int bn_link_receive(struct bn_link *l)
{
  char piece[BN_FRAME_PIECE];
  struct bn_err err = {0};
  ssize_t n;

  do {
    n = read(l->out, piece, sizeof piece);
  } while (n < 0 && errno == EINTR);
  if (n < 0 && errno == EAGAIN)
    return 0;
  if (n > 0 && bn_frame_feed(&l->reader, piece, (size_t)n, &err) == 0) {
    l->heard_ns = bn_clock_mono();
    return 1;
  }
  bn_pipe_close_end(&l->out);
  return -1;
}

/* Prints the line after the name of the host, unless it is empty, and empties it.
   bn_printer_say_foreign() escapes it for the terminal. */
static void link_print_line(struct bn_link *l, struct bn_printer *printer)
{
  struct bn_buf text = {.max = 0};

  /* ssh ends its own lines with "\r\n". */
  if (l->line.len > 0 && l->line.data[l->line.len - 1] == '\r')
    l->line.len--;
  if (l->line.len > 0 && bn_buf_printf(&text, "%s: ", l->name) == 0 &&
      bn_buf_add(&text, l->line.data, l->line.len) == 0)
    bn_printer_say_foreign(printer, text.data);
  bn_buf_done(&text);
  bn_buf_clear(&l->line);
}

/* Appends a text of standard error to the line, and prints each line that it completes.  Cuts a
   very long line into several. */
static void link_print_text(struct bn_link *l, struct bn_printer *printer, const char *text,
                            size_t len)
{
  for (size_t i = 0; i < len; i++) {
    const bool is_end = text[i] == '\n';

    if (!is_end)
      (void)bn_buf_char(&l->line, text[i] != '\0' ? text[i] : ' '); /* a 0 would end the line */
    if (is_end || l->line.len >= LINE_MAX_BYTES)
      link_print_line(l, printer);
  }
}

void bn_link_print_errors(struct bn_link *l, struct bn_printer *printer)
{
  char text[LINE_MAX_BYTES];
  const ssize_t n = l->errors >= 0 ? read(l->errors, text, sizeof text) : 0;

  if (n > 0) {
    link_print_text(l, printer, text, (size_t)n);
    return;
  }
  if (n < 0 && (errno == EAGAIN || errno == EINTR))
    return;
  link_print_line(l, printer); /* the last line, which has no end */
  bn_pipe_close_end(&l->errors);
}

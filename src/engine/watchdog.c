/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints what was measured without waiting for any other thread, and ends the process. */
#include "engine/watchdog.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/wait.h"

/* The longest report that is printed, in bytes. */
enum { TEXT_MAX = 1 << 18 };

/* The time that the main thread has to end the run in order, and the time that the watchdog has
   after it. */
static const uint64_t patience_ns = 5 * BN_NSEC_PER_SEC / 2;
static const uint64_t printing_ns = BN_NSEC_PER_SEC / 2;

static const struct bn_wait order = {"an order to end the process", BN_BOUND_STOP};
static const struct bn_wait thread_return = {"the watchdog to return", BN_BOUND_RETURNING};
static const struct bn_wait end_of_process = {"the end of the process", BN_BOUND_LEFT_BEHIND};

/* --- output that does not block --------------------------------------------------------------- */

/* Opens a pipe or a terminal again, so that a write does not block: other processes may use the
   open file of fd, whose flags have to stay as they are.  Returns the new descriptor, which nothing
   closes because the process ends.  Returns fd for other files, and if the file cannot be opened:
   the alarm that ends the process then bounds a write that blocks. */
static int watchdog_open_nonblocking(int fd)
{
  char name[32];
  struct stat st;
  int new_fd = -1;

  (void)snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
  if (fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode)))
    new_fd = open(name, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  return new_fd >= 0 ? new_fd : fd;
}

/* Writes a part of a text without blocking.  A socket, which watchdog_open_nonblocking cannot open
   again, is written to by send(2).  Returns the length of the part, or -1 and errno. */
static ssize_t watchdog_write(int fd, const char *text, size_t len)
{
  /* A pipe that is writable takes so much at once: the write does not block. */
  const size_t pipe_len = len < PIPE_BUF ? len : PIPE_BUF;
  const ssize_t n = send(fd, text, len, MSG_DONTWAIT | MSG_NOSIGNAL);

  if (n < 0 && errno == ENOTSOCK)
    return write(fd, text, pipe_len);
  return n;
}

/* Writes as much of a text as the reader takes until until_ns. */
static void watchdog_print(int to_fd, const char *text, size_t len, uint64_t until_ns)
{
  const int fd = watchdog_open_nonblocking(to_fd);

  while (len > 0 && bn_wait_until_writable(fd, until_ns)) {
    const ssize_t n = watchdog_write(fd, text, len);

    if (n >= 0) {
      text += n;
      len -= (size_t)n;
    } else if (errno != EAGAIN && errno != EINTR) {
      return;
    }
  }
}

/* Prints the text that was written into `out` since it was last rewound. */
static void watchdog_print_out(const struct bn_watchdog *w, int fd, uint64_t until_ns)
{
  const long len = ftell(w->out);

  watchdog_print(fd, w->text, len > 0 ? (size_t)len : 0, until_ns);
}

/* --- the report and the documents ------------------------------------------------------------- */

/* Prints the text in `out` to each file for which a text report was asked.  Returns whether there
   is such a file. */
static bool watchdog_print_to_files(const struct bn_watchdog *w, uint64_t until_ns)
{
  const struct bn_run_parts *p = w->parts;
  bool has_file = false;

  for (size_t i = 0; i < p->n_reporters; i++) {
    const struct bn_report_use *use = &p->reporters[i];

    if (use->ops == p->text && use->out != NULL) {
      has_file = true;
      watchdog_print_out(w, fileno(use->out), until_ns);
    }
  }
  return has_file;
}

/* Prints the final report, unless it has been printed or no event has begun: to each file for which
   a text report was asked, or, if there is none, to standard error. */
static void watchdog_print_report(struct bn_watchdog *w, uint64_t until_ns)
{
  const struct bn_run_parts *p = w->parts;
  struct bn_run_state end;
  struct bn_times times;

  if (p->text == NULL || bn_reports_is_shown(p->reports) ||
      !bn_threads_get_times(p->threads, &times))
    return;
  bn_outcome_record_end(p->outcome, bn_clock_mono());
  end = bn_run_state_end(p, &times, w->ages);
  bn_reports_print_forced(p->reports, &end, w->out);
  if (!watchdog_print_to_files(w, until_ns))
    watchdog_print_out(w, STDERR_FILENO, until_ns);
  rewind(w->out); /* what is written from now on is printed apart */
}

/* Writes a name as one word of a shell, and ends the line.  base/escape.h would allocate. */
static void watchdog_put_word(const char *text, FILE *out)
{
  (void)fputc('\'', out);
  for (; *text != '\0'; text++)
    if (*text == '\'')
      (void)fputs("'\\''", out);
    else
      (void)fputc(*text, out);
  (void)fputs("'\n", out);
}

/* Drops a document that is half written, and names the journal that has its figures. */
static void watchdog_drop_document(struct bn_watchdog *w, const struct bn_report_use *use)
{
  char journal[PATH_MAX];
  int len;

  if (bn_outcome_stage(w->parts->outcome) == BN_STAGE_DOCUMENTS)
    bn_file_drop_unsaved(use->path);
  if (use->ops->journal == NULL)
    return;
  len = snprintf(journal, sizeof journal, "%s%s", use->path, use->ops->journal);
  if ((size_t)len >= sizeof journal || access(journal, F_OK) != 0)
    return;
  (void)fprintf(w->out,
                "'%s' is not complete: what was measured is in a journal; print it with: "
                "bench report ",
                use->path);
  watchdog_put_word(journal, w->out);
}

/* Drops the documents that are half written, and adds to `out` where their journals are.  Only
   reporters that write a file of their own have documents; standard output is none. */
static void watchdog_drop_documents(struct bn_watchdog *w)
{
  const struct bn_run_parts *p = w->parts;

  for (size_t i = 0; i < p->n_reporters; i++)
    if (p->reporters[i].ops->own_file && !bn_file_is_stdout(p->reporters[i].path))
      watchdog_drop_document(w, &p->reporters[i]);
}

/* --- the thread ------------------------------------------------------------------------------- */

/* Handles the alarm that bounds the printing: ends the process with the status that it carries. */
static void watchdog_on_alarm(int signo, siginfo_t *info, void *context)
{
  (void)signo;
  (void)context;
  _exit(info->si_value.sival_int);
}

/* Prints what can be printed in printing_ns and ends the process.  A run that is ended by force has
   failed, so that its status is never 0. */
_Noreturn static void watchdog_end_process(struct bn_watchdog *w)
{
  const uint64_t until_ns = bn_clock_mono() + printing_ns;
  const int outcome = bn_outcome_status(w->parts->outcome);
  const int status = outcome != BN_STATUS_OK ? outcome : BN_STATUS_FAILED;

  bn_wait_set_alarm(printing_ns, watchdog_on_alarm, status);
  watchdog_print_report(w, until_ns);
  if (bn_log_has_asides() && !bn_alloc_has_failed())
    (void)fputs("some threads have not stopped: ending without them\n", w->out);
  watchdog_drop_documents(w);
  watchdog_print_out(w, STDERR_FILENO, until_ns);
  _exit(status);
}

/* Waits for the time of an order, or for the end of the run.  If a thread has got no memory, it
   waits for the end of the process, which is ended even if the run has ended meanwhile. */
static void *watchdog_main(void *arg)
{
  struct bn_watchdog *w = arg;
  bool is_stopped;

  (void)pthread_mutex_lock(&w->lock);
  while (!w->stop && bn_clock_mono() < w->at_ns)
    (void)bn_wait_until(&order, &w->changed, &w->lock, w->at_ns);
  is_stopped = w->stop;
  (void)pthread_mutex_unlock(&w->lock);
  if (!is_stopped || bn_alloc_has_failed())
    watchdog_end_process(w);
  return NULL;
}

/* Orders the end of the process at at_ns, unless an earlier end was ordered. */
static void watchdog_order_at(struct bn_watchdog *w, uint64_t at_ns)
{
  (void)pthread_mutex_lock(&w->lock);
  w->at_ns = bn_clock_min(w->at_ns, at_ns);
  bn_wait_wake(&w->changed);
  (void)pthread_mutex_unlock(&w->lock);
}

void bn_watchdog_order_end(struct bn_watchdog *w)
{
  watchdog_order_at(w, bn_clock_mono() + patience_ns);
}

void bn_watchdog_order_end_at_once(struct bn_watchdog *w)
{
  watchdog_order_at(w, bn_clock_mono());
}

/* Lets the watchdog print the report and end the process, for a thread that gets no memory. */
static void watchdog_end_without_memory(void *of)
{
  bn_watchdog_order_end_at_once(of);
  bn_wait_park(&end_of_process);
}

int bn_watchdog_start(struct bn_watchdog *w, struct bn_err *err)
{
  const int rc = bn_wait_spawn(&w->thread, 0, watchdog_main, w);

  if (rc != 0)
    return bn_err_set(err, rc, "cannot start the watchdog: %s", strerror(rc));
  w->made = true;
  bn_alloc_before_exit(watchdog_end_without_memory, w);
  return 0;
}

void bn_watchdog_stop(struct bn_watchdog *w)
{
  if (!w->made)
    return;
  bn_alloc_before_exit(NULL, NULL);
  (void)pthread_mutex_lock(&w->lock);
  w->stop = true;
  bn_wait_wake(&w->changed);
  (void)pthread_mutex_unlock(&w->lock);
  bn_wait_join(&thread_return, w->thread);
  w->made = false;
}

void bn_watchdog_init(struct bn_watchdog *w, const struct bn_run_parts *parts)
{
  *w = (struct bn_watchdog){.at_ns = UINT64_MAX, .text = bn_alloc(1, TEXT_MAX)};
  w->out = fmemopen(w->text, TEXT_MAX, "w");
  if (w->out == NULL)
    bn_alloc_fail();
  /* Unbuffered: stdio would allocate a buffer at the first write, and the watchdog also writes when
     there is no memory. */
  (void)setvbuf(w->out, NULL, _IONBF, 0);
  w->ages = parts->pacer != NULL ? bn_hist_new() : NULL;
  bn_wait_init_cond(&w->changed);
  (void)pthread_mutex_init(&w->lock, NULL);
  w->parts = parts;
}

void bn_watchdog_done(struct bn_watchdog *w)
{
  (void)fclose(w->out);
  bn_hist_free(w->ages);
  free(w->text);
  (void)pthread_cond_destroy(&w->changed);
  (void)pthread_mutex_destroy(&w->lock);
}

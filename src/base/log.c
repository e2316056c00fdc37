/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints levelled messages with duplicate folding: the only sink. */
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/escape.h"
#include "base/wait.h"

enum { KINDS_MAX = 64, REPRINTED_MAX = 200 /* bytes of an error that are printed again */ };

/* The last message of a stream, and how often it came again at once. */
struct last_message {
  char *line;        /* the message with its prefix; NULL: none */
  unsigned repeated; /* how often it was swallowed since */
};

/* An error that is printed once, and the threads that had it; threads[0] has printed it. */
struct kind {
  char *name;  /* kind named by the caller, else all lines of the error */
  char *first; /* first text, in one line */
  uintptr_t *threads;
  size_t n_threads;
  size_t n_reported; /* n_threads when it was last printed */
};

/* The recorded messages have a lock of their own, because a thread that holds the lock of the sink
   may wait for a reader of standard output. */
struct messages {
  pthread_mutex_t lock;
  struct bn_log_message row[BN_LOG_MESSAGES_MAX];
  size_t n;
};

/* The line of progress that shows how long its work has lasted; text "": none. */
struct timed_progress {
  pthread_mutex_t lock;
  char text[160];
  uint64_t since_ns;
};

static struct {
  pthread_mutex_t lock;
  struct last_message out;    /* on standard output */
  struct last_message errors; /* if errors go to stderr */
  struct kind kind[KINDS_MAX];
  size_t n_kinds;
  char *refused;        /* the last refusal; NULL: none */
  atomic_bool progress; /* a progress line is on the terminal */
  _Atomic bool errors_are_separate;
  atomic_int verbosity;
  atomic_bool asides;
  struct messages messages;
  struct timed_progress timed_progress;
} sink = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .timed_progress = {.lock = PTHREAD_MUTEX_INITIALIZER},
          .messages = {.lock = PTHREAD_MUTEX_INITIALIZER},
          .verbosity = BN_NOTICE,
          .asides = true};

/* The session from which the messages of this thread of the operating system come; NULL: they are
   the thread's own. */
static _Thread_local const void *log_session;

void bn_log_set_session(const void *session)
{
  log_session = session;
}

void bn_log_set_verbosity(int level)
{
  atomic_store_explicit(&sink.verbosity, level, memory_order_relaxed);
}

int bn_log_get_verbosity(void)
{
  return atomic_load_explicit(&sink.verbosity, memory_order_relaxed);
}

/* --- recorded messages ------------------------------------------------------------------------ */

/* Returns the row of that text, which is added if there is none, or NULL if there is no room for
   it.  The caller holds the lock of the messages. */
static struct bn_log_message *log_find_or_add_row(int level, const char *text, size_t len)
{
  struct bn_log_message *row = sink.messages.row;

  for (; row < sink.messages.row + sink.messages.n; row++)
    if (row->level == level && strncmp(row->text, text, len) == 0 && row->text[len] == '\0')
      return row;
  if (sink.messages.n == BN_LOG_MESSAGES_MAX)
    return NULL;
  *row = (struct bn_log_message){
      .wall_ns = bn_clock_wall(), .level = level, .text = bn_alloc_part(text, len)};
  sink.messages.n++;
  return row;
}

/* Records a message, without the newlines at its end, or counts it again. */
static void log_remember(int level, const char *text)
{
  size_t len = strlen(text);
  struct bn_log_message *row;

  while (len > 0 && text[len - 1] == '\n')
    len--;
  if (len == 0)
    return;
  pthread_mutex_lock(&sink.messages.lock);
  row = log_find_or_add_row(level, text, len);
  if (row != NULL)
    row->times++;
  pthread_mutex_unlock(&sink.messages.lock);
}

void bn_log_each_message(void (*fn)(void *arg, const struct bn_log_message *message), void *arg)
{
  pthread_mutex_lock(&sink.messages.lock);
  for (size_t i = 0; i < sink.messages.n; i++)
    fn(arg, &sink.messages.row[i]);
  pthread_mutex_unlock(&sink.messages.lock);
}

/* Returns the text before a message: "" for a level that has none, or that does not exist. */
static const char *log_prefix_of(int level)
{
  static const char *const prefixes[] = {"FATAL: ", "ALERT: ", "WARNING: ", "", "", "DEBUG: "};

  return level < 0 || level > BN_DEBUG ? "" : prefixes[level];
}

/* Moves the cursor of a terminal to the beginning of its line, and clears the line. */
static const char clear_line[] = "\r\033[K";

/* Removes the line of progress, if there is one, before a message. */
static void log_clear_progress(void)
{
  if (atomic_exchange(&sink.progress, false))
    (void)fputs(clear_line, stderr);
}

/* Returns whether the terminal takes text now and shows the lines of this process.  It does not
   while it is stopped, or while this process is in the background.  For a terminal that does not
   control this process, like one that a test made, tcgetpgrp returns -1. */
static bool log_terminal_reads(void)
{
  const pid_t front = tcgetpgrp(STDERR_FILENO);

  return (front == -1 || front == getpgrp()) && bn_wait_is_writable(STDERR_FILENO);
}

/* Draws the line of progress, or removes it (NULL).  While another thread prints, the line stays as
   it is: that thread may wait for a reader of stdout, and a line of progress is not worth waiting
   for.  A line of which only a part was written counts as none. */
static void log_draw_progress(const char *text)
{
  char line[256];
  int len;

  if (!bn_log_has_asides() || isatty(STDERR_FILENO) != 1)
    return;
  if (text == NULL && !atomic_load(&sink.progress))
    return; /* there is no line to be removed */
  if (!log_terminal_reads() || pthread_mutex_trylock(&sink.lock) != 0)
    return;
  len = snprintf(line, sizeof line, "%s%s", atomic_load(&sink.progress) ? clear_line : "",
                 text != NULL ? text : "");
  len = len < (int)sizeof line ? len : (int)sizeof line - 1;
  const bool is_written = write(STDERR_FILENO, line, (size_t)len) == len;

  atomic_store(&sink.progress, is_written && text != NULL);
  pthread_mutex_unlock(&sink.lock);
}

/* Sets the line that bn_log_redraw_progress draws; "": none. */
static void log_set_timed_progress(const char *text, uint64_t since_ns)
{
  struct timed_progress *p = &sink.timed_progress;

  pthread_mutex_lock(&p->lock);
  (void)snprintf(p->text, sizeof p->text, "%s", text);
  p->since_ns = since_ns;
  pthread_mutex_unlock(&p->lock);
}

void bn_log_progress(const char *text)
{
  log_set_timed_progress("", 0);
  log_draw_progress(text);
}

void bn_log_progress_since(const char *text, uint64_t since_ns)
{
  log_set_timed_progress(text, since_ns);
  bn_log_redraw_progress();
}

void bn_log_redraw_progress(void)
{
  struct timed_progress *p = &sink.timed_progress;
  char line[sizeof p->text + 32]; /* ", N s" has at most 24 bytes */

  pthread_mutex_lock(&p->lock);
  if (p->text[0] != '\0') {
    (void)snprintf(line, sizeof line, "%s, %llu s", p->text,
                   (unsigned long long)((bn_clock_mono() - p->since_ns) / BN_NSEC_PER_SEC));
    log_draw_progress(line);
  }
  pthread_mutex_unlock(&p->lock);
}

/* Prints how often the last message was swallowed, and counts anew.  The caller holds the lock. */
static void log_print_repeats(struct last_message *last, FILE *out)
{
  if (last->repeated > 0)
    (void)fprintf(out, "(last message repeated %u times)\n", last->repeated);
  last->repeated = 0;
}

/* Forgets the last message, so that the next one is printed even if it is the same. */
static void log_forget_last(struct last_message *last)
{
  free(last->line);
  last->line = NULL;
}

/* As bn_log_settle.  The caller holds the lock. */
static void log_settle_locked(void)
{
  log_clear_progress();
  log_print_repeats(&sink.out, stdout);
  log_forget_last(&sink.out);
}

void bn_log_settle(void)
{
  pthread_mutex_lock(&sink.lock);
  log_settle_locked();
  pthread_mutex_unlock(&sink.lock);
}

/* Prints `line`, or counts it if it is the same as the last message; empty lines are never counted.
   Takes over `line`.  The caller holds the lock. */
static void log_print(struct last_message *last, FILE *out, char *line)
{
  const bool is_empty = strcmp(line, "\n") == 0;

  if (!is_empty && last->line != NULL && strcmp(line, last->line) == 0) {
    last->repeated++;
    free(line);
    return;
  }
  log_print_repeats(last, out);
  (void)fputs(line, out);
  (void)fflush(out);
  free(last->line);
  last->line = line;
}

/* Takes over `line` and prints it on standard output. */
static void log_emit(char *line)
{
  pthread_mutex_lock(&sink.lock);
  log_clear_progress();
  log_print(&sink.out, stdout, line);
  pthread_mutex_unlock(&sink.lock);
}

/* --- errors of many threads ------------------------------------------------------------------- */

/* Returns the kind of that name, which is added if there is none, or NULL if there is no room for
   it.  The caller holds the lock. */
static struct kind *log_find_or_add_kind(const char *name)
{
  struct kind *k = sink.kind;

  for (; k < sink.kind + sink.n_kinds; k++)
    if (strcmp(k->name, name) == 0)
      return k;
  if (sink.n_kinds == KINDS_MAX)
    return NULL;
  *k = (struct kind){.name = bn_alloc_text(name)};
  sink.n_kinds++;
  return k;
}

/* Returns the index of a thread in k->threads, or k->n_threads if it has not had the error. */
static size_t log_find_thread(const struct kind *k, uintptr_t thread)
{
  size_t i = 0;

  while (i < k->n_threads && k->threads[i] != thread)
    i++;
  return i;
}

/* Counts this thread among those that had the error.  Returns whether another thread, threads[0],
   has printed the error. */
static bool log_count_thread(struct kind *k)
{
  const uintptr_t self = log_session != NULL ? (uintptr_t)log_session : (uintptr_t)pthread_self();
  const size_t index = log_find_thread(k, self);

  if (index == k->n_threads) {
    k->threads = bn_alloc_grow(k->threads, k->n_threads, sizeof *k->threads);
    k->threads[k->n_threads++] = self;
  }
  return index > 0;
}

/* Cuts a text of more than REPRINTED_MAX bytes before a character of UTF-8, and adds "...". */
static void log_shorten(struct bn_buf *b)
{
  size_t len = REPRINTED_MAX;

  if (b->len <= REPRINTED_MAX)
    return;
  /* The bytes of a character after its first one begin with the bits 10. */
  while (len > 0 && ((unsigned char)b->data[len] & 0xc0) == 0x80)
    len--;
  b->len = len;
  (void)bn_buf_str(b, "...");
}

/* Returns the text of an error without "FATAL: ", "ALERT: " or "WARNING: ". */
static const char *log_skip_prefix(const char *line)
{
  for (int level = BN_FATAL; level <= BN_WARNING; level++) {
    const char *prefix = log_prefix_of(level);

    if (strncmp(line, prefix, strlen(prefix)) == 0)
      return line + strlen(prefix);
  }
  return line;
}

/* Returns the lines of an error in one line without their prefixes, shortened if it is long.  The
   caller frees it. */
static char *log_join_error_lines(const char *text)
{
  struct bn_buf b = {.max = 0};

  while (*text != '\0') {
    text = log_skip_prefix(text);
    text += strspn(text, " \t");
    const size_t len = strcspn(text, "\n");

    if (len > 0 && b.len > 0)
      (void)bn_buf_str(&b, ": ");
    (void)bn_buf_add(&b, text, len);
    text += text[len] == '\n' ? len + 1 : len;
  }
  log_shorten(&b);
  return bn_buf_take(&b);
}

/* Messages on standard error come after such a flush, so that earlier text is before them if both
   streams go to the same terminal or file.  A thread that hangs in a report keeps the lock of the
   stream: then nothing is flushed, and the text in its buffer is lost. */
bool bn_log_flush(void)
{
  if (ftrylockfile(stdout) != 0)
    return false;
  const bool is_flushed = fflush(stdout) == 0 && ferror(stdout) == 0;

  funlockfile(stdout);
  return is_flushed;
}

/* Takes over `line` and prints it on standard error, unless another thread has printed an error of
   the same kind.  kind NULL: the line itself is the name of the kind.  If there is no room for
   another kind, the line is printed. */
static void log_emit_error(char *line, const char *kind)
{
  struct kind *k;

  pthread_mutex_lock(&sink.lock);
  k = log_find_or_add_kind(kind != NULL ? kind : line);
  if (k != NULL && log_count_thread(k)) {
    free(line);
  } else {
    if (k != NULL && k->first == NULL)
      k->first = log_join_error_lines(line);
    log_clear_progress();
    (void)bn_log_flush();
    log_print(&sink.errors, stderr, line);
  }
  pthread_mutex_unlock(&sink.lock);
}

/* Returns how many more threads had the error since that number was last printed.  The first thread
   has printed the error itself. */
static size_t log_count_more_threads(const struct kind *k)
{
  const size_t n_known = k->n_reported > 0 ? k->n_reported : 1;

  return k->n_threads > n_known ? k->n_threads - n_known : 0;
}

/* Returns whether the same threads had both errors, and equally many of them have been reported.
   No list has a thread twice, so if both are equally long, b need only have the threads of a. */
static bool log_kinds_have_same_threads(const struct kind *a, const struct kind *b)
{
  if (a->n_threads != b->n_threads || a->n_reported != b->n_reported)
    return false;
  for (size_t i = 0; i < a->n_threads; i++) /* most often, the order is the same too */
    if (a->threads[i] != b->threads[i] && log_find_thread(b, a->threads[i]) == b->n_threads)
      return false;
  return true;
}

/* Returns whether the same threads had all kinds of errors, so that one line can count them. */
static bool log_all_kinds_have_same_threads(void)
{
  for (size_t i = 1; i < sink.n_kinds; i++)
    if (!log_kinds_have_same_threads(&sink.kind[i], &sink.kind[0]))
      return false;
  return true;
}

/* Prints the number of further threads and their error, unless that is NULL. */
static void log_print_thread_count(size_t n, const char *error)
{
  log_clear_progress();
  (void)fprintf(stderr, "(%zu more thread%s%s%s)\n", n, n == 1 ? "" : "s",
                error != NULL ? ": " : "", error != NULL ? error : "");
}

void bn_log_print_more_threads(void)
{
  /* The thread that holds the lock may wait for a reader of stdout, for which no run waits. */
  if (pthread_mutex_trylock(&sink.lock) != 0)
    return;
  const bool is_one_line = log_all_kinds_have_same_threads();

  log_print_repeats(&sink.errors, stderr);
  log_forget_last(&sink.errors);
  for (size_t i = 0; i < sink.n_kinds; i++) {
    struct kind *k = &sink.kind[i];
    const size_t n = log_count_more_threads(k);

    if (n > 0 && (i == 0 || !is_one_line))
      log_print_thread_count(n, is_one_line ? NULL : k->first);
    k->n_reported = k->n_threads;
  }
  pthread_mutex_unlock(&sink.lock);
}

void bn_log_separate_errors(void)
{
  atomic_store_explicit(&sink.errors_are_separate, true, memory_order_relaxed);
}

static bool log_errors_are_separate(void)
{
  return atomic_load_explicit(&sink.errors_are_separate, memory_order_relaxed);
}

/* Returns the newline that is missing at the end of a text, or "". */
static const char *log_missing_newline(const char *text)
{
  const size_t len = strlen(text);

  return len > 0 && text[len - 1] == '\n' ? "" : "\n";
}

void bn_log_text(int level, const char *text)
{
  const bool is_error = level <= BN_WARNING;
  char *line;

  if (level > bn_log_get_verbosity())
    return;
  if (is_error)
    log_remember(level, text);
  line = bn_alloc_print("%s%s%s", log_prefix_of(level), text, log_missing_newline(text));
  if (is_error && log_errors_are_separate())
    log_emit_error(line, NULL);
  else
    log_emit(line);
}

/* Returns the n lines of an error as they are printed, in one text that the caller frees. */
static char *log_format_error_lines(const char *const *line, size_t n)
{
  struct bn_buf b = {.max = 0};

  for (size_t i = 0; i < n; i++)
    (void)bn_buf_printf(&b, "%s%s%s", log_prefix_of(BN_FATAL), line[i],
                        log_missing_newline(line[i]));
  return bn_buf_take(&b);
}

void bn_log_fatal_as(const char *kind, const char *const *line, size_t n)
{
  if (!log_errors_are_separate()) {
    for (size_t i = 0; i < n; i++)
      bn_log_text(BN_FATAL, line[i]);
    return;
  }
  for (size_t i = 0; i < n; i++)
    log_remember(BN_FATAL, line[i]);
  log_emit_error(log_format_error_lines(line, n), kind);
}

void bn_log(enum bn_level level, const char *fmt, ...)
{
  va_list ap;
  char *text;

  if ((int)level > bn_log_get_verbosity())
    return;
  va_start(ap, fmt);
  text = bn_alloc_vprint(fmt, ap);
  va_end(ap);
  bn_log_text((int)level, text);
  free(text);
}

void bn_log_errno(enum bn_level level, int error, const char *fmt, ...)
{
  char reason[128], *text;
  va_list ap;

  va_start(ap, fmt);
  text = bn_alloc_vprint(fmt, ap);
  va_end(ap);
  bn_log(level, "%s errno = %d (%s)", text, error, strerror_r(error, reason, sizeof reason));
  free(text);
}

/* Prints a line on standard error after what standard output has so far. */
static void log_stderr_line(const char *text)
{
  (void)bn_log_flush();
  log_clear_progress();
  (void)fprintf(stderr, "%s\n", text);
}

/* Records and prints a line, as bn_log_stderr does. */
__attribute__((format(printf, 1, 0))) static void log_stderr_v(const char *fmt, va_list ap)
{
  char *text = bn_alloc_vprint(fmt, ap);

  log_remember(BN_NOTICE, text);
  log_stderr_line(text);
  free(text);
}

void bn_log_stderr(const char *fmt, ...)
{
  va_list ap;

  va_start(ap, fmt);
  log_stderr_v(fmt, ap);
  va_end(ap);
}

void bn_log_set_asides(bool wanted)
{
  atomic_store_explicit(&sink.asides, wanted, memory_order_relaxed);
}

bool bn_log_has_asides(void)
{
  return atomic_load_explicit(&sink.asides, memory_order_relaxed);
}

void bn_log_hint(const char *fmt, ...)
{
  va_list ap;

  if (!bn_log_has_asides())
    return;
  va_start(ap, fmt);
  log_stderr_v(fmt, ap);
  va_end(ap);
}

/* Returns whether standard output and standard error are the same file.  A terminal does not count:
   a person can tell the lines of both streams apart. */
static bool log_streams_are_one(void)
{
  struct stat out, err;

  return fstat(STDOUT_FILENO, &out) == 0 && fstat(STDERR_FILENO, &err) == 0 &&
         out.st_dev == err.st_dev && out.st_ino == err.st_ino && isatty(STDERR_FILENO) != 1;
}

void bn_log_note(const char *fmt, ...)
{
  va_list ap;
  char *text;

  va_start(ap, fmt);
  text = bn_alloc_vprint(fmt, ap);
  va_end(ap);
  log_remember(BN_INFO, text);
  if (bn_log_has_asides() && !log_streams_are_one())
    log_stderr_line(text);
  free(text);
}

void bn_log_stderr_if_apart(const char *fmt, ...)
{
  va_list ap;

  if (log_streams_are_one())
    return;
  va_start(ap, fmt);
  log_stderr_v(fmt, ap);
  va_end(ap);
}

void bn_log_refusal(const char *text)
{
  pthread_mutex_lock(&sink.lock);
  const bool is_printed =
      text[0] == '\0' || (sink.refused != NULL && strcmp(sink.refused, text) == 0);

  if (!is_printed) {
    free(sink.refused);
    sink.refused = bn_alloc_text(text);
  }
  pthread_mutex_unlock(&sink.lock);
  if (!is_printed)
    bn_log_stderr("%s", text);
}

void bn_log_foreign(const char *text)
{
  char *shown = bn_escape_copy(text);
  const size_t len = strlen(shown);

  if (len > 0 && shown[len - 1] == '\n')
    shown[len - 1] = '\0';
  bn_log_stderr("%s", shown);
  free(shown);
}

/* Prints a text on standard output, with `before` before each line that is not empty.  The caller
   holds the lock. */
static void log_print_lines(const char *before, const char *text)
{
  while (*text != '\0') {
    const size_t len = strcspn(text, "\n");
    const size_t full_len = text[len] == '\n' ? len + 1 : len;

    if (len > 0)
      (void)fputs(before, stdout);
    (void)fwrite(text, 1, full_len, stdout);
    text += full_len;
  }
  (void)fflush(stdout);
}

void bn_log_output(const char *before, const char *text)
{
  char *shown = bn_escape_copy(text);

  pthread_mutex_lock(&sink.lock);
  log_settle_locked();
  log_print_lines(before, shown);
  pthread_mutex_unlock(&sink.lock);
  free(shown);
}

void bn_log_failure(const struct bn_err *err)
{
  if (err->text[0] == '\0')
    return;
  if (err->code == BN_ERR_OPTION)
    bn_log_refusal(err->text);
  else
    bn_log(BN_FATAL, "%s", err->text);
}

void bn_log_at_once(const char *fmt, ...)
{
  enum { TEXT_MAX = 254 };
  char line[sizeof clear_line + TEXT_MAX + 1]; /* with '\n' */
  va_list ap;
  int len;

  if (!bn_log_has_asides() || !bn_wait_is_writable(STDERR_FILENO))
    return;
  const size_t start = atomic_exchange(&sink.progress, false) ? sizeof clear_line - 1 : 0;

  memcpy(line, clear_line, start);
  va_start(ap, fmt);
  len = vsnprintf(line + start, TEXT_MAX + 1, fmt, ap);
  va_end(ap);
  if (len < 0)
    return;
  const size_t end = start + (size_t)(len < TEXT_MAX ? len : TEXT_MAX);

  line[end] = '\n';
  (void)!write(STDERR_FILENO, line, end + 1); /* a pipe that is writable takes so much at once */
}

/* Writes to standard output for stdio, and waits while the descriptor takes nothing.  Returns how
   many bytes it has written; after a failure fewer than `size`, and the next call then reports the
   failure by 0. */
static ssize_t log_write_all(void *unused, const char *text, size_t size)
{
  size_t done = 0;

  (void)unused;
  while (done < size) {
    const ssize_t n = write(STDOUT_FILENO, text + done, size - done);

    if (n >= 0)
      done += (size_t)n;
    else if (errno == EAGAIN)
      (void)bn_wait_until_writable(STDOUT_FILENO, UINT64_MAX);
    else if (errno != EINTR)
      break;
  }
  return (ssize_t)done;
}

/* Makes stdout wait for its reader if its descriptor is non-blocking, with which stdio would drop
   text: another process that has the same pipe or terminal may have made it so. */
static void log_make_stdout_wait(void)
{
  const cookie_io_functions_t functions = {.write = log_write_all};
  const int flags = fcntl(STDOUT_FILENO, F_GETFL);
  const bool is_non_blocking = flags >= 0 && (flags & O_NONBLOCK) != 0;
  FILE *waiting = is_non_blocking ? fopencookie(NULL, "w", functions) : NULL;

  if (waiting != NULL)
    stdout = waiting;
}

void bn_log_start(void)
{
  log_make_stdout_wait();
  (void)setvbuf(stdout, NULL, _IOLBF, 1 << 16);
}

FILE *bn_log_stream(bool is_error)
{
  return is_error ? stderr : stdout;
}

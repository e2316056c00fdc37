/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Levelled messages with duplicate folding.  The state is global, so that any code can log. */
#ifndef BN_BASE_LOG_H
#define BN_BASE_LOG_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

enum bn_level { BN_FATAL, BN_ALERT, BN_WARNING, BN_NOTICE, BN_INFO, BN_DEBUG };

/* Any thread may call any of these.  Messages go to stdout with the prefixes "FATAL: ", "ALERT: ",
   "WARNING: ", "DEBUG: " (NOTICE, INFO: none), once per message, and are flushed; a newline is
   added to a text without one at its end.  A message equal to the previous one is swallowed and
   counted; before the next different one "(last message repeated N times)" is printed.  Empty lines
   are exempt.  There is no limit on length.  See bn_log_separate_errors. */

/* Sets the level of the least important messages that are printed, 0..5; 3 (NOTICE) by default. */
void bn_log_set_verbosity(int level);
int bn_log_get_verbosity(void);
/* Prints a message. */
__attribute__((format(printf, 2, 3))) void bn_log(enum bn_level level, const char *fmt, ...);
/* Prints a message that is formatted already; drivers call this form. */
void bn_log_text(int level, const char *text);
/* Prints a pending count of repeats and forgets the last message.  It is called before text that
   does not go through the log and separates messages, such as a report. */
void bn_log_settle(void);
/* From this call on, messages of the levels FATAL, ALERT and WARNING go to stderr.  A message that
   another thread has printed in the same words is swallowed and its thread counted. */
void bn_log_separate_errors(void);
/* From this call on, messages of this thread of the operating system count as those of that session
   and not of the thread: bn_log_print_more_threads counts sessions.  NULL: of the thread again. */
void bn_log_set_session(const void *session);
/* Prints an error of level FATAL that has n lines.  Where errors go to stderr, nothing comes
   between the lines, and an error of the same kind that another thread has printed is swallowed and
   its thread counted.  kind NULL: the words are the kind. */
void bn_log_fatal_as(const char *kind, const char *const *line, size_t n);
/* Prints how many more threads had each error: "(15 more threads)" if all errors come from the
   same threads, else a line for each error: "(15 more threads: event failed)".  It is called after
   the end of the threads of a run.  While another thread prints, it prints nothing. */
void bn_log_print_more_threads(void);
/* As bn_log, with " errno = N (text)" appended. */
__attribute__((format(printf, 3, 4))) void bn_log_errno(enum bn_level level, int error,
                                                        const char *fmt, ...);
/* Prints a line on stderr, without folding and at any verbosity: for facts that must not appear in
   the standard output of the dialects. */
__attribute__((format(printf, 1, 2))) void bn_log_stderr(const char *fmt, ...);
/* Sets whether asides are printed, which are messages that sysbench does not have; true by default.
   The policy decides (plain_errors), or --quiet. */
void bn_log_set_asides(bool wanted);
bool bn_log_has_asides(void);
/* Prints an aside about a failure, as bn_log_stderr. */
__attribute__((format(printf, 1, 2))) void bn_log_hint(const char *fmt, ...);
/* Prints an aside about a fact that may spoil a complete result, and records it as a caveat, which
   the native report shows.  If both streams are the same pipe or file, it would be among the lines
   of a report, and is not printed. */
__attribute__((format(printf, 1, 2))) void bn_log_note(const char *fmt, ...);
/* As bn_log_stderr, but if both streams are the same pipe or file, the line is neither printed nor
   recorded, as it would be among the lines of a report.  It is no aside: dialects have it too. */
__attribute__((format(printf, 1, 2))) void bn_log_stderr_if_apart(const char *fmt, ...);
/* Prints an error in the input of the user, as bn_log_stderr, once for all threads that find it.
   An empty text stands for an error that has been printed, and nothing is printed. */
void bn_log_refusal(const char *text);
/* As bn_log_stderr for a text that may quote a server: escaped as escape.h does in messages.  A
   newline is added to a text without one at its end. */
void bn_log_foreign(const char *text);
/* Prints output of another process on stdout, escaped, with `before` at the beginning of each line
   that is not empty.  The text is whole lines, or a piece of a line too long to be kept; the next
   call takes the rest of that line for a line of its own. */
void bn_log_output(const char *before, const char *text);
/* Prints the error of a run, if any: as bn_log_refusal if it is about an option, else as FATAL. */
void bn_log_failure(const struct bn_err *err);
/* Prints an aside of the thread that receives signals.  It takes no lock, and drops the line if
   standard error takes nothing now, so that a reader who does not read cannot stop it.  A line of
   more than 255 bytes is cut. */
__attribute__((format(printf, 1, 2))) void bn_log_at_once(const char *fmt, ...);
/* Errors, warnings and lines on stderr are recorded, each text once, with its first time and its
   number of occurrences.  No more than BN_LOG_MESSAGES_MAX texts are recorded. */
enum { BN_LOG_MESSAGES_MAX = 100 };
struct bn_log_message {
  uint64_t wall_ns; /* CLOCK_REALTIME */
  int level;        /* enum bn_level; BN_NOTICE: a line on stderr; BN_INFO: a note */
  char *text;       /* without the newline at its end */
  uint64_t times;
};
/* Calls fn for each recorded text, in the order of time.  fn must not log, which would need a lock
   that is held. */
void bn_log_each_message(void (*fn)(void *arg, const struct bn_log_message *message), void *arg);
/* Shows one changing line on stderr if that is a terminal and asides are wanted; the next message
   or NULL clears it.  It has no colours, and is cut if it is long. */
void bn_log_progress(const char *text);
/* Shows such a line with the seconds since since_ns (CLOCK_MONOTONIC), for work that takes long.
   The caller keeps it up to date with bn_log_redraw_progress() once a second, until
   bn_log_progress() is called.  Any thread. */
void bn_log_progress_since(const char *text, uint64_t since_ns);
/* Draws that line with the seconds of now; without such a line, nothing. */
void bn_log_redraw_progress(void);
/* Returns standard error, or else standard output, for callers that print no messages. */
FILE *bn_log_stream(bool is_error);
/* Makes stdout line-buffered, also into pipes, and lets it wait for its reader if its descriptor
   does not block.  Comes before anything is printed. */
void bn_log_start(void);
/* Flushes stdout.  Returns true if all text reached its file (not full, not closed).  While another
   thread uses stdout, nothing is flushed, and the result is false. */
bool bn_log_flush(void);

#endif

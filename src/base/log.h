/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Levelled messages with duplicate folding: the one sink, and one of three places with mutable
 * globals. */
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
   added where the text has none at its end.  A message equal to the previous one is swallowed and
   counted; before the next different one "(last message repeated N times)" is printed.  Empty lines
   are exempt.  There is no limit on length.  See bn_log_errors_apart. */
void bn_log_verbosity(int level); /* 0..5; default 3 (NOTICE) */
int bn_log_get_verbosity(void);
__attribute__((format(printf, 2, 3))) void bn_log(enum bn_level level, const char *fmt, ...);
void bn_log_text(int level, const char *text); /* the form lent to drivers */
/* Before text that does not come from here and separates messages, such as a report: prints a
   pending count and forgets the last message. */
void bn_log_settle(void);
/* From now on messages of the levels FATAL, ALERT and WARNING go to stderr.  One that another
   thread has told of in the same words is swallowed and its thread counted. */
void bn_log_errors_apart(void);
/* One error of level FATAL that is told in n messages.  Where they are apart nothing comes between
   them, and kind says when errors of other threads are the same: one of a kind that
   another thread has told of is swallowed and its thread counted.  NULL: when all words are. */
void bn_log_fatal_as(const char *kind, const char *const *line, size_t n);
/* Prints how many more threads had each error: "(15 more threads)".  If the same threads had all
   errors, one number; else one line for each error: "(15 more threads: event failed)".  For when
   the threads of a run have gone.  While another thread prints, nothing is printed; a later call
   prints it. */
void bn_log_more_threads(void);
/* The same with " errno = N (text)" appended. */
__attribute__((format(printf, 3, 4))) void bn_log_errno(enum bn_level level, int error,
                                                        const char *fmt, ...);
/* New facts that must not appear in the dialects' standard output: one line on stderr, no folding,
   whatever the verbosity. */
__attribute__((format(printf, 1, 2))) void bn_log_stderr(const char *fmt, ...);
/* Whether more is said than sysbench says; true before.  The policy decides (plain_errors), and
   whoever chooses it tells, or --quiet. */
void bn_log_asides(bool wanted);
bool bn_log_has_asides(void);
/* An aside about what went wrong: as bn_log_stderr. */
__attribute__((format(printf, 1, 2))) void bn_log_hint(const char *fmt, ...);
/* An aside about what may spoil a result that comes all the same.  Where both streams are one pipe
   or file it would stand between the lines of a report, and is not written. */
__attribute__((format(printf, 1, 2))) void bn_log_note(const char *fmt, ...);
/* What is wrong with what a user typed: as bn_log_stderr, once for all threads that find it.  "":
   it has been said. */
void bn_log_refusal(const char *text);
/* The same as bn_log_stderr for a text that may quote a server: escaped as escape.h does it in
   messages.  A newline is added where the text has none at its end. */
void bn_log_foreign(const char *text);
/* What another process has printed for this one to print: goes to stdout, as escaped.  before:
   stands before each line that is not empty; "": nothing. */
void bn_log_output(const char *before, const char *text);
/* Prints the error of a run, if it has a sentence: as bn_log_refusal where it is about an option,
   else as FATAL. */
void bn_log_failure(const struct bn_err *err);
/* From now on nobody waits for a reader of standard error: a thread writes what it does not take at
   once, up to 1 MiB.  The second call waits for the reader of what is left.  Any thread prints in
   between. */
void bn_log_hold_errors(void);
void bn_log_release_errors(void);
/* An aside of the thread that receives signals: it waits for no buffer and for no lock that is held
   while something is printed, so that a reader of standard output or standard error that does not
   read cannot stop it.  At most 255 bytes.  false: standard error takes nothing now, errors are not
   held, and nothing has been written. */
__attribute__((format(printf, 1, 2))) bool bn_log_at_once(const char *fmt, ...);
/* The same for an error with its newline, which dialects print, too; it is not cut. */
bool bn_log_error_at_once(const char *line);
/* Errors, warnings and lines on stderr are remembered, each text once, with the time when it was
   told first and how often it was told.  After BN_LOG_TOLD_MAX texts, new ones are not. */
enum { BN_LOG_TOLD_MAX = 100 };
struct bn_log_told {
  uint64_t wall_ns; /* CLOCK_REALTIME */
  int level;        /* enum bn_level; BN_NOTICE: a line on stderr */
  char *text;       /* without the newline at its end */
  uint64_t times;
};
/* Calls fn for each, in the order of time.  fn logs nothing. */
void bn_log_each_told(void (*fn)(void *arg, const struct bn_log_told *told), void *arg);
/* Shows one changing line on stderr when that is a terminal and asides are wanted, else nothing;
   the next message or NULL clears it.  It has no colours. */
void bn_log_progress(const char *text);
/* Such a line for what takes long: with the seconds since since_ns, CLOCK_MONOTONIC, behind it.
   Whoever calls bn_log_progress_again() once a second keeps it up to date until bn_log_progress()
   is called.  Any thread. */
void bn_log_progress_since(const char *text, uint64_t since_ns);
void bn_log_progress_again(void);
/* Makes stdout line-buffered, also into pipes, and lets it wait for its reader where its descriptor
   does not block.  Before anything is printed. */
void bn_log_start(void);
/* Flushes; true: everything written so far reached its file (stdout not full, not closed). */
bool bn_log_ok(void);

#endif

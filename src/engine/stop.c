/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Receives signals synchronously in one thread; the handler only serves threads that are starting a
   child. */
#include "engine/stop.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/end_signals.h"
#include "base/file.h"

/* The receiver of signals; the handlers read it. */
static struct {
  _Atomic(pthread_t) thread;
  _Atomic bool exists;      /* `thread` is the receiver */
  _Atomic bool reader_left; /* standard output has lost its reader */
  _Atomic bool only_records_lost_reader;
  _Atomic bool end_requested; /* a signal has asked for the end */
  sigset_t end_signals;       /* the signals that end a run; set before any thread exists */
} receiver;

/* Returns the signal that wakes a thread: a real-time signal, which no other part of the program
   uses.  A function, because SIGRTMIN is no constant in glibc. */
static int stop_wake_signal(void)
{
  return SIGRTMIN + 2;
}

/* Sets the handler of a signal.  System calls that it interrupts are started again. */
static void stop_set_handler(int signo, void (*handler)(int))
{
  struct sigaction act = {.sa_handler = handler, .sa_flags = SA_RESTART};

  (void)sigemptyset(&act.sa_mask);
  (void)sigaction(signo, &act, NULL);
}

/* Sets the handler of every signal that ends a run. */
static void stop_set_end_handlers(void (*handler)(int))
{
  for (int signo = 1; signo < stop_wake_signal(); signo++)
    if (sigismember(&receiver.end_signals, signo))
      stop_set_handler(signo, handler);
}

/* Passes a signal on to the receiver, or drops it if there is none yet.  Runs only where signals
   are unblocked: around fork in a thread that starts a child. */
static void stop_pass_on(int signo)
{
  const int saved = errno;

  if (atomic_load(&receiver.exists))
    (void)pthread_kill(atomic_load(&receiver.thread), signo);
  errno = saved;
}

/* Notes that standard output has lost its reader.  The first time, wakes the receiver or, if there
   is none, ends the process by the signal. */
static void stop_note_lost_reader(int signo)
{
  const bool was_noted = atomic_exchange(&receiver.reader_left, true);

  if (was_noted || atomic_load(&receiver.only_records_lost_reader))
    return;
  if (atomic_load(&receiver.exists)) {
    (void)pthread_kill(atomic_load(&receiver.thread), stop_wake_signal());
  } else {
    stop_set_handler(signo, SIG_DFL);
    (void)raise(signo);
  }
}

/* Handles SIGPIPE, which other pipes and sockets cause too.  The thread that has written may hold a
   lock, so that the handler takes none. */
static void stop_on_pipe(int signo)
{
  const int saved = errno;

  if (!bn_wait_has_reader(STDOUT_FILENO))
    stop_note_lost_reader(signo);
  errno = saved;
}

/* Returns whether a wait for the reader of a FIFO is to go on; for bn_file_wait_while. */
static bool stop_is_not_requested(void)
{
  return !atomic_load(&receiver.end_requested);
}

void bn_stop_note_asked(void)
{
  atomic_store(&receiver.end_requested, true);
}

bool bn_stop_was_asked(void)
{
  return atomic_load(&receiver.end_requested) || atomic_load(&receiver.reader_left);
}

void bn_stop_watch_reader(void)
{
  struct sigaction act;

  bn_file_wait_while(stop_is_not_requested);
  if (sigaction(SIGPIPE, NULL, &act) == 0 && act.sa_handler != SIG_IGN)
    stop_set_handler(SIGPIPE, stop_on_pipe);
}

void bn_stop_note_reader(void)
{
  atomic_store(&receiver.only_records_lost_reader, true);
}

bool bn_stop_has_lost_reader(void)
{
  return atomic_load(&receiver.reader_left);
}

void bn_stop_block_signals(void)
{
  bn_stop_watch_reader();
  /* The choice is made once: system(3) later ignores SIGINT while its child runs, and bench still
     wants it then. */
  bn_end_signals_choose(&receiver.end_signals);
  sigset_t set = receiver.end_signals;

  (void)sigaddset(&set, stop_wake_signal());
  /* The mask comes first: the handler drops a signal that arrives before there is a receiver. */
  (void)pthread_sigmask(SIG_BLOCK, &set, NULL);
  stop_set_end_handlers(stop_pass_on);
  bn_stop_become_receiver();
}

void bn_stop_unblock_for_child(void)
{
  (void)pthread_sigmask(SIG_UNBLOCK, &receiver.end_signals, NULL);
}

void bn_stop_block_again(void)
{
  /* Without a receiver the signals were not blocked: Ctrl-C ends the top level of a script. */
  if (!atomic_load(&receiver.exists))
    return;
  (void)pthread_sigmask(SIG_BLOCK, &receiver.end_signals, NULL);
}

/* A signal that is pending came while the run ended, and asked for that end.  Ignoring the signal
   drops it. */
void bn_stop_release_signals(void)
{
  if (!atomic_exchange(&receiver.exists, false))
    return;
  stop_set_end_handlers(SIG_IGN);
  stop_set_end_handlers(SIG_DFL);
  (void)pthread_sigmask(SIG_UNBLOCK, &receiver.end_signals, NULL);
}

void bn_stop_become_receiver(void)
{
  atomic_store(&receiver.thread, pthread_self());
  atomic_store(&receiver.exists, true);
}

/* Waits for a signal of the set, which has the wake-up signal.  Returns its number, 0 if woken, or
   -1 at the deadline. */
static int stop_await_signal(const struct bn_wait *w, const sigset_t *set, uint64_t deadline_ns,
                             siginfo_t *info)
{
  const int signo = bn_wait_signal(w, set, deadline_ns, info);

  return signo == stop_wake_signal() ? 0 : signo;
}

int bn_stop_wait(const struct bn_wait *w, uint64_t deadline_ns, struct bn_end_signal *received)
{
  siginfo_t info = {0};
  sigset_t set = receiver.end_signals;
  int signo;

  (void)sigaddset(&set, stop_wake_signal());
  signo = stop_await_signal(w, &set, deadline_ns, &info);
  if (signo > 0)
    bn_stop_note_asked();
  /* SI_KERNEL: the terminal has sent it for a key.  A signal that stop_pass_on has forwarded has
     the pid of this process. */
  *received = (struct bn_end_signal){
      .signo = signo, .pid = info.si_code == SI_KERNEL ? 0 : info.si_pid, .at_ns = bn_clock_mono()};
  return signo;
}

void bn_stop_sleep(const struct bn_wait *w, uint64_t deadline_ns)
{
  sigset_t set;

  (void)sigemptyset(&set);
  (void)sigaddset(&set, stop_wake_signal());
  (void)stop_await_signal(w, &set, deadline_ns, NULL);
}

void bn_stop_wake(pthread_t thread)
{
  bn_wait_send_signal(thread, stop_wake_signal());
}

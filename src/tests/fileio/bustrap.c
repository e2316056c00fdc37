/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies to and from mapped files and reports a bus error instead of ending the program. */
#include "tests/fileio/bustrap.h"

#include <errno.h>
#include <setjmp.h>
#include <string.h>

/* The place where this thread continues when a copy faults; NULL: the thread is not copying.  It is
   a variable because a signal handler gets no argument of ours. */
static _Thread_local sigjmp_buf *volatile landing;

/* Threads may read a block while another thread writes it, as with any file: that is no race of
   this program.  ThreadSanitizer checks memcpy in any function, so this is a loop. */
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
__attribute__((no_sanitize("thread"))) static void bustrap_copy_bytes(void *to, const void *from,
                                                                      size_t n)
{
  volatile unsigned char *out = to;
  const volatile unsigned char *in = from;

  for (size_t i = 0; i < n; i++)
    out[i] = in[i];
}
#else
static void bustrap_copy_bytes(void *to, const void *from, size_t n)
{
  memcpy(to, from, n);
}
#endif

/* Handles SIGBUS: if a copy of this thread has met a page that is not available, jumps back to
   bn_bustrap_copy(), which then returns false. */
static void bustrap_on_bus_error(int number, siginfo_t *info, void *context)
{
  (void)context;
  if (landing != NULL && info->si_code > 0)
    siglongjmp(*landing, 1);
  /* A fault outside of a copy occurs again on return, now with the default effect.  A signal that a
     process has sent does not occur again, so it is raised. */
  (void)signal(number, SIG_DFL);
  if (info->si_code <= 0)
    (void)raise(number);
}

int bn_bustrap_install(struct sigaction *old, struct bn_err *err)
{
  struct sigaction ours;

  memset(&ours, 0, sizeof ours);
  ours.sa_sigaction = bustrap_on_bus_error;
  /* The jump leaves the handler without a return that would unblock the signal. */
  ours.sa_flags = SA_SIGINFO | SA_NODEFER;
  (void)sigemptyset(&ours.sa_mask);
  if (sigaction(SIGBUS, &ours, old) == 0)
    return 0;
  return bn_err_set(err, errno, "cannot watch for bus errors: %s", strerror(errno));
}

void bn_bustrap_remove(const struct sigaction *old)
{
  (void)sigaction(SIGBUS, old, NULL);
}

bool bn_bustrap_copy(void *to, const void *from, size_t n)
{
  sigjmp_buf jump;

  /* The mask is not saved, which would cost two system calls. */
  if (sigsetjmp(jump, 0) != 0) {
    landing = NULL;
    return false;
  }
  landing = &jump;
  bustrap_copy_bytes(to, from, n);
  landing = NULL;
  return true;
}

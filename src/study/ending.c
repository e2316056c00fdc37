/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Receives the signals that end a study, and removes its temporary folder. */
#include "study/ending.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/end_signals.h"
#include "base/file.h"

enum {
  DEPTH_MAX = 16,  /* levels of folders that are removed */
  NUMBER_ROOM = 16 /* bytes that "/NUMBER" takes after ending.root */
};

const int bn_ending_signals[BN_ENDING_SIGNALS] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

static struct {
  volatile sig_atomic_t notes_first; /* the first signal is noted instead of ending the process */
  volatile sig_atomic_t first_signo; /* that signal; 0: none has come */
  _Atomic uint64_t first_ns;         /* when it was noted, by bn_clock_mono() */
  char root[PATH_MAX];               /* the temporary folder; "": there is none */
  unsigned n_folders;                /* made in it */
} ending;

/* --- removing, with system calls alone, because ending_handle does it in a signal handler --- */

struct entry { /* of getdents64(2) */
  uint64_t inode;
  int64_t offset;
  unsigned short size;
  unsigned char type;
  char name[];
};

static bool ending_remove_entry(int folder, const char *name, int depth);

/* Removes what is in an open folder, down to that depth.  Returns whether it has removed
   anything. */
static bool ending_remove_content(int folder, int depth)
{
  _Alignas(struct entry) char block[2048];
  bool removed = false;
  long n;

  (void)lseek(folder, 0, SEEK_SET); /* an earlier call may have read to the end */
  while ((n = syscall(SYS_getdents64, folder, block, sizeof block)) > 0)
    for (long offset = 0; offset < n;) {
      const struct entry *e = (const struct entry *)(const void *)(block + offset);

      if (strcmp(e->name, ".") != 0 && strcmp(e->name, "..") != 0)
        removed |= ending_remove_entry(folder, e->name, depth);
      offset += e->size;
    }
  return removed;
}

/* Removes a file, or a folder with its content down to that depth.  Returns whether it is gone.  A
   folder is read again until nothing more can be removed, because a reader may miss entries while
   others are removed. */
static bool ending_remove_entry(int folder, const char *name, int depth)
{
  const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

  if (unlinkat(folder, name, 0) == 0)
    return true;
  const int inner = depth > 0 ? openat(folder, name, flags) : -1;

  if (inner < 0)
    return false;
  while (ending_remove_content(inner, depth - 1))
    continue;
  (void)close(inner);
  return unlinkat(folder, name, AT_REMOVEDIR) == 0;
}

void bn_ending_remove_folder(void)
{
  if (ending.root[0] != '\0')
    (void)ending_remove_entry(AT_FDCWD, ending.root, DEPTH_MAX);
  ending.root[0] = '\0';
}

/* --- signals --- */

/* Returns whether a signal counts as an echo of the first one (BN_END_SIGNAL_ECHO_NS).  Any signal
   does in that time, because the wait for a child that notes the first one does not keep its
   sender. */
static bool ending_is_echo(void)
{
  return ending.notes_first &&
         bn_clock_mono() - atomic_load(&ending.first_ns) <= BN_END_SIGNAL_ECHO_NS;
}

/* The handler of signals.  After bn_ending_begin(), it notes the first signal, and ignores its
   echoes.  Any other signal removes the folder and ends the process, when the handler returns and
   its signals are no longer blocked. */
static void ending_handle(int signo)
{
  const int saved_errno = errno;

  if (ending.notes_first && ending.first_signo == 0) {
    bn_ending_note_signal(signo);
  } else if (!ending_is_echo()) {
    bn_ending_remove_folder();
    (void)signal(signo, SIG_DFL);
    (void)raise(signo);
  }
  errno = saved_errno;
}

/* Sets the handler of bn_ending_signals.  A signal that is ignored stays so: nohup or the shell has
   asked for that.  While the handler runs, all of these signals are blocked, so that it does not
   interrupt itself. */
static void ending_set_handlers(void)
{
  struct sigaction action = {.sa_handler = ending_handle, .sa_flags = SA_RESTART};

  (void)sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < BN_ENDING_SIGNALS; i++)
    (void)sigaddset(&action.sa_mask, bn_ending_signals[i]);
  for (size_t i = 0; i < BN_ENDING_SIGNALS; i++) {
    struct sigaction current;

    if (sigaction(bn_ending_signals[i], NULL, &current) == 0 && current.sa_handler != SIG_IGN)
      (void)sigaction(bn_ending_signals[i], &action, NULL);
  }
}

/* Returns whether no signal has been noted, for bn_file_wait_while. */
static bool ending_has_no_signal(void)
{
  return ending.first_signo == 0;
}

void bn_ending_begin(void)
{
  /* A signal also ends the wait for the reader of a FIFO. */
  bn_file_wait_while(ending_has_no_signal);
  ending.notes_first = true;
  ending_set_handlers();
}

int bn_ending_signal(void)
{
  return ending.first_signo;
}

void bn_ending_note_signal(int signo)
{
  if (ending.first_signo != 0 || signo == 0)
    return;
  /* The time comes first, because the handler reads it once a signal is noted. */
  atomic_store(&ending.first_ns, bn_clock_mono());
  ending.first_signo = signo;
}

/* --- the folder --- */

/* Makes the temporary folder in the folder `base`.  Signals are blocked meanwhile, because the
   handler removes the folder that ending.root names.  Returns 0 or an error number. */
static int ending_make_root(const char *base)
{
  char path[PATH_MAX];
  sigset_t blocked, before;
  int error;

  if ((size_t)snprintf(path, sizeof path, "%s/bench-XXXXXX", base) >= sizeof path - NUMBER_ROOM)
    return ENAMETOOLONG;
  (void)sigemptyset(&blocked);
  for (size_t i = 0; i < BN_ENDING_SIGNALS; i++)
    (void)sigaddset(&blocked, bn_ending_signals[i]);
  (void)sigprocmask(SIG_BLOCK, &blocked, &before);
  error = mkdtemp(path) != NULL ? 0 : errno;
  if (error == 0) {
    (void)snprintf(ending.root, sizeof ending.root, "%s", path);
    (void)atexit(bn_ending_remove_folder);
    ending_set_handlers();
  }
  (void)sigprocmask(SIG_SETMASK, &before, NULL);
  return error;
}

int bn_ending_make_folder(char path[PATH_MAX], struct bn_err *err)
{
  const char *base = getenv("TMPDIR");
  int error = 0;

  if (base == NULL || base[0] == '\0')
    base = "/tmp";
  if (ending.root[0] == '\0')
    error = ending_make_root(base);
  if (error == 0) {
    ending.n_folders++;
    (void)snprintf(path, PATH_MAX, "%.*s/%u", (int)(PATH_MAX - NUMBER_ROOM), ending.root,
                   ending.n_folders);
    error = mkdir(path, 0700) == 0 ? 0 : errno;
  }
  if (error == 0)
    return 0;
  return bn_err_set(err, error, "cannot make a folder in '%s': %s; set TMPDIR to another folder",
                    base, strerror(error));
}

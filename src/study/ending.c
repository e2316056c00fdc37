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
#include "base/file.h"

/* Two signals that come together are one: `timeout` sends it to the group and to the process. */
#define TOGETHER_NS (200 * BN_NSEC_PER_MSEC)

enum { DEPTH = 16 };

static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

static struct {
  volatile sig_atomic_t noting, noted;
  _Atomic uint64_t noted_ns;
  char root[PATH_MAX]; /* "": there is no folder */
  unsigned folders;    /* number of folders made in it */
} ending;

/* --- removing, with system calls alone, because a handler does it too --- */

struct entry { /* of getdents64(2) */
  uint64_t inode;
  int64_t offset;
  unsigned short size;
  unsigned char type;
  char name[];
};

static bool ending_remove_entry(int folder, const char *name, int depth);

/* Removes what is in a folder.  Returns whether it has removed anything. */
static bool ending_remove_content(int folder, int depth)
{
  _Alignas(struct entry) char block[2048];
  bool removed = false;
  long n;

  (void)lseek(folder, 0, SEEK_SET);
  while ((n = syscall(SYS_getdents64, folder, block, sizeof block)) > 0)
    for (long at = 0; at < n;) {
      const struct entry *e = (const struct entry *)(const void *)(block + at);

      if (strcmp(e->name, ".") != 0 && strcmp(e->name, "..") != 0)
        removed |= ending_remove_entry(folder, e->name, depth);
      at += e->size;
    }
  return removed;
}

static bool ending_remove_entry(int folder, const char *name, int depth)
{
  int inner;

  if (unlinkat(folder, name, 0) == 0)
    return true;
  inner = depth > 0 ? openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
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
    (void)ending_remove_entry(AT_FDCWD, ending.root, DEPTH);
  ending.root[0] = '\0';
}

/* --- signals --- */

static void ending_handle(int signo)
{
  const int error = errno;

  if (ending.noting && ending.noted == 0) {
    bn_ending_note(signo);
  } else if (!ending.noting || bn_clock_mono() - atomic_load(&ending.noted_ns) > TOGETHER_NS) {
    bn_ending_remove_folder();
    (void)signal(signo, SIG_DFL);
    (void)raise(signo);
  }
  errno = error;
}

/* Sets the handler of all signals but those that are ignored. */
static void ending_set_handlers(void)
{
  struct sigaction to = {.sa_handler = ending_handle, .sa_flags = SA_RESTART};

  for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
    (void)sigaddset(&to.sa_mask, signals[i]);
  for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
    struct sigaction now;

    if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
      (void)sigaction(signals[i], &to, NULL);
  }
}

static bool ending_goes_on(void)
{
  return ending.noted == 0;
}

void bn_ending_begin(void)
{
  bn_file_wait_while(ending_goes_on);
  ending.noting = true;
  ending_set_handlers();
}

int bn_ending_signal(void)
{
  return ending.noted;
}

void bn_ending_note(int signo)
{
  if (ending.noted != 0 || signo == 0)
    return;
  atomic_store(&ending.noted_ns, bn_clock_mono());
  ending.noted = signo;
}

/* --- the folder --- */

/* Makes the folder with the signals blocked: the handler must know its name to remove it. */
static int ending_make_root(const char *base)
{
  char path[PATH_MAX];
  sigset_t blocked, before;
  int error = ENAMETOOLONG;

  if ((size_t)snprintf(path, sizeof path, "%s/bench-XXXXXX", base) >= sizeof path - 16)
    return error;
  (void)sigemptyset(&blocked);
  for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
    (void)sigaddset(&blocked, signals[i]);
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

int bn_ending_folder(char path[PATH_MAX], struct bn_err *err)
{
  const char *base = getenv("TMPDIR");
  int error = 0;

  if (base == NULL || base[0] == '\0')
    base = "/tmp";
  if (ending.root[0] == '\0')
    error = ending_make_root(base);
  if (error == 0) {
    (void)snprintf(path, PATH_MAX, "%.*s/%u", (int)(PATH_MAX - 16), ending.root, ++ending.folders);
    error = mkdir(path, 0700) == 0 ? 0 : errno;
  }
  if (error == 0)
    return 0;
  return bn_err_set(err, error, "cannot make a folder in '%s': %s; set TMPDIR to another folder",
                    base, strerror(error));
}

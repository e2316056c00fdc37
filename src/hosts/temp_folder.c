/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes a folder, fills it, and has a process of its own that removes it. */
#include "hosts/temp_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

/* How long the agent waits for the end of the keeper, and between two looks. */
static const uint64_t removal_ns = 2 * BN_NSEC_PER_SEC;
static const uint64_t poll_ns = 10 * BN_NSEC_PER_MSEC;

/* The ends of a pipe. */
enum { READ_END, WRITE_END, ENDS };

/* --- the keeper --- */

/* Removes a file or an empty folder for nftw(3).  Returns 0 even if that fails, so that the walk
   goes on. */
static int keeper_remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
  (void)st;
  (void)type;
  (void)at;
  (void)remove(path);
  return 0;
}

/* Closes all descriptors but that of the keeper, and makes the standard streams /dev/null, because
   the shell that has started the agent waits until no process has its streams open. */
static void keeper_close_others(int life)
{
  enum { STANDARD_FDS = 3, MAX_FD = 1024 }; /* a usual limit of open files */
  const int null = open("/dev/null", O_RDWR);

  for (int fd = 0; fd < STANDARD_FDS; fd++) {
    if (null >= 0)
      (void)dup2(null, fd);
    else
      (void)close(fd);
  }
  for (int fd = STANDARD_FDS; fd < MAX_FD; fd++)
    if (fd != life)
      (void)close(fd); /* fails for a number that is not open */
}

/* Removes the folder, but not what is mounted there, when the agent has ended, which is when the
   pipe `life` ends.  The keeper does not end with the process group of the agent: it has a session
   of its own, and all signals are blocked. */
_Noreturn static void keeper_run(const char *path, int life)
{
  enum { DESCRIPTORS = 16 }; /* deeper folders are walked too, more slowly */
  ssize_t n;
  char byte;

  (void)setsid();
  (void)prctl(PR_SET_NAME, "bench-keeper");
  keeper_close_others(life);
  do { /* nothing is sent: the pipe ends when the agent closes it or ends */
    n = read(life, &byte, 1);
  } while (n > 0 || (n < 0 && errno == EINTR));
  (void)chdir("/");
  (void)nftw(path, keeper_remove_entry, DESCRIPTORS, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
  _exit(0);
}

/* --- the agent --- */

/* Forks the keeper of the folder, with all signals blocked in it.  It lives until this process
   closes the end f->life or ends.  Returns 0 or an error number. */
static int temp_folder_start_keeper(struct bn_temp_folder *f)
{
  sigset_t all, before;
  int life[ENDS], error;

  if (pipe2(life, O_CLOEXEC) != 0)
    return errno;
  (void)sigfillset(&all);
  (void)sigprocmask(SIG_SETMASK, &all, &before);
  f->keeper = fork();
  if (f->keeper == 0)
    keeper_run(f->path, life[READ_END]);
  error = f->keeper < 0 ? errno : 0;
  (void)sigprocmask(SIG_SETMASK, &before, NULL);
  (void)close(life[READ_END]);
  f->life = life[WRITE_END];
  return error;
}

/* Makes a new folder in `base`, and stores its path.  The path is absolute even if `base` is not,
   because the keeper removes the folder from another working folder.  Returns 0 or an error
   number. */
static int temp_folder_make_in(const char *base, char path[PATH_MAX])
{
  char absolute[PATH_MAX];

  if (realpath(base, absolute) == NULL)
    return errno;
  if ((size_t)snprintf(path, PATH_MAX, "%s/bench-agent.XXXXXX", absolute) >= PATH_MAX)
    return ENAMETOOLONG;
  return mkdtemp(path) != NULL ? 0 : errno;
}

int bn_temp_folder_make(struct bn_temp_folder *f, struct bn_err *err)
{
  const char *base = getenv("TMPDIR");
  int error;

  *f = (struct bn_temp_folder){.at = -1, .life = -1};
  if (base == NULL || base[0] == '\0')
    base = "/tmp";
  error = temp_folder_make_in(base, f->path);
  if (error == 0) {
    error = temp_folder_start_keeper(f);
    if (error != 0)
      (void)rmdir(f->path);
  }
  if (error != 0)
    return bn_err_set(err, error, "cannot make a folder in '%s': %s; set TMPDIR to another folder",
                      base, strerror(error));
  f->at = open(f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (f->at < 0)
    return bn_err_set(err, errno, "cannot open the folder '%s': %s", f->path, strerror(errno));
  return 0;
}

/* Makes the folders that stand in the name of a file.  Returns 0, or -1 and errno. */
static int temp_folder_make_parents(const struct bn_temp_folder *f, const char *name)
{
  char path[BN_FRAME_NAME_MAX + 1];

  for (const char *end = strchr(name, '/'); end != NULL; end = strchr(end + 1, '/')) {
    (void)snprintf(path, sizeof path, "%.*s", (int)(end - name), name);
    if (mkdirat(f->at, path, 0700) != 0 && errno != EEXIST)
      return -1;
  }
  return 0;
}

/* Writes a new file and makes the folders in its name.  Returns 0, or -1 and the errno of the first
   failure. */
static int temp_folder_write_file(const struct bn_temp_folder *f, const struct bn_frame_file *file)
{
  int fd, error;

  if (temp_folder_make_parents(f, file->name) != 0)
    return -1;
  fd = openat(f->at, file->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0)
    return -1;
  error = bn_file_write_all(fd, file->data, file->len) == 0 ? 0 : errno;
  if (close(fd) != 0 && error == 0)
    error = errno;
  errno = error;
  return error == 0 ? 0 : -1;
}

int bn_temp_folder_add(struct bn_temp_folder *f, const struct bn_frame_file *file,
                       struct bn_err *err)
{
  if (temp_folder_write_file(f, file) != 0)
    return bn_err_set(err, errno, "cannot write the file '%s' to '%s': %s", file->name, f->path,
                      strerror(errno));
  f->has_files = true;
  return 0;
}

void bn_temp_folder_done(struct bn_temp_folder *f)
{
  const uint64_t until_ns = bn_clock_mono() + removal_ns;

  if (f->at >= 0)
    (void)close(f->at);
  /* The keeper, which reads the other end, removes the folder once this end is closed. */
  if (f->life >= 0)
    (void)close(f->life);
  /* A keeper that needs longer goes on without this process, which does not collect it. */
  while (f->keeper > 0 && waitpid(f->keeper, NULL, WNOHANG) == 0 && bn_clock_mono() < until_ns)
    bn_clock_sleep_until(bn_clock_mono() + poll_ns);
  *f = (struct bn_temp_folder){.at = -1, .life = -1};
}

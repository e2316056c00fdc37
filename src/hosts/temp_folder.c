/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Has a process of its own that makes a folder and removes it; fills it. */
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

/* How often the keeper tries to remove the folder: threads that the agent has left behind may still
   write there. */
enum { REMOVAL_TRIES = 100 };
/* The time between two tries, or between two looks whether the keeper has ended. */
static const uint64_t poll_ns = 10 * BN_NSEC_PER_MSEC;
/* How long the agent waits for the end of the keeper: longer than all tries take. */
static const uint64_t removal_ns = 2 * BN_NSEC_PER_SEC;

/* The ends of a pipe. */
enum { READ_END, WRITE_END, ENDS };

/* --- the keeper --- */

/* Removes a file or an empty folder for nftw(3).  Returns 0 even if that fails, so that the walk
   goes on; the folder is looked for afterwards. */
static int keeper_remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
  (void)st;
  (void)type;
  (void)at;
  (void)remove(path);
  return 0;
}

/* Removes a folder with all that is in it, but not what is mounted there.  Tries again if the
   folder is still there, and gives up after REMOVAL_TRIES. */
static void keeper_remove_all(const char *path)
{
  enum { DESCRIPTORS = 16 }; /* deeper folders are walked too, more slowly */

  for (int i = 0; i < REMOVAL_TRIES; i++) {
    (void)nftw(path, keeper_remove_entry, DESCRIPTORS, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    if (access(path, F_OK) != 0)
      return;
    bn_clock_sleep_until(bn_clock_mono() + poll_ns);
  }
}

/* Closes all descriptors but the two of the keeper, and makes the standard streams /dev/null,
   because the shell that has started the agent waits until no process has its streams open. */
static void keeper_close_others(int life, int answer)
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
    if (fd != life && fd != answer)
      (void)close(fd); /* fails for a number that is not open */
}

/* The only message of the keeper. */
struct keeper_message {
  int error;           /* 0, or the error number of mkdtemp(3) */
  char path[PATH_MAX]; /* the folder; before that, its template */
};

/* Makes the folder, sends its path to the agent, and removes it when the agent has ended.  The
   keeper does not end with the process group of the agent: it has a session of its own, and all
   signals are blocked.  The agent does not make the folder, because the folder would stay if the
   agent were killed before it has told the keeper. */
_Noreturn static void keeper_run(struct keeper_message *m, int life, int answer)
{
  ssize_t n;
  char byte;

  (void)setsid();
  (void)prctl(PR_SET_NAME, "bench-keeper");
  keeper_close_others(life, answer);
  m->error = mkdtemp(m->path) == NULL ? errno : 0;
  (void)write(answer, m, sizeof *m); /* fails if the agent has ended, which is seen below */
  (void)close(answer);
  if (m->error != 0)
    _exit(1);
  do { /* nothing is sent: the pipe ends when the agent closes it or ends */
    n = read(life, &byte, 1);
  } while (n > 0 || (n < 0 && errno == EINTR));
  (void)chdir("/");
  keeper_remove_all(m->path);
  _exit(0);
}

/* --- the agent --- */

/* Forks the keeper, with all signals blocked in it.  Returns 0 or an error number. */
static int keeper_start(struct bn_temp_folder *f, struct keeper_message *m, const int life[ENDS],
                        const int answer[ENDS])
{
  sigset_t all, before;

  (void)sigfillset(&all);
  (void)sigprocmask(SIG_SETMASK, &all, &before);
  f->keeper = fork();
  if (f->keeper == 0)
    keeper_run(m, life[READ_END], answer[WRITE_END]);
  const int error = errno;

  (void)sigprocmask(SIG_SETMASK, &before, NULL);
  return f->keeper > 0 ? 0 : error;
}

/* Reads the message of the keeper.  Returns false if it has ended without one. */
static bool keeper_read_answer(int fd, struct keeper_message *m)
{
  size_t len = 0;

  while (len < sizeof *m) {
    const ssize_t n = read(fd, (char *)m + len, sizeof *m - len);

    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    len += (size_t)n;
  }
  return true;
}

/* Starts the keeper, and waits until it has made the folder.  The keeper lives until this process
   closes the end f->life or ends.  Returns 0 or an error number, ESRCH if the keeper has ended. */
static int temp_folder_start_keeper(struct bn_temp_folder *f, struct keeper_message *m)
{
  int life[ENDS], answer[ENDS], error;

  if (pipe2(life, O_CLOEXEC) != 0)
    return errno;
  f->life = life[WRITE_END];
  if (pipe2(answer, O_CLOEXEC) != 0) {
    error = errno;
    (void)close(life[READ_END]);
    return error;
  }
  error = keeper_start(f, m, life, answer);
  (void)close(life[READ_END]);
  (void)close(answer[WRITE_END]);
  if (error == 0)
    error = keeper_read_answer(answer[READ_END], m) ? m->error : ESRCH;
  (void)close(answer[READ_END]);
  return error;
}

/* Writes the template of the folder's name for mkdtemp(3).  It is absolute even if `base` is not,
   because the keeper removes the folder from another working folder.  Returns 0 or an error
   number. */
static int temp_folder_make_template(const char *base, char path[PATH_MAX])
{
  char absolute[PATH_MAX];

  if (realpath(base, absolute) == NULL)
    return errno;
  if ((size_t)snprintf(path, PATH_MAX, "%s/bench-agent.XXXXXX", absolute) >= PATH_MAX)
    return ENAMETOOLONG;
  return 0;
}

int bn_temp_folder_make(struct bn_temp_folder *f, struct bn_err *err)
{
  const char *base = getenv("TMPDIR");
  struct keeper_message m = {0};
  int error;

  *f = (struct bn_temp_folder){.at = -1, .life = -1};
  if (base == NULL || base[0] == '\0')
    base = "/tmp";
  error = temp_folder_make_template(base, m.path);
  if (error == 0)
    error = temp_folder_start_keeper(f, &m);
  if (error != 0)
    return bn_err_set(err, error, "cannot make a folder in '%s': %s; set TMPDIR to another folder",
                      base, strerror(error));
  memcpy(f->path, m.path, sizeof f->path);
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

bool bn_temp_folder_has(const struct bn_temp_folder *f, const char *name)
{
  /* faccessat(2) would look for an absolute name outside of the folder. */
  return name[0] != '/' && faccessat(f->at, name, F_OK, 0) == 0;
}

/* Waits for the end of the keeper, up to removal_ns.  A keeper that needs longer goes on without
   this process, which does not collect it. */
static void keeper_await_end(const struct bn_temp_folder *f)
{
  const uint64_t until_ns = bn_clock_mono() + removal_ns;

  while (waitpid(f->keeper, NULL, WNOHANG) == 0 && bn_clock_mono() < until_ns)
    bn_clock_sleep_until(bn_clock_mono() + poll_ns);
}

void bn_temp_folder_done(struct bn_temp_folder *f)
{
  if (f->at >= 0)
    (void)close(f->at);
  /* The keeper, which reads the other end, removes the folder once this end is closed. */
  if (f->life >= 0)
    (void)close(f->life);
  if (f->keeper > 0)
    keeper_await_end(f);
  *f = (struct bn_temp_folder){.at = -1, .life = -1};
}

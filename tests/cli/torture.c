/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Preloaded by tests: one call of a kind fails, once.

   TORTURE names the kind, the number of the call that fails, and a log: "alloc 17 /tmp/log".  The
   log says how many calls there were, where the one that failed was made, and where the program
   crashed.  Number 0 fails nothing.
   alloc: memory of the heap, and anonymous mappings.
   connect: any.
   write: to files, which are full then, to standard output, and to sockets, which are closed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* The C library's own, which need not be looked up. */
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

static char kind[16];
static int victim;
static int log_fd = -1;
static atomic_int calls;

/* What was called from where, one frame a line. */
static void trace(const char *what)
{
  void *frames[40];
  const int n = backtrace(frames, 40);

  dprintf(log_fd, "%s\n", what);
  backtrace_symbols_fd(frames + 2, n > 2 ? n - 2 : 0, log_fd);
}

/* Whether this call is the one; it sees calls from the moment the log is open. */
static bool fails(const char *call, int error)
{
  if (log_fd < 0 || strcmp(call, kind) != 0 || atomic_fetch_add(&calls, 1) + 1 != victim)
    return false;
  /* What a trace allocates has other numbers. */
  trace("failed");
  errno = error;
  return true;
}

/* A call through a null pointer has no frame, and none below it is found: the trace begins with
   the caller. */
#ifdef __x86_64__
static void leave_nowhere(ucontext_t *at)
{
  greg_t *reg = at->uc_mcontext.gregs;

  if (reg[REG_RIP] != 0)
    return;
  reg[REG_RIP] = *(const greg_t *)reg[REG_RSP];
  reg[REG_RSP] += (greg_t)sizeof(greg_t);
}
#else
static void leave_nowhere(ucontext_t *at)
{
  (void)at;
}
#endif

static void crashed(int signo, siginfo_t *info, void *at)
{
  (void)info;
  leave_nowhere(at);
  trace("crashed");
  (void)NEXT(signal)(signo, SIG_DFL);
  (void)raise(signo);
}

__attribute__((constructor)) static void begin(void)
{
  static const int signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
  const struct sigaction crash = {.sa_sigaction = crashed, .sa_flags = SA_SIGINFO};
  const char *spec = getenv("TORTURE");
  char path[512];
  void *first[1];

  if (spec == NULL || sscanf(spec, "%15s %d %511s", kind, &victim, path) != 3)
    return;
  /* The first trace loads a library. */
  (void)backtrace(first, 1);
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
    (void)sigaction(signals[i], &crash, NULL);
  log_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  /* Out of the way of programs that count descriptors. */
  if (log_fd >= 0 && fcntl(log_fd, F_DUPFD_CLOEXEC, 900) >= 0) {
    const int low = log_fd;

    log_fd = fcntl(low, F_DUPFD_CLOEXEC, 900);
    (void)close(low);
  }
}

/* A handler of the program that gives up hands over to the one of this library. */
sighandler_t signal(int signo, sighandler_t to)
{
  const struct sigaction crash = {.sa_sigaction = crashed, .sa_flags = SA_SIGINFO};
  const bool is_fault = signo == SIGSEGV || signo == SIGBUS;

  if (log_fd < 0 || !is_fault || to != SIG_DFL)
    return NEXT(signal)(signo, to);
  return sigaction(signo, &crash, NULL) == 0 ? SIG_DFL : SIG_ERR;
}

__attribute__((destructor)) static void end(void)
{
  if (log_fd >= 0)
    dprintf(log_fd, "calls %d\n", atomic_load(&calls));
}

void *malloc(size_t n)
{
  return fails("alloc", ENOMEM) ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
  return fails("alloc", ENOMEM) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *at, size_t n)
{
  return fails("alloc", ENOMEM) ? NULL : __libc_realloc(at, n);
}

void *reallocarray(void *at, size_t n, size_t size)
{
  size_t bytes;

  if (__builtin_mul_overflow(n, size, &bytes)) {
    errno = ENOMEM;
    return NULL;
  }
  return realloc(at, bytes);
}

void *memalign(size_t to, size_t n)
{
  return fails("alloc", ENOMEM) ? NULL : __libc_memalign(to, n);
}

void *aligned_alloc(size_t to, size_t n)
{
  return memalign(to, n);
}

int posix_memalign(void **at, size_t to, size_t n)
{
  void *found = memalign(to, n);

  if (found == NULL)
    return ENOMEM;
  *at = found;
  return 0;
}

void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
  if ((flags & MAP_ANONYMOUS) != 0 && fails("alloc", ENOMEM))
    return MAP_FAILED;
  return NEXT(mmap)(at, n, protection, flags, fd, offset);
}

void *mmap64(void *at, size_t n, int protection, int flags, int fd, off64_t offset)
{
  return mmap(at, n, protection, flags, fd, offset);
}

/* Pipes and events between threads do not fail. */
static bool write_fails(int fd)
{
  struct stat st;

  if (log_fd < 0 || fd == STDERR_FILENO || fd == log_fd || fstat(fd, &st) != 0)
    return false;
  if (S_ISSOCK(st.st_mode) && fails("write", ECONNRESET)) {
    (void)shutdown(fd, SHUT_RDWR);
    errno = ECONNRESET;
    return true;
  }
  return (S_ISREG(st.st_mode) || fd == STDOUT_FILENO) && fails("write", ENOSPC);
}

ssize_t write(int fd, const void *from, size_t n)
{
  return write_fails(fd) ? -1 : NEXT(write)(fd, from, n);
}

ssize_t writev(int fd, const struct iovec *from, int n)
{
  return write_fails(fd) ? -1 : NEXT(writev)(fd, from, n);
}

ssize_t pwrite(int fd, const void *from, size_t n, off_t at)
{
  return write_fails(fd) ? -1 : NEXT(pwrite)(fd, from, n, at);
}

ssize_t pwrite64(int fd, const void *from, size_t n, off64_t at)
{
  return write_fails(fd) ? -1 : NEXT(pwrite64)(fd, from, n, at);
}

ssize_t send(int fd, const void *from, size_t n, int flags)
{
  return write_fails(fd) ? -1 : NEXT(send)(fd, from, n, flags);
}

ssize_t sendto(int fd, const void *from, size_t n, int flags, const struct sockaddr *to,
               socklen_t len)
{
  return write_fails(fd) ? -1 : NEXT(sendto)(fd, from, n, flags, to, len);
}

ssize_t sendmsg(int fd, const struct msghdr *from, int flags)
{
  return write_fails(fd) ? -1 : NEXT(sendmsg)(fd, from, flags);
}

/* Drivers send without the functions above.  All calls have the arguments of the longest: the
   kernel reads those that it needs. */
long syscall(long number, ...)
{
  long argument[6];
  va_list list;

  va_start(list, number);
  for (int i = 0; i < 6; i++)
    argument[i] = va_arg(list, long);
  va_end(list);
  if (number == SYS_sendto && write_fails((int)argument[0]))
    return -1;
  return NEXT(syscall)(number, argument[0], argument[1], argument[2], argument[3], argument[4],
                       argument[5]);
}

int connect(int fd, const struct sockaddr *to, socklen_t len)
{
  return fails("connect", ECONNREFUSED) ? -1 : NEXT(connect)(fd, to, len);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs programs and says what they took; for the scripts of this folder.

     measure spawn N PROGRAM ARGUMENT...
       Medians of N runs, output thrown away: elapsed us, processor time us, peak resident KiB.

     measure run PROGRAM ARGUMENT...
       One run with its output, then a line "processor time: S" in seconds.

     measure start LINE SECONDS PROGRAM ARGUMENT...
       Seconds until the program has printed LINE, and KiB resident so many seconds later; then it
       is killed.  */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static double now_s(void)
{
  struct timespec t;

  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void give_up(const char *what)
{
  (void)fprintf(stderr, "measure: %s: %s\n", what, strerror(errno));
  exit(2);
}

/* Starts argv with its standard output at fd. */
static pid_t start(char **argv, int fd)
{
  posix_spawn_file_actions_t actions;
  pid_t pid;

  (void)posix_spawn_file_actions_init(&actions);
  (void)posix_spawn_file_actions_adddup2(&actions, fd, STDOUT_FILENO);
  errno = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
  if (errno != 0)
    give_up(argv[0]);
  (void)posix_spawn_file_actions_destroy(&actions);
  return pid;
}

static int ascending(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

static double median(double *v, size_t n)
{
  qsort(v, n, sizeof *v, ascending);
  return (v[(n - 1) / 2] + v[n / 2]) / 2;
}

static double micros(struct timeval t)
{
  return (double)t.tv_sec * 1e6 + (double)t.tv_usec;
}

static int measure_spawn(size_t n, char **argv)
{
  double *elapsed = calloc(n, sizeof *elapsed), *used = calloc(n, sizeof *used);
  double *peak = calloc(n, sizeof *peak);
  const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

  if (elapsed == NULL || used == NULL || peak == NULL || null < 0)
    give_up("preparing");
  for (size_t i = 0; i < n; i++) {
    const double from = now_s();
    const pid_t pid = start(argv, null);
    struct rusage r;
    int status;

    if (wait4(pid, &status, 0, &r) != pid)
      give_up("wait4");
    if (status != 0) {
      (void)fprintf(stderr, "measure: %s ended with wait status %d\n", argv[0], status);
      return 1;
    }
    elapsed[i] = (now_s() - from) * 1e6;
    used[i] = micros(r.ru_utime) + micros(r.ru_stime);
    peak[i] = (double)r.ru_maxrss;
  }
  (void)printf("%.1f %.1f %.0f\n", median(elapsed, n), median(used, n), median(peak, n));
  free(elapsed);
  free(used);
  free(peak);
  return 0;
}

static int measure_run(char **argv)
{
  const pid_t pid = start(argv, STDOUT_FILENO);
  struct rusage r;
  int status;

  if (wait4(pid, &status, 0, &r) != pid)
    give_up("wait4");
  (void)printf("processor time: %.6f\n", (micros(r.ru_utime) + micros(r.ru_stime)) / 1e6);
  return status == 0 ? 0 : 1;
}

static long resident_kib(pid_t pid)
{
  char path[64], line[256];
  long kib = -1;
  FILE *f;

  (void)snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
  f = fopen(path, "r");
  while (f != NULL && fgets(line, sizeof line, f) != NULL)
    if (sscanf(line, "VmRSS: %ld", &kib) == 1)
      break;
  if (f != NULL)
    (void)fclose(f);
  return kib;
}

static bool wait_for_line(FILE *in, const char *text)
{
  char line[4096];

  while (fgets(line, sizeof line, in) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    if (strcmp(line, text) == 0)
      return true;
  }
  return false;
}

static int measure_start(const char *text, double delay, char **argv)
{
  const struct timespec pause = {(time_t)delay, (long)((delay - (double)(time_t)delay) * 1e9)};
  int ends[2];
  double from, took;
  bool seen;
  pid_t pid;
  FILE *in;

  if (pipe2(ends, O_CLOEXEC) != 0 || (in = fdopen(ends[0], "r")) == NULL)
    give_up("pipe");
  from = now_s();
  pid = start(argv, ends[1]);
  (void)close(ends[1]);
  seen = wait_for_line(in, text);
  took = now_s() - from;
  if (seen) {
    (void)nanosleep(&pause, NULL);
    (void)printf("%.4f %ld\n", took, resident_kib(pid));
  } else {
    (void)fprintf(stderr, "measure: %s never printed '%s'\n", argv[0], text);
  }
  (void)kill(pid, SIGKILL);
  (void)waitpid(pid, NULL, 0);
  (void)fclose(in);
  return seen ? 0 : 1;
}

int main(int argc, char **argv)
{
  if (argc > 3 && strcmp(argv[1], "spawn") == 0 && strtoul(argv[2], NULL, 10) > 0)
    return measure_spawn(strtoul(argv[2], NULL, 10), argv + 3);
  if (argc > 2 && strcmp(argv[1], "run") == 0)
    return measure_run(argv + 2);
  if (argc > 4 && strcmp(argv[1], "start") == 0)
    return measure_start(argv[2], strtod(argv[3], NULL), argv + 4);
  (void)fputs("usage: measure spawn N PROGRAM ARGUMENT...\n"
              "       measure run PROGRAM ARGUMENT...\n"
              "       measure start LINE SECONDS PROGRAM ARGUMENT...\n",
              stderr);
  return 2;
}

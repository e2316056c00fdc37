/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs the test files of one layer, each in a process of its own: one that dies hides no other's
   results, and none meets what another left behind.  Usage: PROGRAM [name of a file's tests...] */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cm.h"

/* No file's tests take a tenth of this, also under ThreadSanitizer on a busy machine. */
enum { LONGEST_S = 300 };
/* Exit status of a process whose failures cmocka has told; a sanitizer ends it with another. */
enum { TOLD = 2 };

static struct bn_tests *first, **end = &first;

int bn_tests_left;

void bn_tests_add(struct bn_tests *tests)
{
  *end = tests;
  end = &tests->next;
}

/* How many descriptors this process has, the folder's own one among them; 0 if
   /proc cannot be read. */
static int count_descriptors(void)
{
  DIR *folder = opendir("/proc/self/fd");
  int n = 0;

  while (folder != NULL && readdir(folder) != NULL)
    n++;
  if (folder != NULL)
    (void)closedir(folder);
  return n;
}

/* A descriptor that a function leaves open is lost once for each run of a study. */
static int run_and_count(const struct bn_tests *tests)
{
  const int before = count_descriptors();
  const int failed = tests->run();
  const int left = count_descriptors() - before - bn_tests_left;

  if (left > 0)
    printf("[  FAILED  ] 1 test(s), %s: %d descriptors were left open\n", tests->name, left);
  return failed || left > 0;
}

/* cmocka's words for a failure, so that whoever counts its results counts this one too. */
static void tell_death(const char *name, int status)
{
  if (WIFSIGNALED(status))
    printf("[  FAILED  ] 1 test(s), %s: ended by signal %d\n", name, WTERMSIG(status));
  else
    printf("[  FAILED  ] 1 test(s), %s: ended with status %d\n", name, WEXITSTATUS(status));
}

static int run_apart(const struct bn_tests *tests)
{
  int status;
  pid_t pid;

  printf("== %s\n", tests->name);
  (void)fflush(stdout);
  pid = fork();
  if (pid < 0) {
    perror("fork");
    return -1;
  }
  if (pid == 0) {
    (void)alarm(LONGEST_S);
    exit(run_and_count(tests) == 0 ? 0 : TOLD);
  }
  if (waitpid(pid, &status, 0) != pid) {
    perror("waitpid");
    return -1;
  }
  if (!WIFEXITED(status) || (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != TOLD))
    tell_death(tests->name, status);
  return status == 0 ? 0 : -1;
}

static int is_named(const char *name, int argc, char **argv)
{
  for (int i = 1; i < argc; i++)
    if (strcmp(argv[i], name) == 0)
      return 1;
  return argc < 2;
}

int main(int argc, char **argv)
{
  int failed = 0, ran = 0;

  for (const struct bn_tests *t = first; t != NULL; t = t->next) {
    if (!is_named(t->name, argc, argv))
      continue;
    ran++;
    failed |= run_apart(t) != 0;
  }
  if (ran == 0)
    (void)fprintf(stderr, "%s: no tests of that name\n", argv[0]);
  return failed || ran == 0;
}

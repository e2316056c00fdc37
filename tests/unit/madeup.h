/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A folder with made-up files of /proc and /sys, for one test. */
#ifndef BN_TESTS_MADEUP_H
#define BN_TESTS_MADEUP_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cm.h"

static char root[64];

static int make_root(void **state)
{
  (void)state;
  (void)snprintf(root, sizeof root, "/tmp/bench-madeup.XXXXXX");
  return mkdtemp(root) != NULL ? 0 : -1;
}

static int remove_root(void **state)
{
  char command[128];

  (void)state;
  (void)snprintf(command, sizeof command, "rm -rf '%s'", root);
  return system(command);
}

static void put(const char *name, const char *text)
{
  char path[256];
  FILE *f;

  (void)snprintf(path, sizeof path, "%s/%s", root, name);
  for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')) != NULL; at++) {
    *at = '\0';
    (void)mkdir(path, 0777);
    *at = '/';
  }
  f = fopen(path, "w");
  assert_non_null(f);
  assert_true(fputs(text, f) >= 0);
  assert_int_equal(fclose(f), 0);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmocka with the headers it wants before it, and the way in which a file's tests reach
   runner.c. */
#ifndef BN_TESTS_CM_H
#define BN_TESTS_CM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

struct bn_tests {
  const char *name;
  int (*run)(void); /* 0, or how many failed */
  struct bn_tests *next;
};

void bn_tests_add(struct bn_tests *tests);

/* The descriptors that threads hold which a test leaves behind on purpose. */
extern int bn_tests_left;

/* In place of main(): BN_TESTS(hist) { ... return cmocka_run_group_tests(...); } */
#define BN_TESTS(file)                                                                             \
  static int file##_group(void);                                                                   \
  static struct bn_tests file##_entry = {.name = #file, .run = file##_group};                      \
  __attribute__((constructor)) static void file##_add(void)                                        \
  {                                                                                                \
    bn_tests_add(&file##_entry);                                                                   \
  }                                                                                                \
  static int file##_group(void)

#endif

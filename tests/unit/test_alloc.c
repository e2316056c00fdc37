/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process without memory says so and exits with status 1, after what was set to be called. */
#include "base/alloc.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cm.h"

/* What a process that gets no memory prints on standard error. */
static void check_end(void (*last)(void *of), void *of, const char *wanted)
{
  char text[128] = "";
  int fd[2], status;
  pid_t child;

  assert_int_equal(pipe(fd), 0);
  child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    (void)dup2(fd[1], STDERR_FILENO);
    bn_alloc_before_exit(last, of);
    bn_alloc_fail();
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 1);
  assert_true(read(fd[0], text, sizeof text - 1) > 0);
  assert_string_equal(text, wanted);
  (void)close(fd[0]);
  (void)close(fd[1]);
}

static void write_word(void *of)
{
  (void)!write(STDERR_FILENO, of, strlen(of));
}

static void a_process_without_memory_ends_with_a_sentence(void **state)
{
  char word[] = "42 events\n";

  (void)state;
  check_end(NULL, NULL, "out of memory: bench ends\n");
  check_end(write_word, word, "out of memory: bench ends\n42 events\n");
}

static void memory_is_zeroed_and_never_null(void **state)
{
  unsigned char *p = bn_alloc(3, 5);
  char *text = bn_alloc_text("text"), *part = bn_alloc_part("text", 2);
  char *printed = bn_alloc_print("%d %s", 7, "seven");

  (void)state;
  for (size_t i = 0; i < 15; i++)
    assert_int_equal(p[i], 0);
  p = bn_alloc_resize(p, 100, 5);
  assert_int_equal(p[14], 0);
  p = bn_alloc_resize(p, 0, 5);
  assert_non_null(p);
  assert_string_equal(text, "text");
  assert_string_equal(part, "te");
  assert_string_equal(printed, "7 seven");
  free(p);
  free(text);
  free(part);
  free(printed);
  p = bn_alloc(0, 8);
  assert_non_null(p);
  free(p);
}

static void a_stream_holds_what_was_printed(void **state)
{
  char *text = NULL;
  size_t len = 0;
  FILE *out = bn_alloc_stream(&text, &len);

  (void)state;
  (void)fprintf(out, "%d %s", 7, "seven");
  bn_alloc_stream_close(out);
  assert_int_equal(len, 7);
  assert_string_equal(text, "7 seven");
  free(text);
}

/* A size that the user chooses may be too large: that is no end of the process. */
static void aligned_memory_is_zeroed_or_refused(void **state)
{
  unsigned char *p = bn_alloc_try_aligned(64, 3, 50);

  (void)state;
  assert_non_null(p);
  assert_int_equal((uintptr_t)p % 64, 0);
  for (size_t i = 0; i < 150; i++)
    assert_int_equal(p[i], 0);
  free(p);
  assert_null(bn_alloc_try_aligned(64, SIZE_MAX / 2, 3));
  assert_null(bn_alloc_try_aligned(64, 1, SIZE_MAX - 10));
}

BN_TESTS(alloc)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_process_without_memory_ends_with_a_sentence),
      cmocka_unit_test(memory_is_zeroed_and_never_null),
      cmocka_unit_test(aligned_memory_is_zeroed_or_refused),
      cmocka_unit_test(a_stream_holds_what_was_printed),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}

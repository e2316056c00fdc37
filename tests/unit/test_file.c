/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that are opened for writing are not those that a link leads to, unless the link is ours;
   and saved files are replaced whole. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cm.h"

static uid_t alien; /* is added to the user's number */

/* Takes the place of the C library's. */
uid_t geteuid(void)
{
  return (uid_t)syscall(SYS_geteuid) + alien;
}

static char folder[] = "/tmp/bench-file.XXXXXX";

static int enter(void **state)
{
  (void)state;
  return mkdtemp(folder) != NULL && chdir(folder) == 0 ? 0 : -1;
}

static int leave(void **state)
{
  (void)state;
  return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

static void put(const char *path, const char *text)
{
  const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

  assert_int_not_equal(fd, -1);
  assert_int_equal(write(fd, text, strlen(text)), strlen(text));
  assert_int_equal(close(fd), 0);
}

static void check_text(const char *path, const char *text)
{
  char is[64] = "";
  const int fd = open(path, O_RDONLY | O_CLOEXEC);

  assert_int_not_equal(fd, -1);
  assert_true(read(fd, is, sizeof is - 1) >= 0);
  assert_int_equal(close(fd), 0);
  assert_string_equal(is, text);
}

static void files_are_replaced(void **state)
{
  int fd;

  (void)state;
  put("file", "old and long");
  for (int i = 0; i < 2; i++) {
    fd = bn_file_create("file");
    assert_int_not_equal(fd, -1);
    assert_int_equal(write(fd, "new", 3), 3);
    assert_int_equal(close(fd), 0);
    check_text("file", "new");
    assert_int_equal(unlink("file"), 0);
  }
  put("file", "old");
  fd = bn_file_reopen("file");
  assert_int_not_equal(fd, -1);
  assert_int_equal(close(fd), 0);
  check_text("file", "old");
  assert_int_equal(unlink("file"), 0);
  errno = 0;
  assert_int_equal(bn_file_create("none/file"), -1);
  assert_int_equal(errno, ENOENT);
  fd = bn_file_create("/dev/null");
  assert_int_not_equal(fd, -1);
  assert_int_equal(close(fd), 0);
}

static void links_are_refused(void **state)
{
  (void)state;
  put("file", "kept");
  assert_int_equal(symlink("file", "symbolic"), 0);
  assert_int_equal(symlink("absent", "dangling"), 0);
  for (const char *const *p = (const char *const[]){"symbolic", "dangling", NULL}; *p; p++) {
    errno = 0;
    assert_int_equal(bn_file_create(*p), -1);
    assert_int_equal(errno, ELOOP);
  }
  assert_non_null(strstr(bn_file_reason(ELOOP), "it is a symbolic link"));
  assert_int_equal(link("file", "hard"), 0);
  errno = 0;
  assert_int_equal(bn_file_create("hard"), -1);
  assert_int_equal(errno, EMLINK);
  assert_non_null(strstr(bn_file_reason(EMLINK), "it is a hard link"));
  assert_int_equal(bn_file_open("hard", O_RDWR, 0), -1);
  check_text("file", "kept");
  assert_int_equal(unlink("hard"), 0);
  assert_int_equal(unlink("symbolic"), 0);
  assert_int_equal(unlink("dangling"), 0);
  assert_int_equal(unlink("file"), 0);
}

static void open_files_are_written_where_they_stand(void **state)
{
  char name[64];
  int file, twin;

  (void)state;
  put("file", "first ");
  assert_int_equal(link("file", "hard"), 0); /* whoever opened it may have it */
  file = open("file", O_WRONLY | O_APPEND | O_CLOEXEC);
  assert_int_not_equal(file, -1);
  (void)snprintf(name, sizeof name, "/dev/fd/%d", file);
  assert_int_equal(bn_file_descriptor(name), file);
  twin = bn_file_create(name);
  assert_int_not_equal(twin, -1);
  assert_int_equal(write(twin, "second", 6), 6);
  assert_int_equal(close(twin), 0);
  assert_int_equal(close(file), 0);
  check_text("file", "first second");
  errno = 0;
  assert_int_equal(bn_file_create(name), -1);
  assert_int_equal(errno, EBADF);
  file = open("file", O_RDONLY | O_CLOEXEC);
  (void)snprintf(name, sizeof name, "/proc/self/fd/%d", file);
  assert_int_equal(bn_file_create(name), -1);
  assert_int_equal(errno, EBADF);
  assert_int_equal(close(file), 0);
  assert_int_equal(unlink("hard"), 0);
  assert_int_equal(unlink("file"), 0);
}

static void few_names_are_open_files(void **state)
{
  static const struct {
    const char *path;
    int fd;
  } rows[] = {
      {"/dev/stdout", 1},       {"/dev/stderr", 2},         {"/dev/fd/3", 3},
      {"/proc/self/fd/70", 70}, {"/dev/fd/", -1},           {"/dev/fd/-1", -1},
      {"/dev/fd/1x", -1},       {"/dev/fd/4294967297", -1}, {"/dev/shm/link", -1},
      {"/dev/stdout/../x", -1}, {"/dev/null", -1},          {"", -1},
  };

  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    assert_int_equal(bn_file_descriptor(rows[i].path), rows[i].fd);
}

static void check_follow(const char *path, const char *wanted)
{
  char out[PATH_MAX];

  assert_int_equal(bn_file_follow(path, out), 0);
  assert_string_equal(out, wanted);
}

static void own_links_are_followed(void **state)
{
  char out[PATH_MAX];

  (void)state;
  assert_int_equal(mkdir("sub", 0700), 0);
  assert_int_equal(symlink("../sub/second", "sub/first"), 0);
  assert_int_equal(symlink("/nowhere/third", "sub/second"), 0);
  assert_int_equal(symlink("round", "round"), 0);
  check_follow("sub/first", "/nowhere/third");
  check_follow("sub/none", "sub/none");
  check_follow("none/none", "none/none");
  check_follow("sub", "sub");
  errno = 0;
  assert_int_equal(bn_file_follow("round", out), -1);
  assert_int_equal(errno, ELOOP);
  assert_int_equal(unlink("round"), 0);
}

static void links_of_others_are_not(void **state)
{
  char out[PATH_MAX];

  (void)state;
  /* Root's are everybody's. */
  if (geteuid() == 0) {
    alien = 1;
    check_follow("sub/second", "/nowhere/third");
    alien = 0;
    assert_int_equal(lchown("sub/second", 12345, 12345), 0);
  } else {
    alien = 1;
  }
  errno = 0;
  assert_int_equal(bn_file_follow("sub/first", out), -1);
  assert_int_equal(errno, ELOOP);
  assert_int_equal(bn_file_follow("sub/second", out), -1);
  assert_int_equal(errno, ELOOP);
  alien = 0;
  assert_int_equal(unlink("sub/first"), 0);
  assert_int_equal(unlink("sub/second"), 0);
  assert_int_equal(rmdir("sub"), 0);
}

/* --- replacing ------------------------------------------------------------------------------- */

static mode_t rights(const char *path)
{
  struct stat st;

  assert_int_equal(lstat(path, &st), 0);
  assert_true(S_ISREG(st.st_mode));
  return st.st_mode & 07777;
}

static void saving_replaces_the_whole_file(void **state)
{
  (void)state;
  put("old", "a longer text than the new one");
  assert_int_equal(chmod("old", 0640), 0);
  assert_int_equal(link("old", "other"), 0);
  assert_int_equal(symlink("other", "link"), 0);
  assert_int_equal(bn_file_save("old", "new", 3), 0);
  assert_int_equal(bn_file_save("link", "text", 4), 0);
  check_text("old", "new");
  assert_int_equal(rights("old"), 0640);
  check_text("other", "a longer text than the new one");
  check_text("link", "text");
  (void)rights("link"); /* it is no link any more */
  assert_int_equal(bn_file_save("none/file", "x", 1), -1);
  assert_int_equal(errno, ENOENT);
  assert_int_equal(bn_file_try("old"), 0);
  check_text("old", "new");
  assert_int_equal(bn_file_try("file"), 0);
  assert_int_equal(access("file", F_OK), -1);
  assert_int_equal(bn_file_try("/dev/null"), 0);
  assert_int_equal(bn_file_try("none/file"), -1);
  assert_int_equal(errno, ENOENT);
  assert_int_equal(unlink("old") + unlink("other") + unlink("link"), 0);
}

static void names_that_cannot_be_saved_are_known_before(void **state)
{
  (void)state;
  assert_int_equal(symlink("none", "link"), 0);
  assert_null(bn_file_fault("none"));
  assert_string_equal(bn_file_fault(""), "the name is empty; name a file");
  assert_string_equal(bn_file_fault("."), "this is a folder; name a file");
  assert_string_equal(bn_file_fault("link"),
                      "this is a symbolic link; name the file that it leads to");
  assert_true(bn_file_is_plain("none"));
  assert_true(bn_file_is_plain("link"));
  assert_false(bn_file_is_plain("/dev/null"));
  assert_true(bn_file_is_stdout(NULL));
  assert_true(bn_file_is_stdout("/dev/fd/1"));
  assert_false(bn_file_is_stdout("1"));
  assert_int_equal(unlink("link"), 0);
}

static void what_is_unfinished_is_dropped(void **state)
{
  char fresh[64];

  (void)state;
  (void)snprintf(fresh, sizeof fresh, "saved.n%lx", (unsigned long)getpid());
  put("saved", "old");
  put(fresh, "ha");
  bn_file_drop("saved");
  assert_int_equal(access(fresh, F_OK), -1);
  check_text("saved", "old");
  bn_file_drop("saved");
  bn_file_drop("/dev/null");
  bn_file_drop("/dev/stdout");
  check_text("saved", "old");
  assert_int_equal(unlink("saved"), 0);
}

BN_TESTS(file)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(files_are_replaced),
      cmocka_unit_test(links_are_refused),
      cmocka_unit_test(open_files_are_written_where_they_stand),
      cmocka_unit_test(few_names_are_open_files),
      cmocka_unit_test(own_links_are_followed),
      cmocka_unit_test(links_of_others_are_not),
      cmocka_unit_test(saving_replaces_the_whole_file),
      cmocka_unit_test(what_is_unfinished_is_dropped),
      cmocka_unit_test(names_that_cannot_be_saved_are_known_before),
  };

  return cmocka_run_group_tests(tests, enter, leave);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that are opened for writing are not those that a link leads to, unless the link is ours;
   and saved files are replaced whole. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "cm.h"

static uid_t alien; /* is added to the user's number */

/* Takes the place of the C library's. */
uid_t geteuid(void)
{
  return (uid_t)syscall(SYS_geteuid) + alien;
}

/* Calls that fail once, after some that do not, and reads and writes that move few bytes. */
enum call { READ, WRITE, CLOSE, FSYNC, FTRUNCATE, RENAME, UNLINK, CALLS };

static struct {
  int error, after;
} fault[CALLS];
static size_t most = SIZE_MAX;

static bool fails(enum call call)
{
  if (fault[call].error == 0 || fault[call].after-- > 0)
    return false;
  errno = fault[call].error;
  fault[call].error = 0;
  return true;
}

ssize_t read(int fd, void *to, size_t len)
{
  return fails(READ) ? -1 : syscall(SYS_read, fd, to, len < most ? len : most);
}

ssize_t write(int fd, const void *from, size_t len)
{
  return fails(WRITE) ? -1 : syscall(SYS_write, fd, from, len < most ? len : most);
}

int close(int fd)
{
  const int rc = (int)syscall(SYS_close, fd);

  return fails(CLOSE) ? -1 : rc;
}

int fsync(int fd)
{
  return fails(FSYNC) ? -1 : (int)syscall(SYS_fsync, fd);
}

int ftruncate(int fd, off_t len)
{
  return fails(FTRUNCATE) ? -1 : (int)syscall(SYS_ftruncate, fd, len);
}

int rename(const char *old, const char *new)
{
  return fails(RENAME) ? -1 : (int)syscall(SYS_renameat, AT_FDCWD, old, AT_FDCWD, new);
}

int unlink(const char *path)
{
  const int rc = (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);

  return fails(UNLINK) ? -1 : rc;
}

/* Others have the file. */
int fchown(int fd, uid_t owner, gid_t group)
{
  return alien != 0 ? -1 : (int)syscall(SYS_fchown, fd, owner, group);
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
  return chdir("/");
}

static void no_file_is_left(void **state)
{
  (void)state;
  assert_int_equal(rmdir(folder), 0);
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
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
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
  assert_non_null(strstr(bn_file_explain(ELOOP), "it is a symbolic link"));
  assert_int_equal(link("file", "hard"), 0);
  errno = 0;
  assert_int_equal(bn_file_create("hard"), -1);
  assert_int_equal(errno, EMLINK);
  assert_non_null(strstr(bn_file_explain(EMLINK), "it is a hard link"));
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
  assert_int_equal(bn_file_find_descriptor(name), file);
  twin = bn_file_create(name);
  assert_int_not_equal(twin, -1);
  assert_int_equal(fcntl(twin, F_GETFD), FD_CLOEXEC);
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
      {"/dev/fd/+1", -1},       {"/dev/fd/ 1", -1},         {"/dev/fd/-0", -1},
  };

  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    assert_int_equal(bn_file_find_descriptor(rows[i].path), rows[i].fd);
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

/* The longest path that fits has PATH_MAX - 1 characters. */
static void links_to_long_paths_are_followed(void **state)
{
  char text[PATH_MAX], out[PATH_MAX], wanted[PATH_MAX + 4];

  (void)state;
  memset(text, 'x', sizeof text);
  text[PATH_MAX - 5] = '\0';
  assert_int_equal(symlink(text, "sub/long"), 0);
  (void)snprintf(wanted, sizeof wanted, "sub/%s", text);
  check_follow("sub/long", wanted);
  assert_int_equal(unlink("sub/long"), 0);
  text[PATH_MAX - 5] = 'x';
  text[PATH_MAX - 4] = '\0';
  assert_int_equal(symlink(text, "sub/long"), 0);
  errno = 0;
  assert_int_equal(bn_file_follow("sub/long", out), -1);
  assert_int_equal(errno, ENAMETOOLONG);
  assert_int_equal(unlink("sub/long"), 0);
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
  assert_int_equal(bn_file_try_save("old"), 0);
  check_text("old", "new");
  assert_int_equal(bn_file_try_save("file"), 0);
  assert_int_equal(access("file", F_OK), -1);
  alien = 1;
  assert_int_equal(bn_file_save("old", "newer", 5), 0);
  alien = 0;
  assert_int_equal(rights("old"), 0600);
  assert_int_equal(bn_file_try_save("/dev/null"), 0);
  assert_int_equal(bn_file_try_save("none/file"), -1);
  assert_int_equal(errno, ENOENT);
  assert_int_equal(unlink("old") + unlink("other") + unlink("link"), 0);
}

/* A full disk tells of it at any of these calls. */
static void what_cannot_be_saved_leaves_the_old_file(void **state)
{
  static const struct {
    enum call call;
    int after, error;
  } rows[] = {{WRITE, 0, ENOSPC},
              {WRITE, 1, ENOSPC},
              {FSYNC, 0, EIO},
              {CLOSE, 0, EDQUOT},
              {RENAME, 0, EACCES}};
  char fresh[64];

  (void)state;
  (void)snprintf(fresh, sizeof fresh, "saved.n%lx", (unsigned long)getpid());
  put("saved", "old");
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    fault[rows[i].call].after = rows[i].after;
    fault[rows[i].call].error = rows[i].error;
    /* What follows the failure may fail too: the first error counts. */
    if (rows[i].call == WRITE || rows[i].call == FSYNC)
      fault[CLOSE].error = EBADF;
    fault[UNLINK].after = 1;
    fault[UNLINK].error = EROFS;
    most = 2;
    errno = 0;
    assert_int_equal(bn_file_save("saved", "new", 3), -1);
    assert_int_equal(errno, rows[i].error);
    most = SIZE_MAX;
    assert_int_equal(access(fresh, F_OK), -1);
    check_text("saved", "old");
  }
  fault[CLOSE].error = EIO;
  errno = 0;
  assert_int_equal(bn_file_save("/dev/null", "new", 3), -1);
  assert_int_equal(errno, EIO);
  fault[FTRUNCATE].error = EIO;
  assert_int_equal(bn_file_create("saved"), -1);
  assert_int_equal(errno, EIO);
  check_text("saved", "old");
  assert_int_equal(unlink("saved"), 0);
}

static void interrupted_and_short_calls_go_on(void **state)
{
  struct bn_buf text;

  (void)state;
  bn_buf_init(&text, 0);
  most = 3;
  fault[WRITE].after = fault[READ].after = 1;
  fault[WRITE].error = fault[READ].error = EINTR;
  assert_int_equal(bn_file_save("saved", "a long text", 11), 0);
  assert_int_equal(bn_file_read("saved", &text), 0);
  assert_int_equal(fault[WRITE].error + fault[READ].error, 0);
  assert_int_equal(text.len, 11);
  assert_memory_equal(text.data, "a long text", 11);
  fault[READ].after = 1;
  fault[READ].error = EIO;
  assert_int_equal(bn_file_read("saved", &text), -1);
  assert_int_equal(errno, EIO);
  most = SIZE_MAX;
  bn_buf_done(&text);
  bn_buf_init(&text, 10);
  assert_int_equal(bn_file_read("saved", &text), -1);
  assert_int_equal(errno, EFBIG);
  bn_buf_done(&text);
  /* A buffer that takes nothing although there is room, as it does without memory. */
  text = (struct bn_buf){.max = 11, .failed = true};
  assert_int_equal(bn_file_read("saved", &text), -1);
  assert_int_equal(errno, ENOMEM);
  bn_buf_done(&text);
  assert_int_equal(unlink("saved"), 0);
}

static void names_that_cannot_be_saved_are_known_before(void **state)
{
  (void)state;
  assert_int_equal(symlink("none", "link"), 0);
  assert_null(bn_file_find_fault("none"));
  assert_string_equal(bn_file_find_fault(""), "the name is empty; name a file");
  assert_string_equal(bn_file_find_fault("."), "this is a folder; name a file");
  assert_string_equal(bn_file_find_fault("link"),
                      "this is a symbolic link; name the file that it leads to");
  assert_true(bn_file_is_replaceable("none"));
  assert_true(bn_file_is_replaceable("link"));
  assert_false(bn_file_is_replaceable("/dev/null"));
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
  bn_file_drop_unsaved("saved");
  assert_int_equal(access(fresh, F_OK), -1);
  check_text("saved", "old");
  bn_file_drop_unsaved("saved");
  bn_file_drop_unsaved("/dev/null");
  bn_file_drop_unsaved("/dev/stdout");
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
      cmocka_unit_test(links_to_long_paths_are_followed),
      cmocka_unit_test(links_of_others_are_not),
      cmocka_unit_test(saving_replaces_the_whole_file),
      cmocka_unit_test(what_cannot_be_saved_leaves_the_old_file),
      cmocka_unit_test(interrupted_and_short_calls_go_on),
      cmocka_unit_test(what_is_unfinished_is_dropped),
      cmocka_unit_test(names_that_cannot_be_saved_are_known_before),
      cmocka_unit_test(no_file_is_left),
  };

  return cmocka_run_group_tests(tests, enter, leave);
}

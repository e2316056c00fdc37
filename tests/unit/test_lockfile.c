/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Claims on file systems that lack locks or renames, and of names that others take. */
#include "measure/lockfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cm.h"

/* What the file system does. */
static struct {
  int no_lock;   /* errno of flock(2); 0: it locks */
  int no_rename; /* errno of renameat2(2) */
  int taken;     /* how often another process replaces the file before it is locked */
  uid_t alien;   /* is added to the user's number */
} with;

static char folder[] = "/tmp/bench-claim.XXXXXX";
static char path[sizeof folder + sizeof "/f"];

static const char *name_of(const char *suffix)
{
  static char name[sizeof path + 16];

  (void)snprintf(name, sizeof name, "%s%s", path, suffix);
  return name;
}

static void make(const char *suffix, const char *text, mode_t mode)
{
  const int fd = open(name_of(suffix), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);

  assert_int_not_equal(fd, -1);
  assert_int_equal(write(fd, text, strlen(text)), strlen(text));
  assert_int_equal(close(fd), 0);
}

/* These take the place of the C library's. */

int flock(int fd, int operation)
{
  if (with.taken > 0) {
    with.taken--;
    assert_int_equal(unlink(path), 0);
    make("", "", 0600);
  }
  errno = with.no_lock;
  return with.no_lock != 0 ? -1 : (int)syscall(SYS_flock, fd, operation);
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags)
{
  errno = with.no_rename;
  return with.no_rename != 0 ? -1
                             : (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
}

uid_t geteuid(void)
{
  return (uid_t)syscall(SYS_geteuid) + with.alien;
}

static void assert_text(const char *suffix, const char *text)
{
  char buf[16] = "";
  const int fd = open(name_of(suffix), O_RDONLY | O_CLOEXEC);

  assert_int_not_equal(fd, -1);
  assert_int_equal(read(fd, buf, sizeof buf - 1), strlen(text));
  assert_int_equal(close(fd), 0);
  assert_string_equal(buf, text);
}

static void assert_gone(const char *suffix)
{
  assert_int_equal(access(name_of(suffix), F_OK), -1);
}

static struct bn_lockfile claimed(void)
{
  struct bn_lockfile c;
  struct bn_err err = {0};

  if (bn_lockfile_claim(&c, path, &err) != 0)
    fail_msg("%s", err.text);
  return c;
}

static void assert_refused(const char *why)
{
  struct bn_lockfile c;
  struct bn_err err = {0};

  assert_int_equal(bn_lockfile_claim(&c, path, &err), -1);
  assert_non_null(strstr(err.text, why));
  assert_int_equal(c.fd, -1);
}

/* NFS without its lock service, Lustre, FUSE. */
static void a_file_system_without_locks_stops_no_run(void **state)
{
  static const int errors[] = {ENOLCK, EOPNOTSUPP, ENOSYS, EINVAL, EBADF};

  (void)state;
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
    struct bn_lockfile c, later;

    with.no_lock = errors[i];
    make("", "old", 0600);
    c = claimed();
    assert_string_equal(c.aside, name_of(".1"));
    assert_int_equal(write(c.fd, "new", 3), 3);
    /* Another run cannot know that this one goes on, and takes nothing from it. */
    later = claimed();
    assert_text(".1", "old");
    assert_text(".2", "new");
    bn_lockfile_release(&c, BN_LOCKFILE_REMOVE);
    assert_text(".2", "new");
    bn_lockfile_release(&later, BN_LOCKFILE_UNDO);
    assert_text("", "new");
    assert_gone(".2");
    assert_int_equal(unlink(name_of("")), 0);
    assert_int_equal(unlink(name_of(".1")), 0);
  }
}

static void an_empty_file_is_shared_by_no_two_runs(void **state)
{
  struct bn_lockfile c, later;

  (void)state;
  with.no_lock = ENOLCK;
  c = claimed();
  later = claimed();
  assert_string_equal(later.aside, name_of(".1"));
  bn_lockfile_release(&later, BN_LOCKFILE_REMOVE);
  bn_lockfile_release(&c, BN_LOCKFILE_KEEP);
  assert_int_equal(unlink(name_of(".1")), 0);
  assert_gone("");
}

static void a_lock_of_another_is_respected(void **state)
{
  struct bn_lockfile c = claimed();

  (void)state;
  assert_refused("belongs to a run in progress");
  assert_text("", "");
  bn_lockfile_release(&c, BN_LOCKFILE_REMOVE);
  assert_gone("");
}

static void a_name_that_is_retaken_is_tried_again(void **state)
{
  struct bn_lockfile c;

  (void)state;
  with.taken = 3;
  c = claimed();
  assert_int_equal(with.taken, 0);
  bn_lockfile_release(&c, BN_LOCKFILE_UNDO);
  assert_gone("");
  with.taken = 1000;
  assert_refused("others took its name 100 times; name another file");
  assert_int_equal(with.taken, 900);
  with.taken = 0;
  assert_text("", "");
  assert_int_equal(unlink(path), 0);
}

/* NFS with root squashed, vfat. */
static void a_new_file_may_belong_to_another_user(void **state)
{
  struct bn_lockfile c;

  (void)state;
  with.alien = 1;
  c = claimed();
  assert_null(c.aside);
  bn_lockfile_release(&c, BN_LOCKFILE_UNDO);
  assert_gone("");
}

static void files_move_without_the_newer_call(void **state)
{
  static const int errors[] = {EINVAL, ENOSYS};

  (void)state;
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
    struct bn_lockfile c;

    with.no_rename = errors[i];
    make("", "old", 0600);
    make(".1", "older", 0600);
    c = claimed();
    assert_string_equal(c.aside, name_of(".2"));
    assert_text(".1", "older");
    assert_text(".2", "old");
    bn_lockfile_release(&c, BN_LOCKFILE_UNDO);
    assert_text("", "old");
    assert_gone(".2");
    assert_int_equal(unlink(name_of("")), 0);
    assert_int_equal(unlink(name_of(".1")), 0);
  }
}

static void a_file_that_cannot_be_written_is_moved_aside(void **state)
{
  struct bn_lockfile c;

  (void)state;
  make("", "old", 0400);
  c = claimed();
  assert_string_equal(c.aside, name_of(".1"));
  assert_int_equal(write(c.fd, "new", 3), 3);
  assert_text("", "new");
  bn_lockfile_release(&c, BN_LOCKFILE_REMOVE);
  assert_text(".1", "old");
  assert_int_equal(unlink(name_of(".1")), 0);
  make("", "old", 0);
  assert_refused("Permission denied; remove this file or name another");
  assert_int_equal(unlink(path), 0);
}

static int begin(void **state)
{
  (void)state;
  memset(&with, 0, sizeof with);
  return 0;
}

/* Root may write every file. */
static int make_folder(void **state)
{
  (void)state;
  if (getuid() == 0 && (setegid(65534) != 0 || seteuid(65534) != 0))
    return -1;
  if (mkdtemp(folder) == NULL)
    return -1;
  (void)snprintf(path, sizeof path, "%s/f", folder);
  return 0;
}

/* It is empty.  LeakSanitizer attaches to a process only if its user is whole again. */
static int remove_folder(void **state)
{
  (void)state;
  if (getuid() == 0 &&
      (seteuid(0) != 0 || setegid(0) != 0 || prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0))
    return -1;
  return rmdir(folder);
}

BN_TESTS(lockfile)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(a_file_system_without_locks_stops_no_run, begin),
      cmocka_unit_test_setup(an_empty_file_is_shared_by_no_two_runs, begin),
      cmocka_unit_test_setup(a_lock_of_another_is_respected, begin),
      cmocka_unit_test_setup(a_name_that_is_retaken_is_tried_again, begin),
      cmocka_unit_test_setup(a_new_file_may_belong_to_another_user, begin),
      cmocka_unit_test_setup(files_move_without_the_newer_call, begin),
      cmocka_unit_test_setup(a_file_that_cannot_be_written_is_moved_aside, begin),
  };

  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

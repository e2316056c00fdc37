/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes, extends, checks, opens and removes the files of the fileio test. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "engine/run.h"
#include "tests/fileio/fileio.h"
#include "tests/fileio/verify.h"

/* Bytes: prepare writes about CHUNK at once, and direct I/O wants buffers aligned to PAGE. */
enum { CHUNK = 1 << 20, PAGE = 4096 };

/* Estimates of the open files besides the test files and a ring per thread: the run may work with
   FEW_OTHERS, and has enough with OTHER_FILES. */
enum { FEW_OTHERS = 32, OTHER_FILES = 256 };

static const uint64_t progress_ns = BN_NSEC_PER_SEC / 4;

/* Makes the path of file i: "test_file.7" or "DIR/test_file.7".  Returns 0, or -1 and err. */
static int files_make_path(const struct bn_fileio_plan *p, unsigned i, char out[PATH_MAX],
                           struct bn_err *err)
{
  const char *dir = p->conf->dir;
  const bool in_current = dir == NULL || dir[0] == '\0' || strcmp(dir, ".") == 0;
  const char *folder = in_current ? "" : dir, *slash = in_current ? "" : "/";

  if (snprintf(out, PATH_MAX, "%s%stest_file.%u", folder, slash, i) < PATH_MAX)
    return 0;
  return bn_err_set(err, ENAMETOOLONG, "the path in --file-dir is too long");
}

/* Returns a text to append to the error of a file that is not written because of a link, or "" for
   another error.  bn_file_follow has three causes for ELOOP, and the text names all. */
static const char *files_explain_link(int error)
{
  switch (error) {
  case ELOOP:
    return ": it leads through a symbolic link that is another user's or has a second name, or "
           "through too many links; remove it, or use another --file-dir";
  case EMLINK:
    return ": it is a hard link, and the file's other names would change too; remove it, or use "
           "another --file-dir";
  default:
    return "";
  }
}

/* --- prepare --- */

struct preparation {
  const struct bn_fileio_plan *plan;
  struct bn_session *s;
  unsigned char *chunk; /* owned, page aligned */
  size_t chunk_size;    /* whole blocks */
  struct bn_data *data; /* owned; NULL: blocks are zeros or have checksums */
  int64_t *old_size;    /* owned: by file; -1: it did not exist */
  uint64_t target;      /* minimum size of every file */
  uint64_t written, start_ns, shown_ns;
  unsigned touched; /* files that were opened, and are undone if prepare fails */
};

/* Returns the size of a file or a block device, which is the offset of its end, or -1 and errno. */
static int64_t files_get_size(int fd)
{
  struct stat st;

  if (fstat(fd, &st) != 0)
    return -1;
  return S_ISBLK(st.st_mode) ? (int64_t)lseek(fd, 0, SEEK_END) : (int64_t)st.st_size;
}

/* Returns the size of a block device, or 0 if it cannot be opened or has none. */
static int64_t files_get_device_size(const char *path)
{
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  const int64_t size = fd >= 0 ? files_get_size(fd) : 0;

  if (fd >= 0)
    (void)close(fd);
  return size > 0 ? size : 0;
}

/* Returns the size of the file or device, or -1 if there is none of this name, or if the path
   cannot be looked up: opening it will say why.  Sets *is_extendable to whether it is a regular
   file, or may become one. */
static int64_t files_get_size_by_path(const char *path, bool *is_extendable)
{
  struct stat st;

  *is_extendable = true;
  if (stat(path, &st) != 0)
    return -1;
  *is_extendable = S_ISREG(st.st_mode);
  return S_ISBLK(st.st_mode) ? files_get_device_size(path) : (int64_t)st.st_size;
}

/* Refuses a file that is too small and cannot be extended, such as a device.  Returns -1. */
static int files_refuse_size(const struct bn_fileio_plan *p, const char *path, int64_t size,
                             uint64_t target, struct bn_err *err)
{
  char actual[64], wanted[64];

  bn_fileio_format_size(p, (uint64_t)size, actual, sizeof actual);
  bn_fileio_format_size(p, target, wanted, sizeof wanted);
  return bn_err_set(err, EINVAL,
                    "'%s' is too small, and is not a regular file that can be extended: it has "
                    "%s, but %s are needed",
                    path, actual, wanted);
}

/* Sets the sentence for a file that cannot be opened.  Returns -1. */
static int files_refuse_open(const struct bn_fileio_plan *p, const char *path, int error,
                             struct bn_err *err)
{
  const bool lacks_direct = error == EINVAL && p->direct;
  const char *hint =
      lacks_direct ? ": this file system has no direct I/O" : files_explain_link(error);

  return bn_err_set(err, error, "Can't open file '%s' errno = %d (%s)%s", path, error,
                    strerror(error), hint);
}

/* Checks, before any file is made, whether links allow to write the file.  Sets *is_linked to
   whether a link leads to another path, where the file may be on another file system than the
   folder.  Returns 0, or -1 and err; then *is_linked is not set. */
static int files_check_links(const struct bn_fileio_plan *p, const char *path, bool *is_linked,
                             struct bn_err *err)
{
  char file[PATH_MAX];
  struct stat st;

  if (bn_file_follow(path, file) != 0)
    return files_refuse_open(p, path, errno, err);
  if (lstat(file, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink > 1)
    return files_refuse_open(p, path, EMLINK, err);
  *is_linked = strcmp(file, path) != 0;
  return 0;
}

/* Notes the sizes of all files and checks, before any is made, that they can be made.  Returns 0,
   or -1 and err. */
static int files_survey(struct preparation *m, struct bn_err *err)
{
  const struct bn_fileio_plan *p = m->plan;
  uint64_t missing_bytes = 0, missing_files = 0;
  char path[PATH_MAX];

  for (unsigned i = 0; i < p->files; i++) {
    bool is_extendable, is_linked = false;
    uint64_t size;
    int64_t old_size;

    if (files_make_path(p, i, path, err) != 0 || files_check_links(p, path, &is_linked, err) != 0)
      return -1;
    old_size = files_get_size_by_path(path, &is_extendable);
    m->old_size[i] = old_size;
    if (!is_extendable && (uint64_t)old_size < m->target)
      return files_refuse_size(p, path, old_size, m->target, err);
    if (is_linked) /* only the space on the folder's file system is checked */
      continue;
    if (old_size < 0)
      missing_files++;
    size = old_size > 0 ? (uint64_t)old_size : 0;
    if (size < m->target)
      missing_bytes += m->target - size;
  }
  return missing_bytes > 0 ? bn_device_check_space(p, missing_bytes, missing_files, err) : 0;
}

/* Shows how far prepare is, a few times per second; `file` is the number of the present file. */
static void files_show_progress(struct preparation *m, unsigned file)
{
  const uint64_t now_ns = bn_clock_mono();
  const double elapsed_s = (double)(now_ns - m->start_ns) * 1e-9;
  const double mib = (double)m->written / 0x1p20;
  char text[160];

  if (now_ns - m->shown_ns < progress_ns)
    return;
  m->shown_ns = now_ns;
  (void)snprintf(text, sizeof text, "file %u of %u, %.0f MiB written, %.0f MiB/s", file + 1,
                 m->plan->files, mib, mib / elapsed_s);
  bn_log_progress(text);
}

/* Writes all of a chunk.  Returns 0, or -1 and errno if not all of it can be written. */
static int files_write_chunk(int fd, const unsigned char *buf, size_t len, uint64_t offset)
{
  size_t done = 0;

  while (done < len) {
    const ssize_t n = pwrite(fd, buf + done, len - done, (off_t)(offset + done));

    if (n < 0 && errno == EINTR)
      continue;
    if (n == 0) /* such a write sets no errno, and would be repeated for ever */
      errno = EIO;
    if (n <= 0)
      return -1;
    done += (size_t)n;
  }
  return 0;
}

/* Sets the sentence for a file that cannot be written at that offset.  Returns -1. */
static int files_refuse_write(const struct bn_fileio_plan *p, unsigned file, uint64_t at, int error,
                              struct bn_err *err)
{
  const char *hint = "";

  if (error == EINVAL && p->direct)
    hint = ": direct I/O may need a --file-block-size that is a multiple of 4096 bytes";
  return bn_err_set(err, error, "Failed to write file! file: %u pos: %llu errno = %d (%s)%s", file,
                    (unsigned long long)at, error, strerror(error), hint);
}

/* Writes a file of `size` bytes up to the target size, in whole blocks.  A part of a block at its
   end is written again, because it may have been cut from a block and lack its checksum.  Returns
   0, or -1 and err: EINTR without a text if the run is over. */
static int files_write_to_target(struct preparation *m, unsigned file, int fd, uint64_t size,
                                 struct bn_err *err)
{
  const struct bn_fileio_plan *p = m->plan;
  const size_t block = (size_t)p->conf->block_size;
  uint64_t at = size / block * block;

  while (at < m->target) {
    const uint64_t remaining = (m->target - at + block - 1) / block * block;
    const size_t len = remaining < m->chunk_size ? (size_t)remaining : m->chunk_size;

    if (bn_session_over(m->s))
      return bn_err_set(err, EINTR, "%s", "");
    if (p->validate)
      bn_verify_stamp(m->chunk, len, block, at, &m->s->rng);
    else if (m->data != NULL)
      bn_data_fill(m->data, m->chunk, len, &m->s->rng);
    if (files_write_chunk(fd, m->chunk, len, at) != 0)
      return files_refuse_write(p, file, at, errno, err);
    at += len;
    m->written += len;
    files_show_progress(m, file);
  }
  return 0;
}

/* Extends open file i to the target size if it is shorter, and flushes it.  Direct I/O is tried on
   the first file.  Returns 0, or -1 and err. */
static int files_fill_file(struct preparation *m, unsigned i, const char *path, int fd,
                           struct bn_err *err)
{
  const int64_t old_size = m->old_size[i];
  const uint64_t size = old_size > 0 ? (uint64_t)old_size : 0;
  int rc = 0;

  if (i == 0 && m->plan->direct && bn_device_check_direct(m->plan, fd, err) != 0)
    return -1;
  if (size >= m->target) {
    bn_log(BN_NOTICE, "Reusing existing file %s", path);
  } else {
    bn_log(BN_NOTICE, "%s file %s", size == 0 ? "Creating" : "Extending existing", path);
    rc = files_write_to_target(m, i, fd, size, err);
  }
  if (rc == 0 && fsync(fd) != 0)
    rc = bn_err_set(err, errno, "Failed to fsync file! file: %u errno = %d (%s)", i, errno,
                    strerror(errno));
  return rc;
}

/* Opens the file to which the links of a path lead, with these flags of open(2).  Returns a
   descriptor, or -1 and errno. */
static int files_open_target(const char *path, int flags)
{
  char file[PATH_MAX];

  return bn_file_follow(path, file) == 0 ? bn_file_open(file, flags, 0600) : -1;
}

/* Makes or extends file i.  From its opening on, the undo of a failure includes it.  Returns 0, or
   -1 and err. */
static int files_make_one(struct preparation *m, unsigned i, struct bn_err *err)
{
  char path[PATH_MAX];

  if (files_make_path(m->plan, i, path, err) != 0)
    return -1;
  const int fd = files_open_target(path, O_CREAT | O_WRONLY | m->plan->open_flags);

  if (fd < 0)
    return files_refuse_open(m->plan, path, errno, err);
  m->touched = i + 1;
  int rc = files_fill_file(m, i, path, fd, err);

  if (close(fd) != 0 && rc == 0)
    rc = bn_err_set(err, errno, "Failed to write file! file: %u errno = %d (%s)", i, errno,
                    strerror(errno));
  return rc;
}

/* Removes a file that prepare has made.  A symbolic link that led to no file stays: it was
   there. */
static void files_remove_made(const char *path)
{
  char file[PATH_MAX];

  if (bn_file_follow(path, file) == 0)
    (void)unlink(file);
}

/* Cuts a file to a size.  Returns 0, or -1 and errno if it cannot be opened or cut. */
static int files_shorten(const char *path, int64_t size)
{
  const int fd = files_open_target(path, O_WRONLY);
  const int rc = fd >= 0 ? ftruncate(fd, (off_t)size) : -1;
  const int error = errno;

  if (fd >= 0)
    (void)close(fd);
  errno = error;
  return rc;
}

/* Gives a file its old size back, if prepare has extended it. */
static void files_cut_extended(const char *path, int64_t old_size)
{
  bool is_extendable;
  const int64_t size = files_get_size_by_path(path, &is_extendable);

  if (is_extendable && size > old_size && files_shorten(path, old_size) != 0)
    bn_log_hint("cannot give '%s' its old size back: %s", path, strerror(errno));
}

/* Removes the files that a failed prepare has made, and cuts the files that it has extended,
   because these may fill the disk. */
static void files_undo_prepare(const struct preparation *m)
{
  char path[PATH_MAX];

  for (unsigned i = 0; i < m->touched; i++) {
    if (files_make_path(m->plan, i, path, NULL) != 0)
      continue;
    if (m->old_size[i] < 0)
      files_remove_made(path);
    else
      files_cut_extended(path, m->old_size[i]);
  }
}

/* Logs how much prepare has written, and how fast, in the words of sysbench. */
static void files_log_speed(const struct preparation *m)
{
  const double elapsed_s = (double)(bn_clock_mono() - m->start_ns) * 1e-9;

  if (m->written == 0)
    bn_log(BN_NOTICE, "No bytes written.");
  else
    bn_log(BN_NOTICE, "%llu bytes written in %.2f seconds (%.2f %s/sec).",
           (unsigned long long)m->written, elapsed_s, (double)m->written / 0x1p20 / elapsed_s,
           m->plan->policy->rate_unit);
}

/* Logs what prepare is about to make, in the words of sysbench. */
static void files_log_plan(const struct bn_fileio_plan *p)
{
  char flags[64];

  bn_log(BN_NOTICE, "%u files, %lluKb each, %lluMb total", p->files,
         (unsigned long long)(p->file_size / 1024),
         (unsigned long long)(p->file_size * p->files / (1024 * 1024)));
  bn_log(BN_NOTICE, "Creating files for the test...");
  bn_fileio_format_flags(p, flags, sizeof flags);
  bn_log(BN_NOTICE, "Extra file open flags: %s", flags);
}

/* Makes all files.  After a failure it undoes this, but not if the run is over, so that the next
   prepare continues.  Returns 0, or -1 and err: EINTR without a text if the run is over. */
static int files_make_all(struct preparation *m, struct bn_err *err)
{
  int rc = 0;

  files_log_plan(m->plan);
  if (files_survey(m, err) != 0)
    return -1;
  m->start_ns = bn_clock_mono();
  m->shown_ns = m->start_ns;
  for (unsigned i = 0; i < m->plan->files && rc == 0; i++)
    rc = files_make_one(m, i, err);
  bn_log_progress(NULL); /* else the line would stay during the undo */
  if (rc == 0)
    files_log_speed(m);
  else if (err->code != EINTR)
    files_undo_prepare(m);
  return rc;
}

int bn_files_prepare(const struct bn_fileio_plan *p, struct bn_session *s, struct bn_err *err)
{
  const size_t block = (size_t)p->conf->block_size;
  struct preparation m = {.plan = p, .s = s, .target = p->span};
  int rc = -1;

  m.chunk_size = block < CHUNK ? CHUNK / block * block : block;
  m.old_size = calloc(p->files, sizeof *m.old_size);
  m.chunk = bn_alloc_try_aligned(PAGE, 1, m.chunk_size);
  if (m.old_size == NULL || m.chunk == NULL) {
    (void)bn_err_set(err, 0, "out of memory for blocks of %zu bytes: lower --file-block-size",
                     block);
  } else {
    m.data = bn_fileio_make_data(p);
    rc = files_make_all(&m, err);
  }
  free(m.data);
  free(m.old_size);
  free(m.chunk);
  return rc;
}

/* --- cleanup --- */

/* Returns the number of "test_file.7", or -1 for a name that prepare never makes: of another form,
   such as "test_file.07", or with a number that is too high. */
static int64_t files_parse_number(const char *name)
{
  static const char start[] = "test_file.";
  const size_t len = sizeof start - 1;
  char canonical[NAME_MAX + 1]; /* as prepare names the file with that number */
  long n;

  if (strncmp(name, start, len) != 0)
    return -1;
  n = strtol(name + len, NULL, 10);
  (void)snprintf(canonical, sizeof canonical, "%s%ld", start, n);
  return n >= 0 && n < BN_FILES_MAX && strcmp(name, canonical) == 0 ? n : -1;
}

/* Returns how many test files in the folder only a larger --file-num would use.  Sets *highest to
   the highest number of any test file there, or to -1. */
static int64_t files_count_unused(const struct bn_fileio_plan *p, int64_t *highest)
{
  DIR *dir = opendir(bn_device_folder(p));
  int64_t unused = 0;
  const struct dirent *entry;

  *highest = -1;
  if (dir == NULL)
    return 0;
  while ((entry = readdir(dir)) != NULL) {
    const int64_t number = files_parse_number(entry->d_name);

    if (number >= (int64_t)p->files)
      unused++;
    if (number > *highest)
      *highest = number;
  }
  (void)closedir(dir);
  return unused;
}

/* Logs that cleanup leaves files which a prepare with a larger --file-num has made: they fill the
   disk. */
static void files_log_leftovers(const struct bn_fileio_plan *p)
{
  int64_t highest;
  const int64_t unused = files_count_unused(p, &highest);

  if (unused > 0)
    bn_log_hint("%lld more file(s) named test_file.N are in '%s', up to test_file.%lld; to remove "
                "them too run cleanup with --file-num=%lld",
                (long long)unused, bn_device_folder(p), (long long)highest, (long long)highest + 1);
}

/* Logs that there are files which the run does not use.  Names the --file-num that uses them all,
   unless a number below the highest is missing: that run would not find its file. */
static void files_log_unused_files(const struct bn_fileio_plan *p)
{
  int64_t highest;
  const int64_t unused = files_count_unused(p, &highest);
  const int64_t n_existing = unused + (int64_t)p->files;

  if (unused == 0)
    return;
  if (n_existing == highest + 1)
    bn_log_note("'%s' has %lld test files, of which the run uses %u; for all of them use "
                "--file-num=%lld",
                bn_device_folder(p), (long long)n_existing, p->files, (long long)n_existing);
  else
    bn_log_note("'%s' has %lld test files, of which the run uses %u; some up to test_file.%lld are "
                "missing",
                bn_device_folder(p), (long long)n_existing, p->files, (long long)highest);
}

/* Logs that the run uses only a part of the first file, which is open as fd.  A file up to the end
   of the block in which the span ends is no reason, because prepare writes whole blocks.  Neither
   is a device, which may be of any size, or a sequential write, which makes its files anew. */
static void files_log_unused_data(const struct bn_fileio_plan *p, int fd)
{
  const uint64_t block = p->conf->block_size;
  const uint64_t prepared = (p->span + block - 1) / block * block;
  char actual[64], used[64];
  struct stat st;

  if (p->mode == BN_FILE_SEQWR || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
    return;
  if ((uint64_t)st.st_size <= prepared)
    return;
  bn_fileio_format_size(p, (uint64_t)st.st_size, actual, sizeof actual);
  bn_fileio_format_size(p, p->span, used, sizeof used);
  bn_log_note("test_file.0 has %s, of which the run uses %s, as --file-total-size, "
              "--file-block-size or --file-num is another one than at 'prepare'",
              actual, used);
}

int bn_files_cleanup(const struct bn_fileio_plan *p, struct bn_err *err)
{
  char path[PATH_MAX];
  int rc = 0;

  bn_log(BN_NOTICE, "Removing test files...");
  for (unsigned i = 0; i < p->files; i++) {
    if (files_make_path(p, i, path, err) != 0)
      return -1;
    if (unlink(path) != 0 && errno != ENOENT && rc == 0)
      rc = bn_err_set(err, errno, "cannot remove '%s': %s", path, strerror(errno));
  }
  if (!p->policy->plain_errors)
    files_log_leftovers(p);
  return rc;
}

/* --- run --- */

/* Raises the limit on open files to what the run needs, for root also the hard limit.  If the hard
   limit is lower but leaves room for the files and a few others, the run is tried with it, because
   the need is an estimate.  Returns 0, or -1 and err. */
static int files_raise_limit(const struct bn_fileio_plan *p, struct bn_err *err)
{
  const rlim_t wanted = (rlim_t)p->files + p->threads + OTHER_FILES;
  struct rlimit limit, higher;

  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
    return 0;
  higher = (struct rlimit){.rlim_cur = wanted,
                           .rlim_max = limit.rlim_max < wanted ? wanted : limit.rlim_max};
  if (setrlimit(RLIMIT_NOFILE, &higher) == 0)
    return 0;
  if (limit.rlim_max < (rlim_t)p->files + FEW_OTHERS)
    return bn_err_set(
        err, EMFILE,
        "--file-num=%u needs %llu open files, but the hard limit is %llu: lower "
        "--file-num, or ask root to raise it (ulimit -n %llu, LimitNOFILE= of systemd, "
        "--ulimit nofile= of containers)",
        p->files, (unsigned long long)wanted, (unsigned long long)limit.rlim_max,
        (unsigned long long)wanted);
  limit.rlim_cur = limit.rlim_max;
  (void)setrlimit(RLIMIT_NOFILE, &limit);
  return 0;
}

/* Opens a file for the run.  Returns a descriptor, or -1 and errno.  A test that only reads cannot
   damage a file, so it also opens files that it may not write, and follows any link. */
static int files_open_existing(const struct bn_fileio_plan *p, const char *path)
{
  const int fd = p->writing ? files_open_target(path, O_RDWR | p->open_flags)
                            : open(path, O_RDWR | p->open_flags);

  if (fd < 0 && !p->writing && (errno == EACCES || errno == EROFS))
    return open(path, O_RDONLY | p->open_flags);
  return fd;
}

/* Opens a file for the run.  Returns a descriptor, or -1 and errno.  A sequential write makes its
   files, in place of files of the same names.  Sets *made if there was no file before. */
static int files_open_one(const struct bn_fileio_plan *p, const char *path, bool *made)
{
  *made = false;
  if (p->mode != BN_FILE_SEQWR)
    return files_open_existing(p, path);
  const bool was_there = unlink(path) == 0;

  if (!was_there && errno != ENOENT)
    return -1;
  const int fd = open(path, O_CREAT | O_EXCL | O_RDWR | p->open_flags, 0600);

  *made = fd >= 0 && !was_there;
  return fd;
}

/* Logs why the file cannot be opened.  Returns -1. */
static int files_log_open_failure(const struct bn_fileio_plan *p, const char *path, int error)
{
  const char *link_reason = files_explain_link(error);

  bn_log_errno(BN_FATAL, error, "Cannot open file '%s'", path);
  if (error == EINVAL && p->direct)
    bn_log_hint("'%s' is on a file system without direct I/O: use --file-dir, or leave 'direct' "
                "out of --file-extra-flags",
                path);
  else if (link_reason[0] != '\0')
    bn_log_stderr("'%s'%s", path, link_reason);
  else if (error == ENOENT && p->policy->fatal_on_stderr)
    bn_log_stderr("run 'prepare' first, with the same --file-num");
  else if (error == ENOENT && !p->policy->no_hint_at_prepare)
    bn_log(BN_WARNING, "Did you forget to run the prepare step?");
  return -1;
}

/* Checks that the file is large enough for the run.  Returns 0, or -1 after it has logged why the
   file cannot be used. */
static int files_check_size(const struct bn_fileio_plan *p, const char *path, int fd)
{
  char actual[64], wanted[64];

  if (p->mode == BN_FILE_SEQWR) /* the file is new */
    return 0;
  const int64_t size = files_get_size(fd);

  if (size < 0) {
    bn_log_errno(BN_FATAL, errno, "Cannot find the size of file '%s'", path);
    return -1;
  }
  if ((uint64_t)size >= p->span)
    return 0;
  bn_fileio_format_size(p, (uint64_t)size, actual, sizeof actual);
  bn_fileio_format_size(p, p->span, wanted, sizeof wanted);
  bn_log(BN_FATAL, "Size of file '%s' is %s, but at least %s is expected.", path, actual, wanted);
  bn_log(BN_WARNING,
         "Did you run 'prepare' with different --file-total-size%s or --file-num values?",
         bn_policy_is_native(p->policy) ? ", --file-block-size" : "");
  return -1;
}

int bn_files_open(const struct bn_fileio_plan *p, int *fd, bool *made, struct bn_err *err)
{
  const bool is_native = bn_policy_is_native(p->policy);
  char path[PATH_MAX];

  if (files_raise_limit(p, err) != 0)
    return -1;
  for (unsigned i = 0; i < p->files; i++) {
    if (files_make_path(p, i, path, err) != 0)
      return -1;
    bn_log(BN_DEBUG, "Opening file: %s", path);
    fd[i] = files_open_one(p, path, &made[i]);
    if (fd[i] < 0)
      return files_log_open_failure(p, path, errno);
    /* A size of a block that direct I/O refuses may make the size of the file wrong too, so bench
       checks it first.  A dialect checks the size of the file first, as sysbench does. */
    if (i == 0 && is_native && p->direct && bn_device_check_direct(p, fd[0], err) != 0)
      return -1;
    if (files_check_size(p, path, fd[i]) != 0)
      return -1;
  }
  if (is_native) {
    files_log_unused_files(p);
    files_log_unused_data(p, fd[0]);
    return 0;
  }
  return p->direct ? bn_device_check_direct(p, fd[0], err) : 0;
}

/* Reads one block.  Returns false if the file has no whole block there or it cannot be read, which
   the run reports. */
static bool files_read_block(const struct bn_fileio_plan *p, int fd, void *buf, uint64_t offset)
{
  const size_t block = (size_t)p->conf->block_size;
  struct bn_io_req r = {.op = BN_IO_READ, .offset = offset, .len = block, .buf = buf};

  bn_io_execute(fd, &r, 0);
  return r.result == (int64_t)block;
}

/* Returns whether --validate has written the block.  A damaged block may still have its offset,
   which tells it from other data unless the offset is 0. */
static bool files_is_stamped_block(const struct bn_fileio_plan *p, int fd, void *buf,
                                   uint64_t offset)
{
  const size_t block = (size_t)p->conf->block_size;
  struct bn_verify_fault fault;

  if (!files_read_block(p, fd, buf, offset))
    return false;
  if (bn_verify_check(buf, block, block, offset, &fault) == BN_VERIFY_GOOD)
    return true;
  return offset > 0 && fault.stored_offset == offset;
}

/* Returns whether the first or the last block of any file is one of --validate.  A damaged block
   counts too: the run will find and report it. */
static bool files_are_stamped(const struct bn_fileio_plan *p, const int *fd, void *buf)
{
  for (unsigned i = 0; i < p->files; i++)
    if (files_is_stamped_block(p, fd[i], buf, 0) ||
        files_is_stamped_block(p, fd[i], buf, p->span - p->conf->block_size))
      return true;
  return false;
}

/* Returns whether a block holds zeros: its first byte is 0, and each byte equals the next. */
static bool files_is_zero_block(const struct bn_fileio_plan *p, int fd, unsigned char *buf,
                                uint64_t offset)
{
  return files_read_block(p, fd, buf, offset) && buf[0] == 0 &&
         memcmp(buf, buf + 1, (size_t)p->conf->block_size - 1) == 0;
}

/* Returns whether the first or the last block of the files holds zeros.  A run of seqwr with mmap
   sets the size of all files first, and leaves holes if it does not come to their end. */
static bool files_have_zeros(const struct bn_fileio_plan *p, const int *fd, unsigned char *buf)
{
  uint64_t last = p->span - p->conf->block_size;

  if (p->conf->block_size < BN_DATA_STRETCH) /* the zeros of --file-compressible end a stretch */
    last -= last % BN_DATA_STRETCH;
  return files_is_zero_block(p, fd[0], buf, 0) ||
         files_is_zero_block(p, fd[p->files - 1], buf, last);
}

/* Writes how the user gets data that the run can use.  A block device needs another way than a
   file: prepare leaves it as it is, and cleanup removes the link that leads to it, so that prepare
   would make a file on another disk.  A run of seqrewr with an event for each block writes all of
   it. */
static void files_format_remedy(const struct bn_fileio_plan *p, int fd, char *out, size_t size)
{
  const uint64_t block = p->conf->block_size;
  const uint64_t blocks_per_file = (p->span + block - 1) / block;
  struct stat st;

  if (fstat(fd, &st) == 0 && S_ISBLK(st.st_mode))
    (void)snprintf(out, size,
                   "write the device first by --file-test-mode=seqrewr --file-fsync-freq=0 "
                   "--time=0 --events=%" PRIu64,
                   blocks_per_file * p->files);
  else
    (void)snprintf(out, size, "run 'cleanup', then 'prepare'");
}

int bn_files_check_data(const struct bn_fileio_plan *p, const int *fd,
                        const struct bn_services *services, struct bn_err *err)
{
  const size_t block = (size_t)p->conf->block_size;
  unsigned char *buf;
  char remedy[160];
  int rc = 0;

  if (p->policy->writes_zeros || block > p->span)
    return 0;
  buf = bn_alloc_try_aligned(PAGE, 1, block);
  if (buf == NULL)
    return bn_err_set(err, ENOMEM, "out of memory for a block of %zu bytes", block);
  files_format_remedy(p, fd[0], remedy, sizeof remedy);
  if (p->validate && !files_are_stamped(p, fd, buf)) {
    rc = bn_err_set(err, 0,
                    "the files have no checksums: %s with --validate and --file-block-size=%zu",
                    remedy, block);
  } else if (p->zeros < BN_DATA_ALL_ZEROS && files_have_zeros(p, fd, buf)) {
    services->fact(services->of, "files", "data_read", "zeros");
    bn_log_note("the files hold zeros, as those of sysbench and of an unfinished seqwr do, which "
                "storage may answer without a read: %s",
                remedy);
  }
  free(buf);
  return rc;
}

void bn_files_remove(const struct bn_fileio_plan *p, const bool *made)
{
  char path[PATH_MAX];

  for (unsigned i = 0; i < p->files; i++)
    if (made[i] && files_make_path(p, i, path, NULL) == 0)
      (void)unlink(path);
}

void bn_files_close(const struct bn_fileio_plan *p, int *fd)
{
  if (fd == NULL)
    return;
  for (unsigned i = 0; i < p->files; i++) {
    if (fd[i] >= 0)
      (void)close(fd[i]);
    fd[i] = -1;
  }
}

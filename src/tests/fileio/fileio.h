/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The declarations that the parts of the fileio test share: its options and its plan. */
#ifndef BN_TESTS_FILEIO_FILEIO_H
#define BN_TESTS_FILEIO_FILEIO_H

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "api/opt.h"
#include "api/workload.h"
#include "measure/diskrow.h"
#include "tests/fileio/data.h"
#include "tests/fileio/engines.h"
#include "tests/fileio/pattern.h"

struct bn_conf;

/* The choices of --file-fsync-mode. */
enum bn_fsync_mode { BN_FILE_FSYNC, BN_FILE_FDATASYNC };

enum { BN_FILES_MAX = 100000 }; /* of --file-num */

/* Values of the options. */
struct bn_fileio_conf {
  int64_t num;
  uint64_t block_size, total_size;
  char *test_mode;
  int io_mode; /* enum bn_io_mode */
  int64_t backlog;
  const char *typed_backlog; /* NULL: the default */
  struct bn_list extra_flags;
  int64_t fsync_freq;
  bool fsync_all, fsync_end;
  int fsync_mode; /* one of enum bn_fsync_mode */
  int64_t merged;
  double rw_ratio;
  int64_t compressible;           /* percent of zeros in what is written */
  const char *typed_compressible; /* NULL: the default */
  char *dir;
  bool iopoll, sqpoll;
};

extern const struct bn_opt bn_fileio_options[];

/* The plan computed from the options; a plain value. */
struct bn_fileio_plan {
  const struct bn_fileio_conf *conf;
  const struct bn_policy *policy;
  unsigned files, threads;
  uint64_t file_size; /* total size div files */
  uint64_t span;      /* bytes of a file that are used: file_size, rounded up to whole blocks where
                         requests must be whole blocks */
  uint64_t request;   /* bytes of the largest request */
  size_t buffer_size; /* bytes of a request's buffer: request, rounded up to whole pages */
  enum bn_file_mode mode;
  bool sync, dsync, direct;
  int open_flags; /* flags for open(2) from --file-extra-flags */
  bool writing, random, validate;
  unsigned zeros;      /* percent of zeros in what is written; BN_DATA_ALL_ZEROS: buffers stay as
                          they are */
  uint64_t fsync_freq; /* after --file-fsync-all */
  bool fsync_end;
  uint64_t events;
};

/* Computes the plan of a run, which needs a test mode; conf and general outlive it.  Returns 0, or
   -1 and err. */
int bn_fileio_resolve(struct bn_fileio_plan *plan, const struct bn_fileio_conf *conf,
                      const struct bn_conf *general, struct bn_err *err);
/* Does the same for 'prepare' and 'cleanup', which have no test mode. */
int bn_fileio_resolve_files(struct bn_fileio_plan *plan, const struct bn_fileio_conf *conf,
                            const struct bn_conf *general, struct bn_err *err);
/* Returns whether the test reads from the files. */
bool bn_fileio_reads(const struct bn_fileio_plan *plan);
/* Writes the flags as the dialect does: "(none)", "sync directio", or in 0.5 a number. */
void bn_fileio_format_flags(const struct bn_fileio_plan *plan, char *out, size_t len);
/* Writes a size as the dialect does: "325.52KiB". */
void bn_fileio_format_size(const struct bn_fileio_plan *plan, uint64_t bytes, char *out,
                           size_t len);
/* Adds the rows of the heading that describe the test; io_title is the engine's.  The texts and
   their order are those of sysbench, which scripts parse. */
void bn_fileio_describe(const struct bn_fileio_plan *plan, const char *io_title,
                        struct bn_facts *facts);

/* Returns the data that blocks are filled with, which the caller frees; NULL: blocks are zeros or
   have checksums.  The data is new each time, whatever the seed: a run that is repeated must not
   write the data that is in the files already. */
struct bn_data *bn_fileio_make_data(const struct bn_fileio_plan *plan);

/* --- files.c --- */

/* Makes the files, or extends files that are too short.  After a failure it undoes this, but not if
   a signal has ended the run, so that the next prepare continues.  Returns 0, or -1 and err: EINTR
   without a text if the run is over. */
int bn_files_prepare(const struct bn_fileio_plan *plan, struct bn_session *s, struct bn_err *err);
/* Removes all files that it can.  Returns 0, or -1 and err, which names the first file that it
   cannot remove. */
int bn_files_cleanup(const struct bn_fileio_plan *plan, struct bn_err *err);
/* Checks and opens all files for a run.  fd has plan->files elements, which are -1 before the call,
   and after it if the file was not opened.  Sets made[i] if file i did not exist before.  Returns
   0, or -1 and err, which is empty if the reason was logged.  The caller closes fd in any case. */
int bn_files_open(const struct bn_fileio_plan *plan, int *fd, bool *made, struct bn_err *err);
/* Removes the files i with made[i]. */
void bn_files_remove(const struct bn_fileio_plan *plan, const bool *made);
/* Closes the open files; fd may be NULL. */
void bn_files_close(const struct bn_fileio_plan *plan, int *fd);

/* Checks the data of prepared files by a few blocks.  With --validate, returns -1 and err if none
   of these blocks has a checksum.  Otherwise returns 0, and notes if the first or the last block
   holds zeros. */
int bn_files_check_data(const struct bn_fileio_plan *plan, const int *fd,
                        const struct bn_services *services, struct bn_err *err);

/* --- device.c: the place of the files --- */

/* Returns the folder of the files, "." without --file-dir. */
const char *bn_device_folder(const struct bn_fileio_plan *plan);
/* Reports, on stderr and as facts, the file system and the device of the files, and facts that will
   spoil the result. */
void bn_device_describe(const struct bn_fileio_plan *plan, int fd,
                        const struct bn_services *services);
/* Checks whether direct I/O to this file works with these requests.  Returns 0, or -1 and err. */
int bn_device_check_direct(const struct bn_fileio_plan *plan, int fd, struct bn_err *err);
/* Opens a file without a name in plan's folder, as the test's files are opened.  Returns -1 and err
   if direct I/O to it does not work.  Otherwise returns 0, also with *fd -1 if the file cannot be
   made, which ends only this check (ENOENT, EOPNOTSUPP, EACCES, ENOSPC).  The caller closes *fd in
   both cases. */
int bn_device_try_file(const struct bn_fileio_plan *plan, int *fd, struct bn_err *err);
/* Checks whether the file system of plan's folder has room for `bytes` more bytes and `files` more
   files.  Returns 0, or -1 and err. */
int bn_device_check_space(const struct bn_fileio_plan *plan, uint64_t bytes, uint64_t files,
                          struct bn_err *err);

/* --- diskstats.c: counters of the device --- */

enum bn_disk_value {
  BN_DISK_READS,
  BN_DISK_BYTES_READ,
  BN_DISK_READ_NS, /* sum over all requests, as the other times */
  BN_DISK_WRITES,
  BN_DISK_BYTES_WRITTEN,
  BN_DISK_WRITE_NS,
  BN_DISK_FLUSHES, /* absent before Linux 5.5, as the next one */
  BN_DISK_FLUSH_NS,
  BN_DISK_BUSY_NS,  /* time with a request in flight */
  BN_DISK_QUEUE_NS, /* requests in flight, integrated over time */
  BN_DISK_VALUES
};

/* Finds the device of an open file, or the device itself if the file is one. */
void bn_diskstats_find(struct bn_diskrow *row, int fd);
/* Converts a row, as the kernel has counted it since the device was found, to the units of the
   names.  out[i] is BN_ABSENT for a value that the kernel does not count. */
void bn_diskstats_convert(const uint64_t row[BN_ROW_FIELDS], uint64_t out[BN_DISK_VALUES]);
/* Reads the present row, and converts it.  Without a row, all values are absent. */
void bn_diskstats_read(struct bn_diskrow *row, uint64_t out[BN_DISK_VALUES]);

/* --- what the test measures --- */

enum { BN_H_READ = BN_H_FIXED, BN_H_WRITE, BN_H_FSYNC }; /* histograms */
enum { BN_C_DISK = BN_C_FIXED };                         /* counters: BN_DISK_VALUES of them */

/* --- inflight.c: the loop --- */

struct bn_fileio {
  struct bn_fileio_plan plan;
  const struct bn_services *services;
  const struct bn_ioengine *engine;
  bool engine_started, paced, debug, pattern_made;
  unsigned depth;       /* requests of a session in flight */
  int *fd;              /* [plan.files] */
  bool *made;           /* [plan.files] by this run */
  struct bn_data *data; /* NULL: blocks are zeros or have checksums */
  struct bn_io_setup setup;
  struct bn_pattern pattern;
  struct bn_diskrow disk;
  _Atomic bool poll_error_logged; /* the reason why the device cannot be polled was logged */
  _Atomic unsigned ended;         /* sessions that have ended without failing the run */
};

struct bn_flight; /* a request in flight */

struct bn_fileio_session {
  void *engine;
  bool opened;                /* `open` of the engine was called */
  unsigned char *buffers;     /* [depth * plan.buffer_size] */
  struct bn_flight *flight;   /* [depth] */
  struct bn_flight **idle;    /* requests that are not in flight */
  struct bn_io_req **done;    /* [depth] requests that `reap` has returned */
  unsigned next_done, n_done; /* the requests from next_done to n_done - 1 are not ended yet */
  unsigned n_idle, in_flight, writes_in_flight; /* in flight: submitted but not ended */
  struct bn_pattern_mix mix;
  struct bn_rng data; /* for the content of blocks, so that it changes no other random numbers */
  bool failed;        /* a request or the engine has failed: the session begins nothing more */
  char reason[80];    /* why, for the user: the first failure */
};

/* Hooks of the workload (api/workload.h). */
int bn_inflight_open(void *self, struct bn_session *s, struct bn_err *err);
/* Executes events until the run is over or a request has failed.  The session that ends last
   flushes all files, if the options ask for that. */
enum bn_next bn_inflight_loop(void *self, struct bn_session *s);
int bn_inflight_close(void *self, struct bn_session *s, struct bn_err *err);

#endif

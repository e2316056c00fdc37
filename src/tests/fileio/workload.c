/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fileio test: reads, writes and flushes many files through a chosen engine. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/units.h"
#include "engine/run.h"
#include "measure/view.h"
#include "option/conf.h"
#include "tests/fileio/engines.h"
#include "tests/fileio/fileio.h"
#include "tests/memory_area.h"
#include "tests/tests.h"

/* Executes the command 'prepare'.  Returns 0, or -1 and err. */
static int fileio_prepare(void *self, struct bn_session *s, const char *name, struct bn_err *err)
{
  struct bn_fileio_plan plan;

  (void)self;
  (void)name;
  if (bn_fileio_resolve_files(&plan, s->services->workload_conf, s->services->conf, err) != 0)
    return -1;
  return bn_files_prepare(&plan, s, err);
}

/* Executes the command 'cleanup'.  Returns 0, or -1 and err. */
static int fileio_cleanup(void *self, struct bn_session *s, const char *name, struct bn_err *err)
{
  struct bn_fileio_plan plan;

  (void)self;
  (void)name;
  if (bn_fileio_resolve_files(&plan, s->services->workload_conf, s->services->conf, err) != 0)
    return -1;
  return bn_files_cleanup(&plan, err);
}

/* Makes the pattern from which all sessions draw their requests. */
static void fileio_make_pattern(struct bn_fileio *f)
{
  const struct bn_fileio_plan *p = &f->plan;
  const struct bn_pattern_conf c = {
      .mode = p->mode,
      .files = p->files,
      .span = p->span,
      .block = p->conf->block_size,
      .request = p->request,
      .rw_ratio = p->conf->rw_ratio,
      .global_mix = p->policy->mix_per_program,
      .fsync_freq = p->writing ? p->fsync_freq : 0,
      .exclusive = p->validate,
  };

  bn_pattern_init(&f->pattern, &c);
  f->pattern_made = true;
}

/* Refuses buffers, one for each request in flight, that need more than the memory and the swap that
   there are: the kernel would grant them all, and kill some process when they are used.  A single
   request in flight cannot be made fewer by --file-async-backlog.  Returns 0, or -1 and err. */
static int fileio_check_memory(const struct bn_fileio *f, struct bn_err *err)
{
  const size_t limit = bn_area_read_limit(false /* huge */);
  char size[64];

  if (f->plan.buffer_size <= limit / f->depth / f->plan.threads)
    return 0;
  bn_fileio_format_size(&f->plan, f->plan.buffer_size, size, sizeof size);
  return bn_err_set(err, ENOMEM,
                    "%u request(s) with a buffer of %s in each of %u thread(s) need more than the "
                    "%zu MiB of memory and swap of this machine or its control group: lower "
                    "%s--file-block-size or --threads",
                    f->depth, size, f->plan.threads, limit >> 20,
                    f->depth > 1 ? "--file-async-backlog, " : "");
}

/* Refuses a value of --file-async-backlog in the words of sysbench, which has a message of its own
   for a number below 1 that fits into an int.  An empty text counts as 0.  Returns -1. */
static int fileio_refuse_depth(const char *typed, struct bn_err *err)
{
  int64_t n = 0;
  const bool is_number = typed == NULL || typed[0] == '\0' || bn_units_parse_int(typed, &n) == 0;

  if (is_number && n < 1 && n >= INT32_MIN)
    return bn_err_set(err, 0, "Invalid value of file-async-backlog: %" PRId64, n);
  return bn_err_set(err, BN_ERR_OPTION, "Invalid value for the 'file_async_backlog' option: '%s'",
                    typed);
}

/* Refuses several requests in flight in a run whose threads pause.  Returns -1. */
static int fileio_refuse_pauses(const struct bn_fileio *f, struct bn_err *err)
{
  const bool thinks = !bn_delay_is_none(&f->services->conf->think);

  return bn_err_set(err, BN_ERR_OPTION,
                    "--%s cannot be used with --file-async-backlog=%u: a thread that "
                    "pauses would be late for the ends of its other requests; "
                    "--file-async-backlog=1 can be used",
                    thinks ? "think-time" : "threads-profile", f->depth);
}

/* Sets how many requests of a session are in flight: one with an engine that is not asynchronous,
   which does not read --file-async-backlog and so accepts any.  Returns 0, or -1 and err. */
static int fileio_choose_depth(struct bn_fileio *f, const struct bn_fileio_conf *c,
                               struct bn_err *err)
{
  if (f->engine->async && c->backlog == BN_OPT_LATE)
    return fileio_refuse_depth(c->typed_backlog, err);
  f->depth = f->engine->async ? (unsigned)c->backlog : 1;
  if (f->depth > 1 && bn_conf_has_pauses(f->services->conf))
    return fileio_refuse_pauses(f, err);
  return fileio_check_memory(f, err);
}

/* Plans the run and chooses the engine, and opens nothing yet.  Returns 0, or -1 and err. */
static int fileio_open(void **self, struct bn_session *s, const void *conf, struct bn_err *err)
{
  struct bn_fileio *f = bn_alloc(1, sizeof *f);
  const struct bn_fileio_conf *c = conf;

  *self = f;
  f->services = s->services;
  if (bn_fileio_resolve(&f->plan, c, s->services->conf, err) != 0)
    return -1;
  f->engine = bn_fileio_find_engine(bn_fileio_io_modes[c->io_mode], err);
  if (f->engine == NULL)
    return -1;
  if (fileio_choose_depth(f, c, err) != 0)
    return -1;
  f->paced = s->services->conf->plan.rate > 0;
  f->debug = bn_log_get_verbosity() >= BN_DEBUG;
  f->fd = bn_alloc(f->plan.files, sizeof *f->fd);
  f->made = bn_alloc(f->plan.files, sizeof *f->made);
  for (unsigned i = 0; i < f->plan.files; i++)
    f->fd[i] = -1;
  fileio_make_pattern(f);
  return 0;
}

static void fileio_describe(const void *self, struct bn_facts *facts)
{
  const struct bn_fileio *f = self;

  bn_fileio_describe(&f->plan, f->engine->title, facts);
}

/* Returns the setup of an engine for these open files, without `shared`, which the start of the
   engine sets, and without the buffers, which each session sets. */
static struct bn_io_setup fileio_make_setup(const struct bn_fileio *f, const int *fd,
                                            unsigned n_files)
{
  const struct bn_fileio_plan *p = &f->plan;

  return (struct bn_io_setup){.fd = fd,
                              .n_files = n_files,
                              .file_size = p->span, /* requests touch no more of a file */
                              .writing = p->writing,
                              .empty = p->mode == BN_FILE_SEQWR,
                              .iopoll = p->conf->iopoll,
                              .sqpoll = p->conf->sqpoll,
                              .depth = f->depth};
}

/* Opens a file without a name in the folder, and starts and stops the engine with it.  A sequential
   write does this before it removes the files of earlier runs, so that these stay if the folder or
   the engine refuses the run.  A folder that has no files without names passes the check.  Returns
   0, or -1 and err. */
static int fileio_try_writing(const struct bn_fileio *f, struct bn_err *err)
{
  int fd;
  int rc = bn_device_try_file(&f->plan, &fd, err);

  if (rc == 0 && fd >= 0 && f->engine->start != NULL) {
    struct bn_io_setup setup = fileio_make_setup(f, &fd, 1);

    rc = f->engine->start(&setup.shared, &setup, err);
    if (f->engine->stop != NULL)
      f->engine->stop(setup.shared);
  }
  if (fd >= 0)
    (void)close(fd);
  return rc;
}

/* Opens the files and starts the engine.  Everything that can be refused is refused before existing
   files are replaced, and wrong data is found before the run.  Returns 0, or -1 and err. */
static int fileio_start(void *self, struct bn_err *err)
{
  struct bn_fileio *f = self;
  const struct bn_fileio_plan *p = &f->plan;

  if (p->writing)
    f->data = bn_fileio_make_data(p);
  if (p->mode == BN_FILE_SEQWR && fileio_try_writing(f, err) != 0)
    return -1;
  if (bn_files_open(p, f->fd, f->made, err) != 0)
    return -1;
  f->setup = fileio_make_setup(f, f->fd, p->files);
  f->engine_started = true; /* the engine is stopped after a failure of its start, too */
  if (f->engine->start != NULL && f->engine->start(&f->setup.shared, &f->setup, err) != 0)
    return -1;
  bn_device_describe(p, f->fd[0], f->services);
  if (bn_fileio_reads(p) && bn_files_check_data(p, f->fd, f->services, err) != 0)
    return -1;
  bn_diskstats_find(&f->disk, f->fd[0]);
  return 0;
}

static void fileio_sample(void *self, uint64_t *counter)
{
  struct bn_fileio *f = self;

  bn_diskstats_read(&f->disk, &counter[BN_C_DISK]);
}

/* Frees everything that fileio_open() and fileio_start() have made, also after a failure. */
static void fileio_close(void *self)
{
  struct bn_fileio *f = self;

  if (f == NULL)
    return;
  if (f->engine_started && f->engine->stop != NULL)
    f->engine->stop(f->setup.shared);
  bn_files_close(&f->plan, f->fd);
  /* A failed run removes the files that it has made. */
  if (f->made != NULL && atomic_load_explicit(&f->ended, memory_order_relaxed) < f->plan.threads)
    bn_files_remove(&f->plan, f->made);
  if (f->pattern_made)
    bn_pattern_done(&f->pattern);
  free(f->data);
  free(f->fd);
  free(f->made);
  free(f);
}

static const struct bn_command fileio_commands[] = {
    {.name = "prepare", .run = fileio_prepare},
    {.name = "cleanup", .run = fileio_cleanup},
    {.name = NULL},
};

static const struct bn_metric fileio_metrics[] = {
    {.name = "read_latency", .unit = "ns", .kind = BN_HISTOGRAM},
    {.name = "write_latency", .unit = "ns", .kind = BN_HISTOGRAM},
    {.name = "fsync_latency", .unit = "ns", .kind = BN_HISTOGRAM},
    /* The order is that of enum bn_disk_value.  Each process counts all that the device does, so
       the counts of several processes are not added. */
    {.name = "device_reads", .unit = "1", .merge = BN_MERGE_NONE},
    {.name = "device_bytes_read", .unit = "bytes", .merge = BN_MERGE_NONE},
    {.name = "device_read_time", .unit = "ns", .merge = BN_MERGE_NONE},
    {.name = "device_writes", .unit = "1", .merge = BN_MERGE_NONE},
    {.name = "device_bytes_written", .unit = "bytes", .merge = BN_MERGE_NONE},
    {.name = "device_write_time", .unit = "ns", .merge = BN_MERGE_NONE},
    {.name = "device_flushes", .unit = "1", .merge = BN_MERGE_NONE},
    {.name = "device_flush_time", .unit = "ns", .merge = BN_MERGE_NONE},
    {.name = "device_busy_time", .unit = "ns", .merge = BN_MERGE_NONE},
    {.name = "device_queue_time", .unit = "ns", .merge = BN_MERGE_NONE},
    {.name = NULL},
};

static const struct {
  const char *key;
  unsigned counter;
  double unit; /* the rate of the counter is divided by it */
} figures[] = {
    {"reads_per_s", BN_C_READ, 1},
    {"writes_per_s", BN_C_WRITE, 1},
    {"fsyncs_per_s", BN_C_OTHER, 1},
    {"read_mib_per_s", BN_C_BYTES_READ, 0x1p20},
    {"written_mib_per_s", BN_C_BYTES_WRITTEN, 0x1p20},
    {"device_reads_per_s", BN_C_DISK + BN_DISK_READS, 1},
    {"device_writes_per_s", BN_C_DISK + BN_DISK_WRITES, 1},
    {"device_flushes_per_s", BN_C_DISK + BN_DISK_FLUSHES, 1},
    {"device_read_mib_per_s", BN_C_DISK + BN_DISK_BYTES_READ, 0x1p20},
    {"device_written_mib_per_s", BN_C_DISK + BN_DISK_BYTES_WRITTEN, 0x1p20},
    /* These counters are times, and the figures have no unit. */
    {"device_utilization", BN_C_DISK + BN_DISK_BUSY_NS, 1e9},
    {"device_queue_length", BN_C_DISK + BN_DISK_QUEUE_NS, 1e9},
};

/* Makes the figures of an interval or a run, which are the rates of counters.  There is no figure
   of a counter that the device does not have. */
static size_t fileio_figures(const struct bn_view *v, struct bn_figure *out, size_t max)
{
  size_t n = 0;

  for (size_t i = 0; i < sizeof figures / sizeof figures[0] && n < max; i++) {
    const unsigned counter = figures[i].counter;
    const uint64_t value = v->rated[counter];
    const bool is_of_device = counter >= BN_C_DISK; /* each process counts all that it does */

    if (value != BN_ABSENT && v->counter[counter] != BN_ABSENT)
      out[n++] = (struct bn_figure){.key = figures[i].key,
                                    .value = (double)value / v->rated_s / figures[i].unit,
                                    .merge = is_of_device ? BN_MERGE_NONE : BN_MERGE_RATE};
  }
  return n;
}

const struct bn_workload bn_workload_fileio = {
    .name = "fileio",
    .title = "File I/O test",
    .required = "file-test-mode",
    .kind = BN_KIND_FILEIO,
    /* The kernel takes some 20 ms to free an AIO context. */
    .untimed_close = true,
    .options = bn_fileio_options,
    .metrics = fileio_metrics,
    .conf_size = sizeof(struct bn_fileio_conf),
    .session_size = sizeof(struct bn_fileio_session),
    .commands = fileio_commands,
    .open = fileio_open,
    .describe = fileio_describe,
    .start = fileio_start,
    .session_open = bn_inflight_open,
    .loop = bn_inflight_loop,
    .session_close = bn_inflight_close,
    .figures = fileio_figures,
    .sample = fileio_sample,
    .close = fileio_close,
};

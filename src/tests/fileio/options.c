/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of the fileio test and the plan computed from them. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/units.h"
#include "measure/facts.h"
#include "option/conf.h"
#include "option/opt.h"
#include "tests/fileio/engines.h"
#include "tests/fileio/fileio.h"
#include "tests/fileio/verify.h"

/* The largest request that blocks are joined to: io_uring registers no larger buffer, and a system
   call moves this much at once. */
static const uint64_t joined_max = (uint64_t)1 << 30;

static const char *const fsync_modes[] = {
    [BN_FILE_FSYNC] = "fsync",
    [BN_FILE_FDATASYNC] = "fdatasync",
    [BN_FILE_FDATASYNC + 1] = NULL,
};

static const char *const mode_names[] = {
    [BN_FILE_SEQWR] = "seqwr",  [BN_FILE_SEQREWR] = "seqrewr", [BN_FILE_SEQRD] = "seqrd",
    [BN_FILE_RNDRD] = "rndrd",  [BN_FILE_RNDWR] = "rndwr",     [BN_FILE_RNDRW] = "rndrw",
    [BN_FILE_RNDRW + 1] = NULL,
};

static const char *const mode_titles[] = {
    [BN_FILE_SEQWR] = "sequential write (creation)",
    [BN_FILE_SEQREWR] = "sequential rewrite",
    [BN_FILE_SEQRD] = "sequential read",
    [BN_FILE_RNDRD] = "random read",
    [BN_FILE_RNDWR] = "random write",
    [BN_FILE_RNDRW] = "random r/w",
};

const struct bn_opt bn_fileio_options[] = {
    {.name = "file-num",
     .type = BN_INT,
     .in = BN_IN_ALL,
     .def = "128",
     .offset = offsetof(struct bn_fileio_conf, num),
     .min = 1,
     .max = BN_FILES_MAX,
     .range_text = "Invalid value for file-num: %s",
     .help = "number of files"},
    {.name = "file-block-size",
     .type = BN_SIZE,
     .traits = BN_OPT_KEEPS_DATA,
     .in = BN_IN_ALL,
     .def = "16384",
     .form = "=N",
     .offset = offsetof(struct bn_fileio_conf, block_size),
     .min = 1,
     .max = INT32_MAX,
     .range_text = "Invalid value for file-block-size: %s.",
     .help = "size of a request"},
    {.name = "file-total-size",
     .type = BN_SIZE,
     .in = BN_IN_ALL,
     .def = "2G",
     .offset = offsetof(struct bn_fileio_conf, total_size),
     .min = 1,
     .max = INT64_MAX,
     .range_text = "Invalid value for file-total-size: %s",
     .help = "size of all files together"},
    {.name = "file-test-mode",
     .type = BN_STRING,
     .traits = BN_OPT_KEEPS_DATA,
     .in = BN_IN_ALL,
     .offset = offsetof(struct bn_fileio_conf, test_mode),
     .words = mode_names,
     .help = "requests: seqwr, seqrewr, seqrd, rndrd, rndwr, rndrw"},
    {.name = "file-io-mode",
     .type = BN_CHOICE,
     .traits = BN_OPT_KEEPS_DATA,
     .in = BN_IN_ALL,
     .def = "sync",
     .form = "=STRING",
     .choices = bn_fileio_io_modes,
     .blank = true,
     .offset = offsetof(struct bn_fileio_conf, io_mode),
     .range_text = "unknown I/O mode: %s",
     .help = "engine: sync, async, mmap, io_uring"},
    {.name = "file-async-backlog",
     .type = BN_INT,
     .traits = BN_OPT_KEEPS_DATA,
     .in = BN_IN_ALL,
     .def = "128",
     .late = true,
     .offset = offsetof(struct bn_fileio_conf, backlog),
     .typed = offsetof(struct bn_fileio_conf, typed_backlog),
     .min = 1,
     .max = 65536,
     .help = "requests of a thread in flight, with async and io_uring"},
    {.name = "file-extra-flags",
     .type = BN_LIST,
     .traits = BN_OPT_KEEPS_DATA,
     .single05 = true,
     .in = BN_IN_ALL,
     .def = "",
     .offset = offsetof(struct bn_fileio_conf, extra_flags),
     .help = "flags for opening files: sync, dsync, direct"},
    {.name = "file-fsync-freq",
     .type = BN_INT,
     .traits = BN_OPT_KEEPS_DATA,
     .in = BN_IN_ALL,
     .def = "100",
     .offset = offsetof(struct bn_fileio_conf, fsync_freq),
     .min = 0,
     .max = INT32_MAX,
     .range_text = "Invalid value for file-fsync-freq: %s.",
     .help = "requests between flushes of all files; 0: no flushes"},
    {.name = "file-fsync-all",
     .type = BN_BOOL,
     .traits = BN_OPT_KEEPS_DATA,
     .in = BN_IN_ALL,
     .def = "off",
     .offset = offsetof(struct bn_fileio_conf, fsync_all),
     .help = "flush after each write"},
    {.name = "file-fsync-end",
     .type = BN_BOOL,
     .traits = BN_OPT_KEEPS_DATA,
     .in = BN_IN_ALL,
     .def = "on",
     .offset = offsetof(struct bn_fileio_conf, fsync_end),
     .help = "flush of all files at the end"},
    {.name = "file-fsync-mode",
     .type = BN_CHOICE,
     .traits = BN_OPT_KEEPS_DATA,
     .in = BN_IN_ALL,
     .def = "fsync",
     .form = "=STRING",
     .choices = fsync_modes,
     .offset = offsetof(struct bn_fileio_conf, fsync_mode),
     .range_text = "Invalid fsync mode: %s.",
     .help = "call that flushes: fsync, fdatasync"},
    {.name = "file-merged-requests",
     .type = BN_INT,
     .traits = BN_OPT_KEEPS_DATA,
     .in = BN_IN_ALL,
     .def = "0",
     .offset = offsetof(struct bn_fileio_conf, merged),
     .min = 0,
     .max = INT32_MAX,
     .range_text = "Invalid value for file-merged-requests: %s.",
     .help = "blocks of a sequential request; 0: one block"},
    {.name = "file-rw-ratio",
     .type = BN_DOUBLE,
     .traits = BN_OPT_KEEPS_DATA,
     .in = BN_IN_ALL,
     .def = "1.5",
     .offset = offsetof(struct bn_fileio_conf, rw_ratio),
     .help = "reads per write of rndrw"},
    {.name = "file-compressible",
     .type = BN_INT,
     .def = "0",
     .form = "=PERCENT",
     .offset = offsetof(struct bn_fileio_conf, compressible),
     .typed = offsetof(struct bn_fileio_conf, typed_compressible),
     .min = 0,
     .max = 100,
     .help = "zeros in what is written; 0: it does not compress"},
    {.name = "file-dir",
     .type = BN_PATH,
     .traits = BN_OPT_PLACE,
     .def = ".",
     .offset = offsetof(struct bn_fileio_conf, dir),
     .help = "folder of the files"},
    {.name = "file-uring-iopoll",
     .type = BN_BOOL,
     .traits = BN_OPT_KEEPS_DATA,
     .def = "off",
     .offset = offsetof(struct bn_fileio_conf, iopoll),
     .help = "polling of the device for completions (io_uring)"},
    {.name = "file-uring-sqpoll",
     .type = BN_BOOL,
     .traits = BN_OPT_KEEPS_DATA,
     .def = "off",
     .offset = offsetof(struct bn_fileio_conf, sqpoll),
     .help = "a thread of the kernel that takes requests (io_uring)"},
    BN_OPT_END,
};

/* Reads --file-extra-flags.  Returns 0, or -1 and err. */
static int fileio_read_flags(struct bn_fileio_plan *p, struct bn_err *err)
{
  const struct bn_list *flags = &p->conf->extra_flags;

  for (size_t i = 0; i < flags->n; i++) {
    const char *flag = flags->item[i];

    if (strcmp(flag, "sync") == 0)
      p->sync = true;
    else if (strcmp(flag, "dsync") == 0)
      p->dsync = true;
    else if (strcmp(flag, "direct") == 0)
      p->direct = true;
    else if (flag[0] != '\0')
      return bn_opt_refuse(p->policy,
                           &(struct bn_opt_refusal){.name = "file-extra-flags",
                                                    .value = flag,
                                                    .wrong = "unknown",
                                                    .allowed = "sync, dsync, direct"},
                           "Invalid value for file-extra-flags: %s", err);
  }
  p->open_flags =
      (p->sync ? O_SYNC : 0) | (p->dsync ? O_DSYNC : 0) | (p->direct ? O_DIRECT : 0) | O_CLOEXEC;
  return 0;
}

/* Refuses polling without direct I/O: the kernel polls a device only for requests that do not pass
   the page cache.  Returns 0, or -1 and err. */
static int fileio_check_polling(const struct bn_fileio_plan *p, struct bn_err *err)
{
  if (!p->conf->iopoll || p->direct)
    return 0;
  return bn_opt_refuse(
      p->policy,
      &(struct bn_opt_refusal){.name = "file-uring-iopoll",
                               .value = "on",
                               .wrong = "cannot be used without --file-extra-flags=direct"},
      "--file-uring-iopoll needs --file-extra-flags=direct", err);
}

/* Refuses polling in a run whose engine is not io_uring, because other engines do not read these
   options.  Returns 0, or -1 and err. */
static int fileio_check_polling_engine(const struct bn_fileio_plan *p, struct bn_err *err)
{
  const struct bn_fileio_conf *c = p->conf;
  const char *name = c->iopoll ? "file-uring-iopoll" : "file-uring-sqpoll";
  char plain[80];

  const bool is_polling = c->iopoll || c->sqpoll;

  if (!is_polling || c->io_mode == BN_IO_URING)
    return 0;
  (void)snprintf(plain, sizeof plain, "--%s needs --file-io-mode=io_uring", name);
  return bn_opt_refuse(
      p->policy,
      &(struct bn_opt_refusal){
          .name = name, .value = "on", .wrong = "cannot be used without --file-io-mode=io_uring"},
      plain, err);
}

/* Reads --file-test-mode, which has to be given.  Returns 0, or -1 and err. */
static int fileio_read_mode(struct bn_fileio_plan *p, struct bn_err *err)
{
  const char *name = p->conf->test_mode != NULL ? p->conf->test_mode : "";

  for (int i = 0; mode_names[i] != NULL; i++)
    if (strcmp(mode_names[i], name) == 0) {
      p->mode = (enum bn_file_mode)i;
      p->random = bn_file_mode_is_random(p->mode);
      p->writing = i != BN_FILE_SEQRD && i != BN_FILE_RNDRD;
      return 0;
    }
  if (name[0] == '\0' && p->policy->plain_errors)
    return bn_err_set(err, 0, "Missing required argument: --file-test-mode");
  return bn_opt_refuse(
      p->policy,
      &(struct bn_opt_refusal){.name = "file-test-mode",
                               .value = name,
                               .wrong = "unknown",
                               .allowed = "seqwr, seqrewr, seqrd, rndrd, rndwr, rndrw"},
      "Invalid IO operations mode: %s.", err);
}

/* Refuses a size that other options make wrong.  wrong: the reason; plain: the message in dialects
   (bn_opt_refuse).  Returns -1. */
static int fileio_refuse_size(const struct bn_fileio_plan *p, const char *name, uint64_t size,
                              const char *wrong, const char *plain, struct bn_err *err)
{
  char value[32];

  (void)snprintf(value, sizeof value, "%" PRIu64, size);
  return bn_opt_refuse(p->policy,
                       &(struct bn_opt_refusal){.name = name, .value = value, .wrong = wrong},
                       plain, err);
}

/* Refuses a total size that leaves less than a byte for each file.  Returns -1. */
static int fileio_refuse_total(const struct bn_fileio_plan *p, struct bn_err *err)
{
  char wrong[96], plain[128];

  (void)snprintf(wrong, sizeof wrong, "too small for --file-num=%u; allowed: %u bytes or more",
                 p->files, p->files);
  (void)snprintf(plain, sizeof plain,
                 "Invalid value for file-total-size: %%s (--file-num=%u files need at least one "
                 "byte each)",
                 p->files);
  return fileio_refuse_size(p, "file-total-size", p->conf->total_size, wrong, plain, err);
}

/* Refuses a number of joined blocks whose request is too long.  Returns -1. */
static int fileio_refuse_merged(const struct bn_fileio_plan *p, struct bn_err *err)
{
  const unsigned long long block = p->conf->block_size;
  char wrong[96], plain[128];

  (void)snprintf(wrong, sizeof wrong, "blocks of %llu bytes make a request of more than 1 GiB",
                 block);
  (void)snprintf(plain, sizeof plain,
                 "Invalid value for file-merged-requests: %%s. (blocks of %llu bytes make a "
                 "request of more than 1 GiB)",
                 block);
  return fileio_refuse_size(p, "file-merged-requests", (uint64_t)p->conf->merged, wrong, plain,
                            err);
}

/* Refuses a block without room for the checksum of --validate.  Returns -1. */
static int fileio_refuse_block(const struct bn_fileio_plan *p, struct bn_err *err)
{
  char wrong[96], plain[128];

  (void)snprintf(wrong, sizeof wrong, "too small for --validate; allowed: %d bytes or more",
                 BN_VERIFY_LEAST);
  (void)snprintf(plain, sizeof plain,
                 "Invalid value for file-block-size: %%s. (--validate needs %d)", BN_VERIFY_LEAST);
  return fileio_refuse_size(p, "file-block-size", p->conf->block_size, wrong, plain, err);
}

/* Refuses a ratio below 0.  `min` and `range_text` of the option would show it as typed, but
   sysbench prints it by %f.  Returns 0, or -1 and err. */
static int fileio_check_rw_ratio(const struct bn_fileio_plan *p, struct bn_err *err)
{
  const double ratio = p->conf->rw_ratio;
  char text[320]; /* -DBL_MAX has 317 characters by %f */

  if (ratio >= 0)
    return 0;
  (void)snprintf(text, sizeof text, p->policy->plain_errors ? "%f" : "%g", ratio);
  return bn_opt_refuse(
      p->policy,
      &(struct bn_opt_refusal){
          .name = "file-rw-ratio", .value = text, .wrong = "out of range", .allowed = "0 or more"},
      "Invalid value for --file-rw-ratio: %s.", err);
}

/* Returns the bytes of a file that are used: its size, which is rounded up to whole blocks if
   requests must be whole blocks.  The file is then longer than asked for. */
static uint64_t fileio_compute_span(const struct bn_fileio_plan *p)
{
  const uint64_t block = p->conf->block_size, excess = p->file_size % block;
  const bool needs_whole_blocks = p->direct || p->validate;

  return needs_whole_blocks && excess != 0 ? p->file_size + (block - excess) : p->file_size;
}

/* Computes the sizes of files and requests from the options, the mode and the flags.  A sequential
   test joins blocks to a request, but never more than a file has.  Returns 0, or -1 and err. */
static int fileio_read_sizes(struct bn_fileio_plan *p, struct bn_err *err)
{
  const struct bn_fileio_conf *c = p->conf;
  const bool joins = !p->random && c->merged > 1;
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);

  if (p->validate && c->block_size < BN_VERIFY_LEAST)
    return fileio_refuse_block(p, err);
  p->files = (unsigned)c->num;
  p->file_size = c->total_size / p->files;
  if (p->file_size == 0)
    return fileio_refuse_total(p, err);
  p->span = fileio_compute_span(p);
  if (joins && (uint64_t)c->merged > joined_max / c->block_size)
    return fileio_refuse_merged(p, err);
  p->request = joins ? c->block_size * (uint64_t)c->merged : c->block_size;
  if (p->request > p->span)
    p->request = p->span;
  p->buffer_size = ((size_t)p->request + page - 1) / page * page;
  return 0;
}

/* Refuses a --file-dir that is no folder.  Without the option the files are in the working
   directory, which needs no check.  Returns 0, or -1 and err. */
static int fileio_check_dir(const struct bn_fileio_plan *p, struct bn_err *err)
{
  const struct bn_fileio_conf *c = p->conf;
  struct stat st;

  if (c->dir == NULL || c->dir[0] == '\0')
    return 0;
  if (stat(c->dir, &st) == 0 && S_ISDIR(st.st_mode))
    return 0;
  return bn_opt_refuse(
      p->policy,
      &(struct bn_opt_refusal){.name = "file-dir", .value = c->dir, .wrong = "not a folder"},
      "Invalid value for --file-dir: '%s' is not a folder", err);
}

/* Computes the plan, except for the test mode: a run has read it before, and 'prepare' and
   'cleanup' have none.  Returns 0, or -1 and err. */
static int fileio_resolve_common(struct bn_fileio_plan *p, struct bn_err *err)
{
  const struct bn_fileio_conf *c = p->conf;

  if (fileio_read_flags(p, err) != 0 || fileio_check_polling(p, err) != 0 ||
      fileio_check_rw_ratio(p, err) != 0 || fileio_read_sizes(p, err) != 0 ||
      fileio_check_dir(p, err) != 0)
    return -1;
  p->zeros = (unsigned)c->compressible;
  if (p->policy->writes_zeros && c->typed_compressible == NULL)
    p->zeros = BN_DATA_ALL_ZEROS;
  p->fsync_freq = c->fsync_all ? 0 : (uint64_t)c->fsync_freq;
  p->fsync_end = c->fsync_end && !c->fsync_all;
  return 0;
}

/* Begins a plan with the values of the general options.  Until the mode is read, the plan is that
   of random requests. */
static void fileio_init_plan(struct bn_fileio_plan *p, const struct bn_fileio_conf *conf,
                             const struct bn_conf *general)
{
  *p = (struct bn_fileio_plan){.conf = conf,
                               .policy = general->policy,
                               .validate = general->plan.validate,
                               .threads = general->plan.threads,
                               .events = general->plan.events,
                               .random = true};
}

int bn_fileio_resolve(struct bn_fileio_plan *p, const struct bn_fileio_conf *conf,
                      const struct bn_conf *general, struct bn_err *err)
{
  fileio_init_plan(p, conf, general);
  if (fileio_read_mode(p, err) != 0 || fileio_check_polling_engine(p, err) != 0)
    return -1;
  return fileio_resolve_common(p, err);
}

int bn_fileio_resolve_files(struct bn_fileio_plan *p, const struct bn_fileio_conf *conf,
                            const struct bn_conf *general, struct bn_err *err)
{
  fileio_init_plan(p, conf, general);
  return fileio_resolve_common(p, err);
}

bool bn_fileio_reads(const struct bn_fileio_plan *p)
{
  return p->mode == BN_FILE_SEQRD || p->mode == BN_FILE_RNDRD || p->mode == BN_FILE_RNDRW;
}

struct bn_data *bn_fileio_make_data(const struct bn_fileio_plan *p)
{
  struct bn_data *data;
  struct bn_rng rng;

  if (p->zeros == BN_DATA_ALL_ZEROS || p->validate)
    return NULL;
  data = bn_alloc(1, sizeof *data);
  bn_rng_seed(&rng, bn_rng_entropy(), BN_RNG_DATA, 0);
  bn_data_init(data, p->zeros, &rng);
  return data;
}

/* Returns the number that 0.5 prints for the flags, of which it knows only one at a time. */
static unsigned fileio_get_flag_number(const struct bn_fileio_plan *p)
{
  enum { NONE, SYNC, DSYNC, DIRECT };

  if (p->direct)
    return DIRECT;
  if (p->dsync)
    return DSYNC;
  return p->sync ? SYNC : NONE;
}

void bn_fileio_format_flags(const struct bn_fileio_plan *p, char *out, size_t len)
{
  const bool has_flags = p->sync || p->dsync || p->direct;

  if (p->policy->flags_are_number)
    (void)snprintf(out, len, "%x", fileio_get_flag_number(p));
  else
    (void)snprintf(out, len, "%s%s%s%s", has_flags ? "" : "(none)", p->sync ? "sync " : "",
                   p->dsync ? "dsync " : "", p->direct ? "directio" : "");
}

void bn_fileio_format_size(const struct bn_fileio_plan *p, uint64_t bytes, char *out, size_t len)
{
  char size[32];

  /* Without iec: if the dialect shows the "i" of "KiB", its unit has it. */
  (void)snprintf(out, len, "%s%s", bn_units_format_size(size, sizeof size, bytes, false /* iec */),
                 bytes < 1024 ? p->policy->byte_unit : p->policy->binary_unit);
}

/* Describes when the test flushes.  In a dialect the text names fsync even if the test calls
   fdatasync, as sysbench does. */
static void fileio_describe_flushes(const struct bn_fileio_plan *p, struct bn_facts *f)
{
  const int mode = bn_policy_is_native(p->policy) ? p->conf->fsync_mode : BN_FILE_FSYNC;
  const bool is_mapped = bn_policy_is_native(p->policy) && p->conf->io_mode == BN_IO_MMAP;
  const char *call = is_mapped ? "msync" : fsync_modes[mode];

  if (p->fsync_freq > 0)
    bn_facts_add_row(f, BN_NOTICE, "Periodic FSYNC enabled, calling %s() each %llu requests.", call,
                     (unsigned long long)p->fsync_freq);
  if (p->fsync_end)
    bn_facts_add_row(f, BN_NOTICE, "Calling %s() at the end of test, Enabled.", call);
  if (p->conf->fsync_all)
    bn_facts_add_row(f, BN_NOTICE, "Calling %s() after each write operation.", call);
}

void bn_fileio_describe(const struct bn_fileio_plan *p, const char *io_title, struct bn_facts *f)
{
  char text[64];

  bn_fileio_format_flags(p, text, sizeof text);
  bn_facts_add_row(f, BN_NOTICE, "Extra file open flags: %s", text);
  bn_fileio_format_size(p, p->file_size, text, sizeof text);
  bn_facts_add_row(f, BN_NOTICE, "%u files, %s each", p->files, text);
  bn_fileio_format_size(p, p->conf->total_size, text, sizeof text);
  bn_facts_add_row(f, BN_NOTICE, "%s total file size", text);
  bn_fileio_format_size(p, p->conf->block_size, text, sizeof text);
  bn_facts_add_row(f, BN_NOTICE, "Block size %s", text);
  if (p->conf->merged > 0) {
    bn_fileio_format_size(p, p->conf->block_size * (uint64_t)p->conf->merged, text, sizeof text);
    bn_facts_add_row(f, BN_NOTICE, "Merging requests%sup to %s for sequential IO.",
                     p->policy->merging_gap, text);
  }
  if (p->random) {
    bn_facts_add_row(f, BN_NOTICE, "Number of IO requests: %llu", (unsigned long long)p->events);
    bn_facts_add_row(f, BN_NOTICE, "Read/Write ratio for combined random IO test: %2.2f",
                     p->conf->rw_ratio);
  }
  fileio_describe_flushes(p, f);
  bn_facts_add_row(f, BN_NOTICE, "Using %s I/O mode", io_title);
  if (p->validate)
    bn_facts_add_row(f, BN_NOTICE, "Using checksums validation.");
  bn_facts_add_row(f, BN_NOTICE, "Doing %s test", mode_titles[p->mode]);
}

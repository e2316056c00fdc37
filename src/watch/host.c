/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Watches the host: processors, memory, processes and network. */
#include <errno.h>
#include <string.h>

#include "api/metric.h"
#include "base/buf.h"
#include "base/file.h"
#include "measure/watch.h"
#include "watch/proc.h"
#include "watch/watchers.h"

/* The longest file that is read, in bytes.  /proc/stat may have a number for each of thousands of
   interrupts. */
enum { TEXT_MAX = 1 << 22 };

struct host {
  struct bn_buf text; /* the text of the file that was read last */
};

/* Reads a file in place of the content of b.  Returns 0, or -1 and err. */
static int host_read_text(struct bn_buf *b, const char *path, struct bn_err *err)
{
  bn_buf_clear(b);
  if (bn_file_read(path, b) != 0)
    return bn_err_set(err, errno, "cannot read '%s': %s", path, strerror(errno));
  return 0;
}

static int host_open(void *self, const struct bn_watch_place *place, struct bn_err *err)
{
  struct host *h = self;

  (void)place;
  bn_buf_init(&h->text, TEXT_MAX);
  /* Every reading needs this file: without it, the host is not watched at all. */
  return host_read_text(&h->text, "/proc/stat", err);
}

/* Reads the counts of all files.  A container may hide all files but the first; their counts are
   then absent.  Returns 0, or -1 and err if the first file cannot be read. */
static int host_read(void *self, struct bn_reading *r, struct bn_err *err)
{
  static const struct {
    const char *path;
    void (*parse)(const char *text, uint64_t value[BN_HOST_COUNTS]);
  } files[] = {{"/proc/stat", bn_proc_parse_stat},
               {"/proc/meminfo", bn_proc_parse_meminfo},
               {"/proc/self/net/dev", bn_proc_parse_net}};
  struct host *h = self;

  for (size_t i = 0; i < BN_HOST_COUNTS; i++)
    r->value[i] = BN_ABSENT;
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    if (host_read_text(&h->text, files[i].path, err) == 0)
      files[i].parse(h->text.data, r->value);
    else if (i == 0)
      return -1;
  }
  return 0;
}

static void host_compare(void *self, const struct bn_reading *from, const struct bn_reading *to,
                         const struct bn_view *v, struct bn_watched *out)
{
  (void)self;
  (void)v;
  bn_watched_add_host(from, to, out);
}

static void host_close(void *self)
{
  struct host *h = self;

  bn_buf_done(&h->text);
}

const struct bn_watcher bn_watcher_host = {
    .name = "host",
    .state_size = sizeof(struct host),
    .open = host_open,
    .read = host_read,
    .compare = host_compare,
    .close = host_close,
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Watches the block device under the files of a run or of its server. */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "measure/host.h"
#include "measure/watch.h"
#include "sql/side_query.h"
#include "watch/watchers.h"

struct device {
  struct bn_sql_side_query side_query; /* for the folder that the server names */
  struct bn_diskrow row;
};

/* Sets the numbers of the row to those of the block device under a place.  Returns false if there
   is none, as under tmpfs, overlay and NFS.  stat() gives files of btrfs, which may span several
   devices, a number with major 0; the device that the mount table names is taken then. */
static bool device_find_numbers(struct bn_diskrow *row, const struct bn_place *place)
{
  struct stat st;

  if (stat(place->path, &st) != 0)
    return false;
  if (major(st.st_dev) != 0) {
    row->major = major(st.st_dev);
    row->minor = minor(st.st_dev);
    return true;
  }
  if (stat(place->device, &st) != 0 || !S_ISBLK(st.st_mode))
    return false;
  row->major = major(st.st_rdev);
  row->minor = minor(st.st_rdev);
  return true;
}

/* The answer of a server that is asked for its folder, and the proof that it is on this host. */
struct answer {
  char proof[256];
  char *folder; /* [PATH_MAX]; "" until the server has given the proof */
};

/* Sets the folder to the second value of a row whose first value is the proof. */
static void device_check_row(void *arg, const struct bn_sql_value pair[2])
{
  const struct answer *a = arg;
  const struct bn_sql_value *proof = &pair[0], *folder = &pair[1];
  const bool is_here =
      proof->len == strlen(a->proof) && strncmp(proof->ptr, a->proof, proof->len) == 0;

  if (is_here && folder->len < PATH_MAX)
    (void)snprintf(a->folder, PATH_MAX, "%.*s", (int)folder->len, folder->ptr);
}

/* Sets the folder to that of a server on this host, which is asked for it.  Returns 0, or -1 and
   err if the driver has no server, or if the server does not answer or is on another host. */
static int device_ask_folder(struct bn_sql_side_query *query, char folder[PATH_MAX],
                             struct bn_err *err)
{
  const struct bn_driver *ops = query->link.ops;
  struct answer a = {.folder = folder};

  folder[0] = '\0';
  if (ops->folder_sql == NULL)
    return bn_err_set(err, EINVAL, "no device is watched: the driver '%s' has no server",
                      ops->name);
  if (ops->folder_proof != NULL)
    (void)snprintf(a.proof, sizeof a.proof, "%s", ops->folder_proof);
  else if (gethostname(a.proof, sizeof a.proof - 1) != 0) /* the zeroed last byte ends any name */
    return bn_err_set(err, errno, "no device is watched: this host has no name");
  if (bn_sql_side_query_read_pairs(&query->link, ops->folder_sql, device_check_row, &a, err) != 0)
    return -1;
  if (folder[0] == '\0')
    return bn_err_set(err, EINVAL, "no device is watched: the server is on another host");
  return 0;
}

/* Sets the folder to that of the test's files or, if the test has a database, to that of its
   server's files.  The server is asked over d->side_query, which stays open until device_close is
   called, also after a failure.  Returns 0, or -1 and err. */
static int device_find_folder(struct device *d, const struct bn_watch_place *test_place,
                              char folder[PATH_MAX], struct bn_err *err)
{
  if (test_place->folder != NULL) {
    /* A path of PATH_MAX bytes or more, which would be cut, is that of no folder. */
    (void)snprintf(folder, PATH_MAX, "%s", test_place->folder);
    return 0;
  }
  if (test_place->sql == NULL)
    return bn_err_set(err, EINVAL,
                      "no device is watched: this test makes no files (fileio and tests of "
                      "databases do)");
  if (bn_sql_side_query_open(&d->side_query, test_place->sql,
                             bn_clock_mono() + BN_WATCH_PATIENCE_NS, err) != 0)
    return -1;
  return device_ask_folder(&d->side_query, folder, err);
}

/* Finds the device to be watched.  Returns 0, or -1 and err if there is none with counters. */
static int device_open(void *self, const struct bn_watch_place *test_place, struct bn_err *err)
{
  char folder[PATH_MAX];
  struct device *d = self;
  struct bn_place place;

  if (device_find_folder(d, test_place, folder, err) != 0)
    return -1;
  bn_place_read(&place, "", folder);
  if (!device_find_numbers(&d->row, &place))
    return bn_err_set(err, ENODEV,
                      "no device is watched: the file system of '%.200s' (%s) has no block device",
                      place.path, place.file_system);
  if (!bn_diskrow_read(&d->row))
    return bn_err_set(err, ENODEV,
                      "no device is watched: /proc/diskstats has no device %u:%u, on which "
                      "'%.200s' is",
                      d->row.major, d->row.minor, place.path);
  return 0;
}

static int device_read(void *self, struct bn_reading *r, struct bn_err *err)
{
  struct device *d = self;

  if (!bn_diskrow_read(&d->row))
    return bn_err_set(err, ENODEV, "the device %u:%u is no longer in /proc/diskstats", d->row.major,
                      d->row.minor);
  memcpy(r->value, d->row.value, sizeof d->row.value);
  return 0;
}

static void device_compare(void *self, const struct bn_reading *from, const struct bn_reading *to,
                           const struct bn_view *v, struct bn_watched *out)
{
  (void)self;
  (void)v;
  bn_watched_add_device(from, to, out);
}

static void device_interrupt(void *self)
{
  struct device *d = self;

  bn_sql_side_query_interrupt(&d->side_query);
}

/* The connection is closed here and not as soon as the folder is known: until device_close is
   called, another thread may call device_interrupt, which uses it. */
static void device_close(void *self)
{
  struct device *d = self;

  bn_sql_side_query_close(&d->side_query);
}

const struct bn_watcher bn_watcher_device = {
    .name = "device",
    .state_size = sizeof(struct device),
    .wraps = true,
    .open = device_open,
    .read = device_read,
    .compare = device_compare,
    .interrupt = device_interrupt,
    .close = device_close,
};

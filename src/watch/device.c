/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Watches the block device under the files of a run. */
#include <errno.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "measure/facts.h"
#include "measure/host.h"
#include "measure/watch.h"
#include "watch/watchers.h"

struct device {
  unsigned major, minor;
};

/* File systems of several devices (btrfs) have numbers of their own with major 0, and the mount
   table names a device.  tmpfs, overlay and NFS have none. */
static bool find_device(struct device *d, const struct bn_place *place)
{
  struct stat st;

  if (stat(place->path, &st) != 0)
    return false;
  if (major(st.st_dev) != 0) {
    *d = (struct device){major(st.st_dev), minor(st.st_dev)};
    return true;
  }
  if (stat(place->device, &st) != 0 || !S_ISBLK(st.st_mode))
    return false;
  *d = (struct device){major(st.st_rdev), minor(st.st_rdev)};
  return true;
}

static int device_open(void *self, const struct bn_watch_place *at, struct bn_err *err)
{
  const struct bn_fact *folder = bn_facts_find(at->facts, "files", "folder");
  uint64_t row[BN_ROW_FIELDS];
  struct device *d = self;
  struct bn_place place;

  if (folder == NULL || folder->text == NULL)
    return bn_err_set(err, EINVAL,
                      "no device is watched: this test makes no files of its own (fileio and the "
                      "sqlite driver do)");
  bn_place_read(&place, "", folder->text);
  if (!find_device(d, &place))
    return bn_err_set(err, ENODEV,
                      "no device is watched: the file system of '%.200s' (%s) has no block device",
                      place.path, place.file_system);
  if (!bn_diskrow_read(d->major, d->minor, row))
    return bn_err_set(
        err, ENODEV,
        "no device is watched: /proc/diskstats has no device %u:%u, on which '%.200s' "
        "is",
        d->major, d->minor, place.path);
  return 0;
}

static int device_read(void *self, struct bn_reading *r, struct bn_err *err)
{
  const struct device *d = self;

  if (bn_diskrow_read(d->major, d->minor, r->value))
    return 0;
  return bn_err_set(err, ENODEV, "the device %u:%u is no more in /proc/diskstats", d->major,
                    d->minor);
}

static void device_compare(void *self, const struct bn_reading *from, const struct bn_reading *to,
                           const struct bn_view *v, struct bn_watched *out)
{
  (void)self;
  (void)v;
  bn_watched_device(from, to, out);
}

const struct bn_watcher bn_watcher_device = {
    .name = "device",
    .state_size = sizeof(struct device),
    .open = device_open,
    .read = device_read,
    .compare = device_compare,
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks that the file system of the database has room for rows. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "drivers/sqlite/sqlite.h"

/* Gets the file system of the file, or of its folder if the file does not exist. */
static int find_filesystem(const char *path, struct statfs *fs)
{
  char folder[PATH_MAX], *slash;

  if (statfs(path, fs) == 0)
    return 0;
  (void)snprintf(folder, sizeof folder, "%s", path);
  slash = strrchr(folder, '/');
  if (slash == NULL)
    return -1;
  slash[slash == folder] = '\0';
  return statfs(folder, fs);
}

/* True if rows may take less room than they have bytes, or the numbers mean nothing. */
static bool is_elastic(const struct statfs *fs)
{
  enum { BTRFS, BCACHEFS, F2FS, ZFS, N };
  static const uint32_t type[N] = {
      [BTRFS] = 0x9123683e, [BCACHEFS] = 0xca451a4e, [F2FS] = 0xf2f52010, [ZFS] = 0x2fc12fc1};

  for (int i = 0; i < N; i++)
    if ((uint32_t)fs->f_type == type[i])
      return true;
  return fs->f_blocks == 0;
}

/* Counts blocks that are free only to root, and the file, which may have unused pages. */
int bn_sqlite_check_room(void *conn, uint64_t bytes, struct bn_err *err)
{
  const struct bn_sqlite_conn *c = conn;
  const char *path = sqlite3_db_filename(c->db, "main");
  struct statfs fs;
  struct stat st;
  uint64_t room;

  if (path == NULL || path[0] == '\0' || find_filesystem(path, &fs) != 0 || is_elastic(&fs))
    return 0;
  room = (uint64_t)fs.f_bfree * (uint64_t)fs.f_bsize;
  if (stat(path, &st) == 0)
    room += (uint64_t)st.st_size;
  if (bytes <= room)
    return 0;
  return bn_err_set(err, BN_ERR_OPTION,
                    "the rows need at least %llu MiB, but the file system of '%s' has %llu MiB "
                    "left: lower --tables or --table-size, or use another --sqlite-db",
                    (unsigned long long)(bytes >> 20), path, (unsigned long long)(room >> 20));
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The mmap engine: maps whole files, copies for a request, and flushes with msync. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/fileio/bustrap.h"
#include "tests/fileio/engines.h"

/* The mappings, which sessions share; like a file, they do not order accesses. */
struct maps {
  struct sigaction old;
  bool trapped; /* old is to be restored */
  size_t size;
  unsigned n;
  unsigned char *at[];
};

struct engine {
  struct maps *maps;
  const int *fd;
};

/* Maps file i, after it has set the size of a new file.  Returns 0, or -1 and err. */
static int mmap_map_file(struct maps *m, const struct bn_io_setup *setup, unsigned i,
                         struct bn_err *err)
{
  const int access = PROT_READ | (setup->writing ? PROT_WRITE : 0);
  void *at;

  if (setup->empty && ftruncate(setup->fd[i], (off_t)setup->file_size) != 0)
    return bn_err_set(err, errno, "ftruncate() failed on file %u errno = %d (%s)", i, errno,
                      strerror(errno));
  at = mmap(NULL, m->size, access, MAP_SHARED, setup->fd[i], 0);
  if (at == MAP_FAILED) {
    const char *hint = errno == ENOMEM ? ": see sysctl vm.max_map_count and ulimit -v" : "";

    return bn_err_set(err, errno, "mmap() failed on file %u errno = %d (%s)%s", i, errno,
                      strerror(errno), hint);
  }
  m->at[i] = at;
  m->n++;
  return 0;
}

/* Installs the trap for pages that are not available, and maps all files.  Returns 0, or -1 and
   err; mmap_stop() undoes this in both cases. */
static int mmap_start(void **shared, const struct bn_io_setup *setup, struct bn_err *err)
{
  struct maps *m = calloc(1, sizeof *m + setup->n_files * sizeof m->at[0]);

  *shared = m;
  if (m == NULL)
    return bn_err_set(err, 0, "out of memory for %u files", setup->n_files);
  if (setup->file_size > SIZE_MAX / 2)
    return bn_err_set(err, 0, "files of this size cannot be mapped on this machine");
  m->size = (size_t)setup->file_size;
  if (bn_bustrap_install(&m->old, err) != 0)
    return -1;
  m->trapped = true;
  for (unsigned i = 0; i < setup->n_files; i++)
    if (mmap_map_file(m, setup, i, err) != 0)
      return -1;
  return 0;
}

/* Undoes as much as mmap_start() has done; `shared` is NULL if it had no memory. */
static void mmap_stop(void *shared)
{
  struct maps *m = shared;

  if (m == NULL)
    return;
  if (m->trapped)
    bn_bustrap_remove(&m->old);
  for (unsigned i = 0; i < m->n; i++)
    (void)munmap(m->at[i], m->size);
  free(m);
}

static int mmap_open(void *self, const struct bn_io_setup *setup, struct bn_err *err)
{
  struct engine *e = self;

  (void)err;
  e->maps = setup->shared;
  e->fd = setup->fd;
  return 0;
}

/* Returns the result of a request that has met a page which is not available: 0 if the file ends
   before it, else the error of the equivalent system call (no space, no quota, a device that
   fails), or -EIO if this call succeeds.  The size of a device is not in its status. */
static int64_t mmap_find_result(int fd, struct bn_io_req *r)
{
  struct stat st;

  if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size < r->offset + r->len)
    return 0;
  bn_io_execute(fd, r, 0);
  return r->result < 0 ? r->result : -EIO;
}

/* Copies to or from the mapping, or writes the whole mapping back; the request is done at once. */
static int mmap_submit(void *self, struct bn_io_req *r)
{
  const struct engine *e = self;
  const struct maps *m = e->maps;
  unsigned char *at = m->at[r->file] + r->offset;
  bool is_copied = true;

  r->result = (int64_t)r->len;
  switch (r->op) {
  case BN_IO_READ:
    is_copied = bn_bustrap_copy(r->buf, at, r->len);
    break;
  case BN_IO_WRITE:
    is_copied = bn_bustrap_copy(at, r->buf, r->len);
    break;
  case BN_IO_FSYNC:
  case BN_IO_FDATASYNC:
    r->result = msync(m->at[r->file], m->size, MS_SYNC | MS_INVALIDATE) == 0 ? 0 : -errno;
    break;
  }
  if (!is_copied)
    r->result = mmap_find_result(e->fd[r->file], r);
  return 1;
}

const struct bn_ioengine bn_engine_mmap = {
    .abi = BN_IOENGINE_ABI,
    .size = sizeof(struct bn_ioengine),
    .name = "mmap",
    .title = "fast mmaped",
    .session_size = sizeof(struct engine),
    .start = mmap_start,
    .stop = mmap_stop,
    .open = mmap_open,
    .submit = mmap_submit,
};

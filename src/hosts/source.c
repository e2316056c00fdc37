/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares scripts by their lengths and CRCs: they differ by accident, not by intent. */
#include "hosts/source.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/crc32.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/plugin.h"

enum { SOURCES_MAX = 10000, TEXT_MAX_BYTES = 64 << 20 };

void bn_source_print(struct bn_buf *out, const char *file, size_t folder_len, const void *text,
                     size_t len)
{
  const uint32_t crc = bn_crc32(0, text, len);

  if (bn_buf_printf(out, "%08" PRIx32 " %zu %zu %s", crc, len, folder_len, file) != 0)
    bn_alloc_fail();
}

/* A file of a host, as in struct bn_source.  Its texts are escaped. */
struct remote_file {
  char file[PATH_MAX], name[PATH_MAX];
  bool is_bundled;
  uint64_t len;
  uint32_t crc;
};

/* Reads the payload of SOURCE.  Returns 0, or -1 and err if it has another form. */
static int source_read_remote(struct remote_file *remote, const char *data, size_t len,
                              struct bn_err *err)
{
  char text[PATH_MAX + 1]; /* all of the payload, which has at most 4 KiB (hosts/frame.c) */
  const char *file;
  size_t folder_len;
  /* Where the name of the file begins; 0: the numbers before it were not read. */
  int n, file_begin = 0;

  (void)snprintf(text, sizeof text, "%.*s", (int)(len < PATH_MAX ? len : PATH_MAX), data);
  n = sscanf(text, "%8" SCNx32 " %" SCNu64 " %zu %n", &remote->crc, &remote->len, &folder_len,
             &file_begin);
  file = text + file_begin;
  if (n != 3 || file_begin == 0 || folder_len >= strlen(file))
    return bn_err_set(err, EPROTO, "it sent a script that is none");
  remote->is_bundled = folder_len > 0; /* the folder is that of the bundle */
  (void)bn_escape(remote->file, sizeof remote->file, file, "");
  (void)bn_escape(remote->name, sizeof remote->name, file + folder_len, "");
  return 0;
}

/* Replaces the source, which is that of the host, by the file of its name here if there is one.
   Only a regular file is read, because a FIFO would block. */
static void source_use_file_here(struct bn_source *s, const struct remote_file *remote)
{
  char dir[PATH_MAX] = "", path[2 * PATH_MAX];
  struct bn_buf text = {.max = TEXT_MAX_BYTES};
  struct stat st;

  if (remote->is_bundled && bn_plugin_data_dir(dir, sizeof dir, NULL) == NULL)
    dir[0] = '\0';
  (void)snprintf(path, sizeof path, "%s%s", dir, remote->name);
  if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && bn_file_read(path, &text) == 0) {
    free(s->file);
    *s = (struct bn_source){.name = s->name,
                            .file = bn_alloc_text(path),
                            .host = NULL, /* the file is here */
                            .len = text.len,
                            .crc = bn_crc32(0, text.data, text.len)};
  }
  bn_buf_done(&text);
}

/* Adds the source with which files of this name are compared: the file here, or else that of the
   host. */
static const struct bn_source *source_add(struct bn_sources *sources, const char *host,
                                          const struct remote_file *remote)
{
  struct bn_source *s;

  sources->item = bn_alloc_resize(sources->item, sources->n + 1, sizeof *sources->item);
  s = &sources->item[sources->n++];
  *s = (struct bn_source){.name = bn_alloc_text(remote->name),
                          .file = bn_alloc_text(remote->file),
                          .host = host,
                          .len = remote->len,
                          .crc = remote->crc};
  source_use_file_here(s, remote);
  return s;
}

/* Returns the source with which files of that name are compared, or NULL if there is none yet. */
static const struct bn_source *source_find(const struct bn_sources *sources, const char *name)
{
  for (size_t i = 0; i < sources->n; i++)
    if (strcmp(sources->item[i].name, name) == 0)
      return &sources->item[i];
  return NULL;
}

/* Refuses a file of a host that is not the same as the source.  Returns -1. */
static int source_refuse(const struct bn_source *s, const struct remote_file *remote,
                         struct bn_err *err)
{
  const char *remedy =
      remote->is_bundled ? "install the same version of bench on all hosts"
                         : "put it beside the script of the run, whose folder is sent to all hosts";

  if (s->host == NULL)
    return bn_err_set(err, EPROTO, "its script '%.300s' is another one than '%.300s' here; %s",
                      remote->file, s->file, remedy);
  return bn_err_set(err, EPROTO, "its script '%.300s' is another one than '%.300s' of %.100s; %s",
                    remote->file, s->file, s->host, remedy);
}

int bn_sources_compare(struct bn_sources *sources, const char *host, const char *data, size_t len,
                       struct bn_err *err)
{
  const struct bn_source *s;
  struct remote_file remote;

  if (source_read_remote(&remote, data, len, err) != 0)
    return -1;
  s = source_find(sources, remote.name);
  if (s == NULL && sources->n == SOURCES_MAX)
    return bn_err_set(err, EPROTO, "it loads too many scripts");
  if (s == NULL)
    s = source_add(sources, host, &remote);
  return s->len == remote.len && s->crc == remote.crc ? 0 : source_refuse(s, &remote, err);
}

void bn_sources_done(struct bn_sources *sources)
{
  for (size_t i = 0; i < sources->n; i++) {
    free(sources->item[i].name);
    free(sources->item[i].file);
  }
  free(sources->item);
}

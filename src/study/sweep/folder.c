/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes, locks, reads and writes the folder of a sweep. */
#include "study/sweep/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/escape.h"

/* A document of a study is a few bytes for each run. */
enum { DOCUMENT_MAX = 16 << 20, NAME_ROOM = 32 };

int bn_folder_make(const char *path, struct bn_err *err)
{
  struct stat st;

  if (mkdir(path, 0777) == 0 || (errno == EEXIST && stat(path, &st) == 0 && S_ISDIR(st.st_mode)))
    return 0;
  if (errno == EEXIST)
    return bn_err_set(err, ENOTDIR, "--out=%s: this is a file; name a folder", path);
  return bn_err_set(err, errno, "--out=%s: cannot make the folder: %s", path, strerror(errno));
}

int bn_folder_check(const char *path, struct bn_err *err)
{
  if (path[0] == '\0' || strlen(path) + NAME_ROOM > PATH_MAX)
    return bn_err_set(err, EINVAL, "--out=%.64s: the name is empty or too long; name a folder",
                      path);
  /* A list of --report ends there. */
  if (strchr(path, ',') != NULL)
    return bn_err_set(err, EINVAL, "--out=%s: the name must not contain a comma", path);
  return 0;
}

int bn_folder_open(struct bn_folder *f, const char *path, struct bn_err *err)
{
  char runs[PATH_MAX];

  *f = (struct bn_folder){.path = path, .open = -1};
  if (bn_folder_make(path, err) != 0 || bn_folder_make(bn_folder_file(f, "runs", runs), err) != 0)
    return -1;
  f->open = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (f->open < 0)
    return bn_err_set(err, errno, "--out=%s: cannot open the folder: %s", path, strerror(errno));
  if (flock(f->open, LOCK_EX | LOCK_NB) == 0)
    return 0;
  return bn_err_set(err, errno,
                    errno == EWOULDBLOCK ? "--out=%s: another sweep uses this folder now"
                                         : "--out=%s: cannot lock the folder",
                    path);
}

void bn_folder_close(struct bn_folder *f)
{
  if (f->open >= 0)
    (void)close(f->open);
  f->open = -1;
}

const char *bn_folder_file(const struct bn_folder *f, const char *name, char out[PATH_MAX])
{
  (void)snprintf(out, PATH_MAX, "%s/%s", f->path, name);
  return out;
}

const char *bn_folder_run_name(size_t run, const char *suffix, char out[BN_FOLDER_RUN])
{
  (void)snprintf(out, BN_FOLDER_RUN, "runs/%04zu.%s", run + 1, suffix);
  return out;
}

const char *bn_folder_run(const struct bn_folder *f, size_t run, const char *suffix,
                          char out[PATH_MAX])
{
  char name[BN_FOLDER_RUN];

  return bn_folder_file(f, bn_folder_run_name(run, suffix, name), out);
}

static int read_text(FILE *in, const char *path, struct bn_buf *text, struct bn_err *err)
{
  char part[4096];
  size_t n;

  errno = 0;
  while ((n = fread(part, 1, sizeof part, in)) > 0)
    if (bn_buf_add(text, part, n) != 0)
      return bn_err_set(err, EFBIG, "cannot read '%s': it is too large", path);
  if (ferror(in) != 0)
    return bn_err_set(err, errno, "cannot read '%s': %s", path, strerror(errno));
  return 0;
}

int bn_folder_read(const struct bn_folder *f, const struct bn_store *js, const char *name,
                   struct bn_node **out, struct bn_err *err)
{
  char path[PATH_MAX];
  FILE *in = fopen(bn_folder_file(f, name, path), "re");
  struct bn_buf text = {.max = DOCUMENT_MAX};
  struct bn_err why = {0};
  int rc;

  *out = NULL;
  if (in == NULL && errno == ENOENT)
    return 0;
  if (in == NULL)
    return bn_err_set(err, errno, "cannot read '%s': %s", path, strerror(errno));
  rc = read_text(in, path, &text, err);
  if (rc == 0) {
    *out = js->parse(text.data != NULL ? text.data : "", text.len, &why);
    if (*out == NULL)
      rc = bn_err_set(err, EINVAL, "cannot read '%s': %.200s", path, why.text);
  }
  bn_buf_done(&text);
  (void)fclose(in);
  return rc == 0 ? 1 : -1;
}

int bn_folder_write(const struct bn_folder *f, const struct bn_store *js, const char *name,
                    struct bn_node *document, struct bn_err *err)
{
  char path[PATH_MAX];
  int rc;

  if (document == NULL)
    return bn_err_set(err, ENOMEM, "out of memory");
  rc = bn_store_save(js, document, bn_folder_file(f, name, path), err);
  js->free(document);
  return rc;
}

void bn_folder_remove(const struct bn_folder *f, const char *name)
{
  char path[PATH_MAX];

  (void)unlink(bn_folder_file(f, name, path));
}

bool bn_folder_result(const struct bn_folder *f, const struct bn_store *js, size_t run,
                      struct bn_stored *out)
{
  char path[PATH_MAX];
  const struct bn_result *r = &out->result;

  return bn_store_load(js, bn_folder_run(f, run, "json", path), false, out, NULL) == 0 &&
         r->n_groups > 0 && r->group[0].has_total && r->end.status == 0 && !r->end.partial;
}

void bn_folder_drop_empty(const char *path)
{
  FILE *f = fopen(path, "re");
  const bool empty = f != NULL && fgetc(f) == EOF;

  if (f != NULL)
    (void)fclose(f);
  if (empty)
    (void)unlink(path);
}

void bn_folder_quote(const char *path, char *out, size_t size)
{
  static const char fatal[] = "FATAL: ";
  FILE *in = fopen(path, "re");
  char line[512];
  const char *said = "";

  out[0] = '\0';
  while (in != NULL && fgets(line, sizeof line, in) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    said = strncmp(line, fatal, sizeof fatal - 1) == 0 ? line + sizeof fatal - 1 : line;
    if (line[0] != '\0')
      (void)bn_escape(out, size, said, "");
    if (said != line)
      break;
  }
  if (in != NULL)
    (void)fclose(in);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the files of results, and tells results from other documents. */
#include "study/results.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"

enum { FOREIGN_MAX = 1 << 26 }; /* bytes of a document that is no result */

bool bn_results_is_folder(const char *path)
{
  struct stat st;

  return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* A FIFO in the folder would never be read to its end. */
static bool is_file(const char *path)
{
  struct stat st;

  return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Takes the path over. */
static int add(struct bn_results *r, char *path, struct bn_err *err)
{
  char **more = path != NULL ? reallocarray(r->path, r->n + 1, sizeof *more) : NULL;

  if (more != NULL)
    r->path = more;
  if (more == NULL || r->n == BN_RESULTS_MAX) {
    free(path);
    return more == NULL ? bn_err_set(err, ENOMEM, "out of memory")
                        : bn_err_set(err, E2BIG, "more than %d results", BN_RESULTS_MAX);
  }
  r->path[r->n++] = path;
  return 0;
}

static int is_document(const struct dirent *e)
{
  const size_t len = strlen(e->d_name);

  return e->d_name[0] != '.' && len > 5 && strcmp(e->d_name + len - 5, ".json") == 0;
}

static char *join(const char *folder, const char *name)
{
  const size_t len = strlen(folder);
  char *path = NULL;

  if (asprintf(&path, "%s%s%s", folder, len > 0 && folder[len - 1] == '/' ? "" : "/", name) < 0)
    return NULL;
  return path;
}

static int add_folder(struct bn_results *r, const char *folder, struct bn_err *err)
{
  struct dirent **entry = NULL;
  const int n = scandir(folder, &entry, is_document, versionsort);
  int rc = 0;

  if (n < 0)
    return bn_err_set(err, errno, "cannot read the folder '%s': %s", folder, strerror(errno));
  for (int i = 0; i < n; i++) {
    char *path = rc == 0 ? join(folder, entry[i]->d_name) : NULL;

    if (path != NULL && !is_file(path))
      free(path);
    else if (rc == 0)
      rc = add(r, path, err);
    free(entry[i]);
  }
  free(entry);
  return rc;
}

int bn_results_find(struct bn_results *out, const char *operand, struct bn_err *err)
{
  char *runs;
  int rc;

  *out = (struct bn_results){.folder = bn_results_is_folder(operand)};
  if (!out->folder)
    return add(out, strdup(operand), err);
  runs = join(operand, "runs");
  if (runs == NULL)
    return bn_err_set(err, ENOMEM, "out of memory");
  rc = add_folder(out, operand, err);
  if (rc == 0 && bn_results_is_folder(runs))
    rc = add_folder(out, runs, err);
  free(runs);
  return rc;
}

void bn_results_done(struct bn_results *r)
{
  for (size_t i = 0; i < r->n; i++)
    free(r->path[i]);
  free(r->path);
  *r = (struct bn_results){.n = 0};
}

/* Whether it is a whole document that says that it is something else. */
static bool is_foreign(const struct bn_store *js, const char *path)
{
  struct bn_buf text = {.max = FOREIGN_MAX};
  FILE *f = fopen(path, "re");
  struct bn_node *n = NULL;
  const char *format;
  char block[4096];
  size_t len;
  bool foreign;

  while (f != NULL && (len = fread(block, 1, sizeof block, f)) > 0)
    if (bn_buf_add(&text, block, len) != 0)
      break;
  if (f != NULL && !text.failed && text.len > 0)
    n = js->parse(text.data, text.len, NULL);
  format = n != NULL && js->type(n) == BN_NODE_MAP ? js->get_text(js->get(n, "format")) : NULL;
  foreign = n != NULL && (format == NULL || strcmp(format, "bench result") != 0);
  js->free(n);
  bn_buf_done(&text);
  if (f != NULL)
    (void)fclose(f);
  return foreign;
}

int bn_results_load(const struct bn_store *js, const char *path, bool totals, struct bn_stored *out,
                    struct bn_err *err)
{
  if ((totals ? bn_store_load_totals(js, path, out, err)
              : bn_store_load(js, path, false, out, err)) == 0)
    return 1;
  return is_foreign(js, path) ? 0 : -1;
}

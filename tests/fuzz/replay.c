/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The main function of the fuzz targets in builds without libFuzzer: runs the target once for each
   file that the command line names or that is below a folder that it names, in the order of the
   names.  Prints a line for each file after its run, in the form of cmocka. */
#include <fts.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int by_name(const FTSENT **a, const FTSENT **b)
{
  return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* Returns a buffer of exactly this size, so that AddressSanitizer sees each read beyond it. */
static uint8_t *read_input(const char *path, size_t size)
{
  FILE *in = fopen(path, "rb");
  uint8_t *data = in != NULL ? malloc(size) : NULL;

  if (data != NULL && fread(data, 1, size, in) != size) {
    free(data);
    data = NULL;
  }
  if (in != NULL)
    (void)fclose(in);
  return data;
}

/* The path from the folder of the file. */
static const char *input_name(const char *path)
{
  const char *name = path + strlen(path);

  for (int slashes = 0; name > path && (name[-1] != '/' || ++slashes < 2);)
    name--;
  return name;
}

static int replay(const FTSENT *file)
{
  const size_t size = (size_t)file->fts_statp->st_size;
  uint8_t *data = read_input(file->fts_accpath, size);

  if (data == NULL) {
    fprintf(stderr, "cannot read '%s'\n", file->fts_path);
    return -1;
  }
  (void)LLVMFuzzerTestOneInput(data, size);
  free(data);
  printf("[       OK ] %s\n", input_name(file->fts_path));
  return fflush(stdout);
}

int main(int argc, char **argv)
{
  FTS *files = argc > 1 ? fts_open(argv + 1, FTS_LOGICAL | FTS_NOCHDIR, by_name) : NULL;
  size_t runs = 0, faults = 0;

  for (FTSENT *file; files != NULL && (file = fts_read(files)) != NULL;) {
    if (file->fts_info == FTS_D || file->fts_info == FTS_DP)
      continue;
    runs++;
    faults += replay(file) != 0;
  }
  if (runs == 0)
    fprintf(stderr, "%s: no inputs; name files or folders\n", argv[0]);
  if (files != NULL)
    (void)fts_close(files);
  return runs == 0 || faults > 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzzes the reader of results: the input is a document or a journal.  What it takes must print,
   must be the same after it was written anew, and may be merged with a run of the same figures. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "measure/merge.h"
#include "measure/reporters.h"
#include "measure/store.h"
#include "report/reporters.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int load(const void *data, size_t size, struct bn_stored *out)
{
  const int fd = memfd_create("result", 0);
  struct bn_err err = {0};
  char path[64];
  int rc;

  if (fd < 0 || write(fd, data, size) != (ssize_t)size)
    abort();
  (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  rc = bn_store_load(path, BN_BOUND_FILE_BYTES, true, out, &err);
  if (rc != 0 && err.text[0] == '\0')
    abort();
  (void)close(fd);
  return rc;
}

static char *print(const struct bn_result *r, size_t *len)
{
  struct bn_node *document = bn_store_document(r, NULL);
  char *text = document != NULL ? bn_node_print(document, 0, len) : NULL;

  bn_node_free(document);
  return text;
}

static void compare(const char *text, size_t len)
{
  struct bn_stored again;
  size_t len_again = 0;
  char *text_again;

  if (load(text, len, &again) != 0)
    abort();
  text_again = print(&again.result, &len_again);
  if (text_again == NULL || len_again != len || memcmp(text, text_again, len) != 0)
    abort();
  free(text_again);
  bn_stored_done(&again);
}

static int replay(const struct bn_result *r, FILE *out, struct bn_err *err)
{
  const struct bn_report_use use = {.ops = &bn_reporter_text, .out = out};
  struct bn_reporters reporters;
  bool ok;

  bn_reporters_init(&reporters, &use, 1);
  reporters.err = err;
  ok = bn_reporters_open(&reporters, NULL) && bn_reporters_replay(&reporters, r);
  ok &= bn_reporters_close(&reporters, NULL);
  bn_reporters_done(&reporters);
  return ok ? 0 : -1;
}

/* Nothing that a terminal acts on. */
static void report(struct bn_result *r)
{
  struct bn_err err = {0};
  char *text = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&text, &len);

  bn_result_escape(r);
  if (out == NULL || replay(r, out, &err) != 0 || fclose(out) != 0)
    abort();
  for (size_t i = 0; i < len; i++)
    if (((unsigned char)text[i] < 0x20 && text[i] != '\n') || text[i] == 0x7f)
      abort();
  free(text);
}

/* Prints the result, and again after it was read. */
static void check(struct bn_result *r)
{
  size_t len = 0;
  char *text = print(r, &len);

  if (text != NULL)
    compare(text, len);
  free(text);
  report(r);
}

/* With a run that began at another time, from other random numbers. */
static void merge(const struct bn_result *r, const void *data, size_t size)
{
  struct bn_buf notes = {.max = 0};
  struct bn_err err = {0};
  struct bn_result sum;
  struct bn_stored other;
  const struct bn_part parts[] = {{"one", r}, {"other", &other.result}};

  if (load(data, size, &other) != 0)
    abort();
  other.result.facts.plan.seed ^= 1;
  other.result.facts.start_wall_ns += other.result.facts.plan.seed % 5;
  if (bn_merge(parts, 2, BN_MERGE_FORCED, &sum, &notes, &err) == 0)
    check(&sum);
  else if (err.text[0] == '\0')
    abort();
  bn_result_done(&sum);
  bn_stored_done(&other);
  bn_buf_done(&notes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  struct bn_stored stored;

  if (load(data, size, &stored) != 0)
    return 0;
  merge(&stored.result, data, size);
  check(&stored.result);
  bn_stored_done(&stored);
  return 0;
}

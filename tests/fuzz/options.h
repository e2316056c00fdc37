/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A table with an option of every type, for the targets that feed the option set. */
#ifndef BN_FUZZ_OPTIONS_H
#define BN_FUZZ_OPTIONS_H

#include <stddef.h>

#include "dialect/dialect.h"
#include "option/opt.h"

struct fuzz_values {
  bool flag;
  int64_t count;
  uint64_t bytes;
  double ratio, span;
  char *text, *path;
  int choice;
  struct bn_list last, all;
};

static const char *const fuzz_choices[] = {"one", "two", "three", NULL};

#define FUZZ_OPT(opt_name, opt_type, field)                                                        \
  .name = (opt_name), .type = (opt_type), .in = BN_IN_ALL,                                         \
  .offset = offsetof(struct fuzz_values, field), .help = "a value"

static const struct bn_opt fuzz_options[] = {
    {FUZZ_OPT("flag", BN_BOOL, flag), .def = "off"},
    {FUZZ_OPT("count", BN_INT, count), .def = "1", .min = 1, .max = 1000},
    {FUZZ_OPT("bytes", BN_SIZE, bytes), .def = "1M"},
    {FUZZ_OPT("ratio", BN_DOUBLE, ratio), .def = "0.5"},
    {FUZZ_OPT("span", BN_SECONDS, span), .def = "10s"},
    {FUZZ_OPT("text", BN_STRING, text)},
    {FUZZ_OPT("path", BN_PATH, path), .def = "x"},
    {FUZZ_OPT("choice", BN_CHOICE, choice), .def = "two", .choices = fuzz_choices},
    {FUZZ_OPT("last", BN_LIST, last), .def = "a,b"},
    {FUZZ_OPT("all", BN_LIST, all), .repeat = true},
    BN_OPT_END};

/* Any value that came through must be one the table allows. */
static inline int fuzz_values_allowed(const struct fuzz_values *v)
{
  return v->count >= 1 && v->count <= 1000 && v->choice >= 0 && v->choice <= 2;
}

#endif

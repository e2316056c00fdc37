/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzzes the readers of sizes, numbers and durations: what they accept must survive a round trip.
 */
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_int(const char *text)
{
  int64_t value, again;
  char printed[32];

  if (bn_units_parse_int(text, &value) != 0)
    return;
  snprintf(printed, sizeof printed, "%" PRId64, value);
  if (bn_units_parse_int(printed, &again) != 0 || again != value)
    abort();
}

static void check_size(const char *text)
{
  uint64_t value, again;
  char printed[32];

  if (bn_units_parse_size(text, &value) != 0)
    return;
  snprintf(printed, sizeof printed, "%" PRIu64, value);
  if (bn_units_parse_size(printed, &again) != 0 || again != value)
    abort();
  if (strlen(bn_units_format_size(printed, sizeof printed, value, true)) >= sizeof printed)
    abort();
}

static void check_real(const char *text)
{
  double value;
  bool on;

  if (bn_units_parse_double(text, &value) == 0 && !isfinite(value))
    abort();
  if (bn_units_parse_number(text, &value) == 0 && !isfinite(value))
    abort();
  if (bn_units_parse_duration(text, &value) == 0 && !isfinite(value))
    abort();
  (void)bn_units_parse_bool(text, &on);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  char *text = malloc(size + 1);

  if (text == NULL)
    return 0;
  memcpy(text, data, size);
  text[size] = '\0';
  check_int(text);
  check_size(text);
  check_real(text);
  free(text);
  return 0;
}

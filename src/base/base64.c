/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Base64 (RFC 4648) with padding, on one line. */
#include "base/base64.h"

#include <stdint.h>

enum { GROUP = 3 }; /* bytes that four characters stand for */

static int add_group(struct bn_buf *b, const unsigned char *p, size_t n)
{
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const uint32_t bits =
      (uint32_t)p[0] << 16 | (n > 1 ? (uint32_t)p[1] << 8 : 0) | (n > 2 ? p[2] : 0);
  const char text[4] = {digits[bits >> 18], digits[bits >> 12 & 63],
                        n > 1 ? digits[bits >> 6 & 63] : '=', n > 2 ? digits[bits & 63] : '='};

  return bn_buf_add(b, text, sizeof text);
}

int bn_base64_add(struct bn_buf *b, const void *data, size_t len)
{
  const unsigned char *p = data;
  int rc = 0;

  for (size_t i = 0; rc == 0 && i < len; i += GROUP)
    rc = add_group(b, p + i, len - i < GROUP ? len - i : GROUP);
  return rc;
}

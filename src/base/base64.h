/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Base64 (RFC 4648) with padding, on one line. */
#ifndef BN_BASE_BASE64_H
#define BN_BASE_BASE64_H

#include <stddef.h>

#include "base/buf.h"

/* Appends the data in Base64.  Returns 0, or -1 if the buffer has failed. */
int bn_base64_add(struct bn_buf *b, const void *data, size_t len);

#endif

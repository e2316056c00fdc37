/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies to and from mapped files that report a bus error instead of dying of it. */
#ifndef BN_TESTS_FILEIO_BUSTRAP_H
#define BN_TESTS_FILEIO_BUSTRAP_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Installs the handler; *old is what bn_bustrap_remove puts back.  Before threads copy and after
   they have; main thread only.  0, or -1 and err. */
int bn_bustrap_install(struct sigaction *old, struct bn_err *err);
void bn_bustrap_remove(const struct sigaction *old);
/* Any thread, while installed.  false: a page of the mapping cannot be had (the file has shrunk,
   the device failed or is full); a part may have been copied. */
bool bn_bustrap_copy(void *to, const void *from, size_t n);

#endif

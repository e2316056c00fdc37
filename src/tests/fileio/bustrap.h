/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies to and from mapped files and reports a bus error instead of ending the program. */
#ifndef BN_TESTS_FILEIO_BUSTRAP_H
#define BN_TESTS_FILEIO_BUSTRAP_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Installs the handler, before threads copy; *old is the previous one.  Main thread only.  Returns
   0, or -1 and err. */
int bn_bustrap_install(struct sigaction *old, struct bn_err *err);
/* Installs the previous handler again, after all threads have copied.  Main thread only. */
void bn_bustrap_remove(const struct sigaction *old);
/* Copies; any thread, while installed.  Returns false if a page of the mapping is not available
   (the file has shrunk, the device failed or is full); a part may have been copied. */
bool bn_bustrap_copy(void *to, const void *from, size_t n);

#endif

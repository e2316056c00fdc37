/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The engines that are part of the program. */
#ifndef BN_TESTS_FILEIO_ENGINES_H
#define BN_TESTS_FILEIO_ENGINES_H

#include "api/ioengine.h"

/* The values of --file-io-mode, and their names, by which all engines are found. */
enum bn_io_mode { BN_IO_SYNC, BN_IO_ASYNC, BN_IO_MMAP, BN_IO_URING };
extern const char *const bn_fileio_io_modes[];
/* Returns the engine of that name, from the program or its module; NULL and err: it is not
   installed. */
const struct bn_ioengine *bn_fileio_find_engine(const char *name, struct bn_err *err);

extern const struct bn_ioengine bn_engine_sync, bn_engine_mmap;

/* Executes r at once with plain system calls, after its first `done` bytes have been moved, and
   sets its result.  Any thread. */
void bn_io_execute(int fd, struct bn_io_req *r, size_t done);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bounds of a result that is read from a file, so that a file of unknown origin cannot take all
   memory.  Each bound is above what a run of a week with intervals of one second writes.  Such a
   document of fileio has 316 values and 6.8 kB per interval with 32 percentiles; a journal is read
   line by line and may be as long as it likes. */
#ifndef BN_MEASURE_BOUNDS_H
#define BN_MEASURE_BOUNDS_H

#include <stdint.h>

#define BN_BOUND_FILE_BYTES   (UINT64_C(8) << 30) /* of a document */
#define BN_BOUND_RECORD_BYTES (UINT64_C(8) << 30) /* memory of the intervals and checkpoints */

enum {
  BN_BOUND_LINE_BYTES = 1 << 26, /* of a journal */
  BN_BOUND_VALUES = 1 << 28,     /* of a document, or of a line of a journal; 130 bytes each */
  BN_BOUND_GROUPS = 1 << 9,      /* of sessions; one of each of 256 hosts, and one of all */
  BN_BOUND_NAME = 64,            /* bytes of a metric's name, which each record has */
  BN_BOUND_METRICS = 1 << 9,     /* of a group */
  BN_BOUND_HISTOGRAMS = 96,      /* of them; up to 396 KiB each */
  BN_BOUND_SESSIONS = 1000000,   /* of a group; as --threads */
  BN_BOUND_FACTS = 1 << 12,      /* in all sections; each is compared with those before it */
  BN_BOUND_ROWS = 1 << 12,       /* lines that a workload says about itself */
  BN_BOUND_MESSAGES = 1 << 12,
  BN_BOUND_ASSERTIONS = 1 << 12,
  BN_BOUND_OPTIONS = 1 << 16,   /* with those of a script */
  BN_BOUND_INTERVALS = 1 << 22, /* of a group */
  BN_BOUND_CHECKPOINTS = 1 << 16
};

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text that a reporter writes as the run goes on: at once, in one piece, and errors are kept. */
#ifndef BN_REPORT_OUTPUT_H
#define BN_REPORT_OUTPUT_H

#include <stdio.h>

#include "base/err.h"

struct bn_output {
  FILE *out; /* borrowed */
  int error; /* of the first failed write; 0: none, -1: some earlier write of others failed */
};

/* Messages of other threads go to the same file: they wait until what follows is complete. */
void bn_output_begin(struct bn_output *o);
/* It leaves the buffer at once, so that a reader of a pipe sees it. */
void bn_output_end(struct bn_output *o);
/* 0, or -1: something was not written. */
int bn_output_verdict(const struct bn_output *o, struct bn_err *err);

#endif

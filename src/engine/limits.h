/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Limits of the host on threads, stacks and open files: raised if possible, and named once met. */
#ifndef BN_ENGINE_LIMITS_H
#define BN_ENGINE_LIMITS_H

#include "base/buf.h"
#include "base/err.h"

/* Raises the soft limit on open files to the need of the sessions, within the hard limit.  If that
   fails or is too little, bn_limits_report_files tells the user once the limit is met. */
void bn_limits_allow_files(unsigned sessions);
/* Logs err, the sentence that a thread cannot be started, with the present values of the limits
   that are the usual causes. */
void bn_limits_log_failure(const struct bn_err *err);
/* Appends the present values of the limits on threads, "ulimit -u 500, pids.max 60 of the control
   group '/a' (59 in use)", from files below `root`; "" is the host's. */
void bn_limits_append_thread_limits(struct bn_buf *b, const char *root);
/* Logs that a statement has no stack (base/fiber.h), and the limits that are the usual causes. */
void bn_limits_report_stacks(void);
/* Logs how to raise the limit on open files, if the process has met it.  The caller has seen a
   session fail. */
void bn_limits_report_files(unsigned sessions);

#endif

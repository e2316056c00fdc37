/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arguments that were pasted from a document. */
#ifndef BN_CLI_PASTED_H
#define BN_CLI_PASTED_H

/* Whether the argument begins with a dash of texts, or has a blank that is none to the shell around
   its name or value.  0; -1: it has been told which one. */
int bn_cli_check_pasted(const char *arg, int position);

#endif

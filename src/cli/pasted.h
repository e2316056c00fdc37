/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Refuses arguments that were pasted from a document. */
#ifndef BN_CLI_PASTED_H
#define BN_CLI_PASTED_H

/* Checks that the argument does not begin with a typographic dash, and that its name and value are
   not next to a blank that the shell does not take for one.  Returns 0, or -1: a message has named
   the character. */
int bn_cli_check_pasted(const char *arg, int position);

#endif

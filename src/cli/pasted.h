/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Refuses arguments that were pasted from a document. */
#ifndef BN_CLI_PASTED_H
#define BN_CLI_PASTED_H

/* Refuses an argument, number `position`, that begins with a typographic dash, or that has, beside
   its name or value, a character that looks like a blank but is none for the shell.  Returns 0, or
   -1 after a message that names the character. */
int bn_cli_check_pasted(const char *arg, int position);

#endif

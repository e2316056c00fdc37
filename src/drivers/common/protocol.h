/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The choices of --mysql-protocol and --pgsql-protocol: the code that writes statements and reads
   answers. */
#ifndef BN_DRIVERS_COMMON_PROTOCOL_H
#define BN_DRIVERS_COMMON_PROTOCOL_H

enum bn_protocol { BN_PROTOCOL_AUTO, BN_PROTOCOL_OWN, BN_PROTOCOL_LIBRARY };

#define BN_PROTOCOL_WORDS                                                                          \
  {                                                                                                \
    "auto", "own", "library", NULL                                                                 \
  }

#endif

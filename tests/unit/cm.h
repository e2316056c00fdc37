/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmocka with the headers it wants before it. */
#ifndef BN_TESTS_CM_H
#define BN_TESTS_CM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#endif

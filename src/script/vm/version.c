/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which LuaJIT the program was built with. */
#include <luajit.h>
#include <string.h>

#include "script/script.h"

const char *bn_script_luajit(void)
{
  static const char version[] = LUAJIT_VERSION;
  const char *space = strchr(version, ' ');

  return space != NULL ? space + 1 : version;
}

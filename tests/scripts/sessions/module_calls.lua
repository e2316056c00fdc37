-- SPDX-License-Identifier: GPL-2.0-or-later
-- A module in the style of Lua 5.1: module() with package.seeall, and globals of its own.

local old = require("old_style")

function thread_init(tid)
  old.open(tid)
end

function event(tid)
  old_style.count()
  print(("[%d]"):format(tid), old == old_style, old_style.n, n, old.describe(),
    package.loaded[old._NAME] == old)
end

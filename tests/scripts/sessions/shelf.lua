-- SPDX-License-Identifier: GPL-2.0-or-later
-- The module of modules.lua.

local M = {count = 0, taken = 0}
local words = {}
local con

shelf_global = "set by a module"

function M.open(owner)
  M.owner = owner
  con = sysbench.sql.driver():connect()
end

function M.put(word)
  M.count = M.count + 1
  words[#words + 1] = word
  con:query(("SELECT '%s', %d"):format(word, #words))
end

function M.take()
  local word = table.remove(words, 1)
  M.taken = M.taken + 1
  con:query(("SELECT 'took %s'"):format(word))
end

return M

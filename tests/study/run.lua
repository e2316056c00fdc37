-- SPDX-License-Identifier: GPL-2.0-or-later
-- Runs unit tests of Lua: bench study tests/study/run.lua FILE...
-- A file returns a table of functions by what each shows.  For each, a line "ok NAME" or
-- "not ok NAME: why" is printed.  Exit status 1: one failed.

-- Runs a file's functions in the order of their names, and returns how many failed.
local function run_file(path)
  local names, failed = {}, 0
  local tests = assert(loadfile(path))()
  for name in pairs(tests) do
    names[#names + 1] = name
  end
  table.sort(names)
  for _, name in ipairs(names) do
    local ok, why = xpcall(tests[name], function(message)
      return debug.traceback(tostring(message))
    end)
    print(ok and "ok " .. name or "not ok " .. name .. ": " .. why)
    failed = failed + (ok and 0 or 1)
  end
  return failed
end

_G.study = {
  title = "run unit tests of Lua",
  operands = "FILE...",
  min_operands = 1,
  run = function(_, operands)
    local failed = 0
    for _, path in ipairs(operands) do
      failed = failed + run_file(path)
    end
    return failed == 0 and 0 or 1
  end,
}

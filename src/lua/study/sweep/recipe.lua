-- SPDX-License-Identifier: GPL-2.0-or-later
-- This module reads files of sweeps, of which each line is NAME = WORDS.

local native = require("study.native")

local recipe = {}

local most = 64

-- Returns the path of a file: one in the working folder comes before a bundled one.
local function find(name)
  if name:find("/", 1, true) or native.kind(name) then return name end
  local folder, bundled = native.data_folder(), {}
  local path = ("%s/%s.sweep"):format(folder, name)
  if native.kind(path) then return path end
  for _, file in ipairs(native.list(folder) or {}) do
    bundled[#bundled + 1] = file:match("^(.*)%.sweep$")
  end
  native.fail("--from=%s: there is no such file, and none is bundled; bundled: %s", name:sub(1, 64),
    table.concat(bundled, ", "))
end

local function refuse(path, line, form, ...)
  native.fail("%s:%d: %s", path:sub(1, 100), line, native.escape(form:format(...)))
end

-- Returns a list of {name =, words = {…}, line =, path =}.
function recipe.read(name)
  local path, seen = find(name), {}
  local lines = native.check(native.settings(path))
  for i, line in ipairs(lines) do
    if not line.name:find("^[%w_-]+$") then
      refuse(path, line.line, "the name '%s' names a folder; use only letters, digits, '-' and '_'",
        line.name:sub(1, 64))
    elseif seen[line.name] then
      refuse(path, line.line, "the name '%s' is used twice", line.name:sub(1, 64))
    elseif i > most then
      refuse(path, line.line, "too many sweeps; allowed: up to %d", most)
    end
    seen[line.name] = true
    line.path = path
  end
  if #lines == 0 then
    native.fail("%s: this file has no sweep; write lines NAME = WORDS", path:sub(1, 256))
  end
  return lines
end

-- Returns the values of the options in a line, which of them are given, and the words of the run.
function recipe.parse(line, options, operands)
  local values, given, words = native.parse(options, line.words)
  if not values then refuse(line.path, line.line, "%s", given:sub(1, 300)) end
  for _, word in ipairs(operands) do words[#words + 1] = word end
  return values, given, words
end

return recipe

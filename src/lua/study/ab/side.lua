-- SPDX-License-Identifier: GPL-2.0-or-later
-- A side of a study is the command line of its runs, and the statement that is executed before
-- each.

local messages = require("study.messages")
local native = require("study.native")

local side = {}
side.__index = side

-- Options: the text of the option --NAME, which is split into words.  Those that begin with '-'
-- stand behind the operands, where they win, and others in front, where the name of a test is.
function side.new(name, program, options, statement, operands)
  local words, why = native.words(options or "")
  if not words then native.fail("--%s: %s", name, why) end
  local front, behind = {program or native.program}, {}
  for _, word in ipairs(words) do
    table.insert(word:sub(1, 1) == "-" and behind or front, word)
  end
  for _, list in ipairs{operands, behind} do
    for _, word in ipairs(list) do front[#front + 1] = word end
  end
  return setmetatable({words = front, statement = statement}, side)
end

-- Returns whether the same program runs with the same arguments after the same statement.
function side.equals(a, b)
  for i = 1, math.max(#a.words, #b.words) do
    if a.words[i] ~= b.words[i] then return false end
  end
  return (a.statement or "") == (b.statement or "")
end

-- Runs a program with these arguments.  Returns true, or nil and why `what` failed.
local function execute(argv, what, scratch)
  local printed = scratch .. "/messages"
  local ended, why = native.child{argv = argv, out = printed, errors = printed}
  if not ended then return nil, why end
  if ended.status == 0 then return true end
  local sentence = messages.quote(printed)
  if sentence == "" then sentence = "it printed no message" end
  if ended.signal then
    return nil, ("%s was ended by signal %d: %s"):format(what, ended.signal, sentence)
  end
  return nil, ("%s failed with status %d: %s"):format(what, ended.status, sentence)
end

-- A run for the statement needs the options with which a connection is made.
local function is_of_connection(word)
  local name = word:match("^%-%-([^=]+)")
  local traits = name and native.traits(name) or {}
  return traits.endpoint or traits.connects
end

-- The statement stands in a script, because in the list of processes everybody could read it.
-- Enough '=' make the quotes, which the statement does not have behind a ']'.
local script = [[
function prepare()
  local connection = sysbench.sql.driver():connect()
  connection:query([%s[
%s]%s])
  connection:disconnect()
end
]]

local function execute_statement(self, scratch)
  local path, level = scratch .. "/statement.lua", ""
  while self.statement:find("]" .. level, 1, true) do level = level .. "=" end
  local ok, why = native.replace(path, script:format(level, self.statement, level))
  if not ok then return nil, why end
  local argv = {self.words[1], path}
  for i = 2, #self.words do
    if is_of_connection(self.words[i]) then argv[#argv + 1] = self.words[i] end
  end
  argv[#argv + 1] = "prepare"
  return execute(argv, "the statement", scratch)
end

-- Executes the statement, then the run, which writes a result.  Returns true, or nil and what
-- failed; a run that was interrupted has failed too.  scratch: a folder for files of no use after a
-- run.
function side:run(result, scratch)
  if self.statement then
    local ok, why = execute_statement(self, scratch)
    if not ok then return nil, why end
  end
  local argv = {unpack(self.words)}
  argv[#argv + 1] = "--report=json:" .. result
  return execute(argv, "the run", scratch)
end

return side

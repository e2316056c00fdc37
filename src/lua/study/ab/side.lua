-- SPDX-License-Identifier: GPL-2.0-or-later
-- A side of a study is the command line of its runs, and what is executed before each: statements,
-- then a command.

local invocation = require("study.invocation")
local native = require("study.native")
local settings = require("study.ab.settings")

local side = {}
side.__index = side

-- Returns the words of the option --NAME.
local function read_words(name, text)
  local words, why = native.words(text or "")
  if not words then native.fail("--%s: %s", name, why) end
  return words
end

-- A side "a" or "b" with the options that are given.  The words of --a that begin with '-' stand
-- after the operands, where they win, and others in front, where the name of a test is.
function side.new(name, given, operands)
  local front, own = {given[name .. "_program"] or native.program}, {}
  for _, word in ipairs(read_words(name, given[name])) do
    table.insert(word:sub(1, 1) == "-" and own or front, word)
  end
  for _, list in ipairs{operands, own} do
    for _, word in ipairs(list) do front[#front + 1] = word end
  end
  return setmetatable({
    name = name:upper(), words = front, own = own, before = {},
    statements = settings.read(name .. "-set", given[name .. "_set"]),
    command = read_words(name .. "-exec", given[name .. "_exec"]),
  }, side)
end

local function has_words_of(a, b)
  return table.concat(a, "\0") == table.concat(b, "\0")
end

-- Returns whether the same command is executed before the runs.
function side.has_command_of(a, b)
  return has_words_of(a.command, b.command)
end

-- A run for statements needs the options with which a connection is made.  A file of options may
-- have some of them.
local function is_of_connection(name)
  local traits = native.traits(name)
  return traits.endpoint or traits.connects or name:gsub("_", "-") == "config-file"
end

-- Refuses a command line without the command "run", which would fail in the first round, and an
-- option that no group of the run takes.
function side:check()
  invocation.find_run(self.words)
  for _, word in ipairs(self.own) do
    local name = word:match("^%-%-([%w_-]+)")
    local is_of_group = word:match("^%-%-[%w_-]+%.")
    if name and not is_of_group and name ~= "group" then
      invocation.check_varied(self.words, name, ("--%s=--%s"):format(self.name:lower(), name))
    end
  end
end

-- Refuses an option of the connection that only a group has: statements of either side go to the
-- server of the options outside of the groups, and before the runs of the other side to set
-- variables back.
function side:check_server()
  local name, group = invocation.find_of_groups_only(self.words, is_of_connection)
  if name then
    native.fail("side %s: the statements of --a-set and --b-set go to the server of the options "
      .. "outside of the groups, but --%s stands in the group %s; give it outside of the groups "
      .. "too", self.name, name, group)
  end
end

-- Returns whether the same program runs with the same arguments after the same settings.
function side.equals(a, b)
  return has_words_of(a.words, b.words) and has_words_of(a.statements, b.statements)
    and a:has_command_of(b)
end

-- Runs a program with these arguments.  Returns true, or nil and why `what` failed; then what it
-- has printed, if that is asked for.
local function execute(argv, what, scratch, asks)
  local printed = scratch .. "/messages"
  local ended, why = native.child{
    argv = argv, out = not asks and printed or nil, errors = printed, capture = asks}
  if not ended then return nil, why end
  if ended.status == 0 then return true, nil, ended.output end
  local sentence = invocation.quote_errors(printed)
  if sentence == "" then sentence = "it printed no message" end
  if ended.signal then
    return nil, ("%s was ended by signal %d: %s"):format(what, ended.signal, sentence), ended.output
  end
  return nil, ("%s failed with status %d: %s"):format(what, ended.status, sentence), ended.output
end

-- Runs a script for the settings, as `execute` does.  The statements stand in it, because in the
-- list of processes everybody could read them.
local function run_script(self, script, what, scratch)
  local path = scratch .. "/statement.lua"
  local ok, why = native.replace(path, script)
  if not ok then return nil, why end
  local argv = {self.words[1], path}
  for i = 2, #self.words do
    local name = self.words[i]:match("^%-%-([^=]+)")
    if name and is_of_connection(name) then argv[#argv + 1] = self.words[i] end
  end
  argv[#argv + 1] = "prepare"
  return execute(argv, what, scratch, true)
end

-- Executes statements.  Returns true, or nil and which failed, and why.
function side:set(statements, scratch)
  if #statements == 0 then return true end
  local script = settings.execution(statements, #self.command > 0)
  local ok, why, printed = run_script(self, script, "a statement", scratch)
  local last = printed and printed:match("%z([^%z]*)%z$")
  if not ok and last and not why:find(last, 1, true) then
    why = ("%s, for '%s'"):format(why, native.escape(settings.masked(last)))
  end
  return ok, why
end

-- Executes the command.
function side:apply(scratch)
  if #self.command == 0 then return true end
  return execute(self.command, "the command", scratch)
end

-- Returns the statements that give variables the values that they have now, by name; or nil and why
-- not.
local function ask(self, variables, scratch)
  local ok, why, printed = run_script(
    self, settings.question(variables), "the question for the values of before", scratch)
  if not ok then return nil, why end
  return settings.answer(variables, printed)
end

-- Reads the values that variables have.  Returns true, or nil and why not.
function side:remember(variables, scratch)
  if #variables == 0 then return true end
  local before, why = ask(self, variables, scratch)
  if not before then return nil, why end
  self.before = before
  return true
end

-- Returns whether variables have their values of before now.
function side:is_as_before(variables, scratch)
  local now = ask(self, variables, scratch)
  for _, one in ipairs(variables) do
    if not now or now[one.name] ~= self.before[one.name] then return false end
  end
  return true
end

-- Returns the statements that give the variables of a study their values of before again, but for
-- those that the statements of `except` set.
function side:restoration(variables, except)
  local own, list = {}, {}
  for _, statement in ipairs(except) do own[settings.variable(statement) or ""] = true end
  for _, one in ipairs(variables) do
    if not own[one.name] then list[#list + 1] = self.before[one.name] end
  end
  return list
end

-- Returns the statements whose effect no restoration ends.
function side:lasting()
  local list = {}
  for _, statement in ipairs(self.statements) do
    if settings.lasts(statement, self.before) then list[#list + 1] = statement end
  end
  return list
end

-- Executes the settings, then the run, which writes a result.  A variable that only the other side
-- sets has its value of before.  Returns true, or nil and what failed; a run that was interrupted
-- has failed too.  scratch: a folder for files of no use after a run.
function side:run(variables, result, scratch)
  local statements = self:restoration(variables, self.statements)
  for _, statement in ipairs(self.statements) do statements[#statements + 1] = statement end
  local ok, why = self:set(statements, scratch)
  if ok then ok, why = self:apply(scratch) end
  if not ok or native.signalled() then return nil, why end
  local argv = {unpack(self.words)}
  argv[#argv + 1] = "--report=json:" .. result
  return execute(argv, "the run", scratch)
end

return side

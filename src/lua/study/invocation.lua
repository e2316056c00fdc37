-- SPDX-License-Identifier: GPL-2.0-or-later
-- This module knows the command line of a run that a study starts.

local native = require("study.native")

local invocation = {}
invocation.__index = invocation

-- Returns the general option that a word sets, such as "--tx_rate=5", as native.option has it; nil:
-- there is none.
function invocation.word_option(word)
  local name = word:match("^%-%-([^=]*)")
  return name and native.option(name)
end

-- Returns whether a run with these words is one of a dialect.
function invocation.words_choose_dialect(words)
  for _, word in ipairs(words) do
    local option = invocation.word_option(word)
    if option and option.name == "compat" then return true end
  end
  return native.dialect() ~= nil
end

-- Returns which word is the command "run", or fails.
function invocation.find_run(words)
  for i = #words, 1, -1 do
    if words[i] == "run" then return i end
  end
  native.fail("the command 'run' is missing; write the command line of a run after the options, "
    .. "such as: oltp_read_write --tables=4 run")
end

-- Returns the words of a run, from a test to "run", which a study is to vary.
function invocation.read(words)
  for _, word in ipairs(words) do
    local option = invocation.word_option(word)
    if option and option.name == "report" then
      native.fail("--report cannot be given: each run writes a result and a text report into the "
        .. "folder of --out")
    end
  end
  return setmetatable({words = words, command = invocation.find_run(words)}, invocation)
end

-- Returns the words without secrets.
function invocation:shown()
  local shown = {}
  for i, word in ipairs(self.words) do shown[i] = native.mask(word) end
  return shown
end

-- Returns the arguments that run a command, "run" or another in its place, with more words.
function invocation:argv(command, more)
  local argv = {native.program}
  for i, word in ipairs(self.words) do argv[i + 1] = i == self.command and command or word end
  for _, word in ipairs(more) do argv[#argv + 1] = word end
  return argv
end

return invocation

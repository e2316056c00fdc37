-- SPDX-License-Identifier: GPL-2.0-or-later
-- This module knows the command line of a run that a study starts, and what the run says if it
-- fails.

local native = require("study.native")

local invocation = {}
invocation.__index = invocation

-- Returns the general option that a word sets, such as "--tx_rate=5", as native.option has it; nil:
-- there is none.
function invocation.word_option(word)
  local name = word:match("^%-%-([^=]*)")
  return name and native.option(name)
end

-- Returns an option by its present name, with '-'.
function invocation.present_name(name)
  local option = native.option(name)
  return (option and (option.alias_of or option.name) or name):gsub("_", "-")
end

-- Returns the groups of a run with these words: a list of {name =, own = the values of its own
-- options by their names, workloads = "./a.lua@8 ./b.lua@2"}.
function invocation.groups(words)
  local groups, by_name = {}, {}
  local function set(group, word)
    local name, value = word:match("^%-%-([^=]*)=?(.*)$")
    if name then group.own[invocation.present_name(name)] = value end
  end
  for _, word in ipairs(words) do
    local text = word:match("^%-%-group=(.*)$")
    for _, list in ipairs(text and native.groups(text) or {}) do
      local name, rest = (list[1] or ""):match("^([%w_]*)(.*)$")
      local group, workloads = {name = name, own = {}}, {}
      -- The colon follows the name, or stands in the next word.
      list[1] = rest
      local colon = rest ~= "" and 1 or 2
      list[colon] = list[colon] and list[colon]:gsub("^:", "")
      for _, own in ipairs(list) do
        set(group, own)
        if own ~= "" and not own:find("^%-%-") then workloads[#workloads + 1] = own end
      end
      group.workloads = table.concat(workloads, " ")
      groups[#groups + 1], by_name[group.name] = group, group
    end
  end
  for _, word in ipairs(words) do
    local name, option = word:match("^%-%-([%w_]+)%.(.*)$")
    if by_name[name] then set(by_name[name], "--" .. option) end
  end
  return groups
end

-- Raises an error if an option is varied of which each group has a value of its own: no run would
-- differ.  shown: the option of the study that names it, "--vary=threads".
function invocation.check_varied(words, name, shown)
  local groups = invocation.groups(words)
  if #groups == 0 then return end
  for _, group in ipairs(groups) do
    if not group.own[invocation.present_name(name)] then return end
  end
  native.fail("%s: each group has its own --%s, so this changes nothing; write %s.%s for that of "
    .. "one group", shown, name, groups[1].name, name)
end

-- Returns the name of an option that a group has and the words outside of groups do not have, of
-- those for whose names `is_wanted` returns true, and the name of the group; nil: there is none.
function invocation.find_of_groups_only(words, is_wanted)
  local outside = {}
  for _, word in ipairs(words) do
    local name = word:match("^%-%-([^=]*)")
    if name then outside[invocation.present_name(name)] = true end
  end
  for _, group in ipairs(invocation.groups(words)) do
    for name in pairs(group.own) do
      if is_wanted(name) and not outside[name] then return name, group.name end
    end
  end
end

-- Returns whether a run with a text of --group has a rate, or a profile of it, in each group or in
-- the named one.  outside: the values of options outside of the groups by their names.
function invocation.are_paced(text, name, outside)
  for _, group in ipairs(invocation.groups{"--group=" .. text}) do
    local rate = group.own.rate or outside.rate or "0"
    local profile = group.own["rate-profile"] or outside["rate-profile"] or ""
    local paced = native.number(rate) ~= 0 or profile ~= "" and profile ~= "none"
    if not paced and (not name or name == group.name) then return false end
  end
  return true
end

-- Returns the dialect of a run with these words, as --compat or $BENCH_COMPAT names it; nil: none.
function invocation.dialect(words)
  local dialect = os.getenv("BENCH_COMPAT")
  if dialect == "" then dialect = nil end
  for _, word in ipairs(words) do
    local option = invocation.word_option(word)
    if option and option.name == "compat" then dialect = word:match("=(.*)$") or "" end
  end
  return dialect
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

-- Returns the arguments that run "help" of the script of a group, with the options that stand
-- outside of the groups.
function invocation:help_of_group(group)
  local argv = {native.program}
  for word in group.workloads:gmatch("%S+") do argv[#argv + 1] = word end
  for _, word in ipairs(self.words) do
    local name = word:match("^%-%-([^=]*)")
    if name and name ~= "group" and not name:find(".", 1, true) then argv[#argv + 1] = word end
  end
  argv[#argv + 1] = "help"
  return argv
end

-- Returns the arguments that run a command, "run" or another in its place, with more words.
function invocation:argv(command, more)
  local argv = {native.program}
  for i, word in ipairs(self.words) do argv[i + 1] = i == self.command and command or word end
  for _, word in ipairs(more) do argv[#argv + 1] = word end
  return argv
end

-- Returns what the standard error of a run that failed says: the first FATAL line, or else the last
-- line, for a terminal; "": it says nothing.
function invocation.quote_errors(path)
  local line_most = 500
  local file, said = io.open(path), ""
  if not file then return said end
  for line in file:lines() do
    local fatal = line:match("^FATAL: (.*)")
    if line ~= "" then said = fatal or line end
    if fatal then break end
  end
  file:close()
  return native.escape(said:sub(1, line_most))
end

return invocation

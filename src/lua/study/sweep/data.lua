-- SPDX-License-Identifier: GPL-2.0-or-later
-- This module runs `prepare` and `cleanup` of a command line whenever a run needs other data.
--
-- DIR/data.json says which data are there: {"format": "bench sweep data", "version": 1, "point": N,
-- "whole": BOOL}.

local document = require("study.document")
local grid = require("study.sweep.grid")
local invocation = require("study.invocation")
local native = require("study.native")

local data = {}
data.__index = data

local form, file = "bench sweep data", "data.json"

function data.new(folder, command, axes)
  return setmetatable({folder = folder, command = command, grid = axes}, data)
end

-- Asks a test and its driver which options keep the data, by the words of a command line with the
-- command "help".  Returns a set of names with '-'; without an answer of a run it is empty.
local function ask_for_kept(self, argv)
  local name, kept = "runs/options.txt", {}
  argv[#argv + 1] = "--help-traits"
  local ended = native.check(native.child{argv = argv, out = self.folder:file(name)})
  local said = ended.status == 0 and native.read(self.folder:file(name)) or ""
  for option, traits in said:gmatch("option (%S+) (%d+)") do
    kept[option:gsub("_", "-")] = native.read_traits(tonumber(traits)).keeps_data
  end
  self.folder:remove(name)
  return kept
end

-- Returns a list of {name = of a group, kept = what its script says}; without groups it is of the
-- test of the run, and has no name.
local function list_kept(self)
  local list = {}
  for i, group in ipairs(invocation.groups(self.command.words)) do
    list[i] = {name = group.name, kept = ask_for_kept(self, self.command:help_of_group(group))}
  end
  if #list > 0 then return list end
  return {{kept = ask_for_kept(self, self.command:argv("help", self.grid:words(0)))}}
end

-- Marks the options that change the data.  General options keep them, and so do those of which the
-- test, or each script that gets them, says so.
function data:mark()
  local list
  for _, axis in ipairs(self.grid) do
    axis.of_data = false
    if not grid.option_of(axis) then
      list = list or list_kept(self)
      local group, name = grid.group_of(axis), grid.plain_name(axis):gsub("_", "-")
      for _, one in ipairs(list) do
        local gets_it = not group or not one.name or one.name == group
        if gets_it and not one.kept[name] then axis.of_data = true end
      end
    end
  end
end

-- Returns {point =, whole =} of the data that are there; nil: none.
local function read_there(self)
  local there = self.folder:read(file)
  if not there then return nil end
  local point = type(there.point) == "number" and there.point or 0
  local is_known = point > 0 and point < self.grid.points
  return {point = is_known and point or 0, whole = there.whole == true}
end

-- Notes which data are there.  whole: "prepare" has ended well.
local function write_there(self, point, whole)
  self.folder:write(file, document.map{
    {"format", form}, {"version", 1}, {"point", point}, {"whole", whole}})
end

-- Returns the options of a point, and those with which "prepare" says which files it takes over,
-- also if the runs are quiet.
local function words_of(self, point)
  local words = self.grid:words(point)
  words[#words + 1] = "--verbosity=3"
  if not invocation.dialect(self.command.words) then
    words[#words + 1] = "--quiet=off"
  end
  return words
end

-- Runs "prepare" or "cleanup".  Returns true, or nil and a message.
local function act(self, command, point)
  local errors = self.folder:file(("runs/%s.err"):format(command))
  local ended = native.check(native.child{
    argv = self.command:argv(command, words_of(self, point)),
    out = self.folder:file(("runs/%s.txt"):format(command)), errors = errors})
  self.folder.drop_empty(errors)
  if ended.status == 0 then return true end
  if native.signalled() then return nil, "interrupted during " .. command end
  local said = invocation.quote_errors(errors):sub(1, 256)
  return nil, ("%s failed: %s (%s)%s"):format(command, said, errors,
    command == "prepare" and "; if older data are in the way, remove them with 'cleanup'" or "")
end

-- Returns true, or nil and a message if the last "prepare" said that it took over a file of the
-- test fileio.  Then no file is taken for data of the sweep, so that "cleanup" removes none.
local function check_own(self)
  local said = native.read(self.folder:file("runs/prepare.txt")) or ""
  local older = said:match("Reusing existing file [^\n]*")
    or said:match("Extending existing file [^\n]*")
  if not older then return true end
  self.folder:remove(file)
  return nil, ("%s: the files are not data of the sweep; remove them with 'cleanup', or leave out "
    .. "--prepare"):format(native.escape(older))
end

-- Removes the data that are there.  Returns true, or nil and a message.
function data:drop()
  local there = read_there(self)
  if not there then return true end
  local ok, why = true, nil
  -- A sweep that was killed has not looked at what its "prepare" said.
  if not there.whole then ok, why = check_own(self) end
  if ok then ok, why = act(self, "cleanup", there.point) end
  if ok then self.folder:remove(file) end
  return ok, why
end

-- Makes the data of a point.  Returns true; or nil, a message and whether nothing can be expected
-- of other runs either.
function data:have(point)
  local there = read_there(self)
  if there and there.whole and self.grid:same_data(there.point, point) then return true end
  local ok, why = self:drop()
  if not ok then return nil, why, true end
  write_there(self, point, false)
  ok, why = act(self, "prepare", point)
  -- Also a "prepare" that failed or was interrupted may have taken over files.
  local own, fault = check_own(self)
  if not own then return nil, fault, true end
  if ok then
    write_there(self, point, true)
    return true
  end
  if there or native.signalled() then return nil, why, native.signalled() ~= nil end
  -- The data of the user may have made it fail.
  self.folder:remove(file)
  return nil, why, true
end

return data

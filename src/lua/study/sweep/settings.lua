-- SPDX-License-Identifier: GPL-2.0-or-later
-- This module reads and writes DIR/study.json, which has what a sweep was asked to do.
--
--   {"format": "bench sweep", "version": 1, "seed": N,
--    "settings": {"program": TEXT,   the version
--                 "command": [TEXT], without secrets
--                 "vary": [TEXT],    "threads=1,2,4"
--                 "repeat": N, "warmup": S, "cooldown": S, "prepare": BOOL, "cleanup": BOOL,
--                 "data": [TEXT],    with --prepare: the options that change the data
--                 "stop-when": TEXT or null},
--    "order": [N]}                   the points of runs 1, 2, …

local document = require("study.document")
local native = require("study.native")

local settings = {}

local file, form = "study.json", "bench sweep"

local function axes_of(grid)
  local list = document.list{}
  for i, axis in ipairs(grid) do list[i] = axis.name .. "=" .. table.concat(axis.shown, ",") end
  return list
end

-- Returns the names of the options that change the data: they decide the order of the runs.
local function data_of(grid)
  local list = document.list{}
  for _, axis in ipairs(grid) do
    if axis.of_data then list[#list + 1] = axis.name end
  end
  return list
end

-- Returns the "settings" of DIR/study.json.  A sweep can be resumed only if all of them are the
-- same.
local function settings_of(sweep)
  local options = sweep.options
  local map = document.map{
    {"program", native.version},
    {"command", document.list(sweep.command:shown())},
    {"vary", axes_of(sweep.grid)},
    {"repeat", options["repeat"]},
    {"warmup", document.real(options.warmup)},
    {"cooldown", document.real(options.cooldown)},
    {"prepare", options.prepare},
  }
  if options.prepare then document.set(map, "data", data_of(sweep.grid)) end
  document.set(map, "cleanup", options.cleanup)
  document.set(map, "stop-when", options.stop_when or document.null)
  return map
end

-- Returns a value as users type it, a list as JSON.
local function shown(value)
  if value == nil or value == document.null then return "none" end
  if type(value) == "boolean" then return value and "on" or "off" end
  if type(value) == "string" then return value end
  if type(value) == "number" then return native.shortest(value) end
  return document.print(value)
end

local names = {
  command = "command line", data = "list of options that change the data",
  program = "version of bench"}

-- Fails if a setting of the folder is not the one that is asked for now.  Both are texts.
local function compare(path, name, known, wanted)
  if known == wanted then return end
  native.fail("--resume: '%s' was begun with another %s: %s, not %s; use the same value, or name "
    .. "another folder", path, names[name] or name, native.escape(known):sub(1, 159),
    wanted:sub(1, 160))
end

-- Returns the seed of the sweep that the folder has; nil: it has none.  Fails if --resume is not
-- given for it, or if its settings are others.
function settings.check(sweep)
  local folder, options = sweep.folder, sweep.options
  local study = folder:read(file)
  if not study then return nil end
  if not options.resume then
    native.fail("--out=%s: this folder has a study; complete it with --resume, or name another "
      .. "folder", folder.path)
  end
  if study.format ~= form or study.version ~= 1 then
    native.fail("--resume: this version of bench cannot read the sweep '%s/%s'", folder.path, file)
  end
  local known = type(study.settings) == "table" and study.settings or {}
  for name, value in document.pairs(settings_of(sweep)) do
    -- A real number of the folder is read as a whole one where it is whole.
    if name == "warmup" or name == "cooldown" then
      value = options[name] or document.null
    end
    compare(folder.path, name, shown(known[name]), shown(value))
  end
  if options.seed and options.seed ~= study.seed then
    compare(folder.path, "--seed", (tostring(study.seed):gsub("LL", "")),
      (tostring(options.seed):gsub("LL", "")))
  end
  return study.seed
end

-- Writes the file for a new sweep, whose runs have this order.
function settings.write(sweep, order)
  sweep.folder:write(file, document.map{
    {"format", form}, {"version", 1}, {"seed", sweep.seed}, {"settings", settings_of(sweep)},
    {"order", document.list(order)}})
end

-- Removes the file, so that the folder has no sweep.
function settings.remove(folder)
  folder:remove(file)
end

return settings

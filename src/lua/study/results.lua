-- SPDX-License-Identifier: GPL-2.0-or-later
-- This module finds the files of results that an operand of a study names, and says which results
-- have figures that count.

local native = require("study.native")

local results = {}

local most = 10000

local function join_path(folder, name)
  return folder .. (folder:sub(-1) == "/" and "" or "/") .. name
end

-- Adds the documents of a folder to the list.  A FIFO would never be read to its end.
local function add_folder(list, folder)
  local names, why = native.list(folder)
  if not names then return nil, why end
  for _, name in ipairs(names) do
    local path = join_path(folder, name)
    if name:find("^[^.].*%.json$") and native.kind(path) == "file" then
      if #list == most then return nil, ("more than %d results"):format(most) end
      list[#list + 1] = path
    end
  end
  return true
end

-- Returns the path of a file as it is; of a folder, the regular files called *.json in it, and then
-- those in its folder runs/, as bench sweep has one; each in the order of their names, numbers by
-- size.  There may be none.  The second value is whether the operand is a folder.  Returns nil and
-- a message if a folder cannot be read.
function results.find(operand)
  if native.kind(operand) ~= "folder" then return {operand}, false end
  local list, runs = {}, join_path(operand, "runs")
  local ok, why = add_folder(list, operand)
  if ok and native.kind(runs) == "folder" then ok, why = add_folder(list, runs) end
  if not ok then return nil, why end
  return list, true
end

-- Returns the sentence on a folder without results.
function results.none(folder)
  return ("'%s' has no results; name a folder that has files of --report=json:FILE, or whose "
    .. "folder runs has them"):format(folder)
end

local normal = {["unknown"] = true, ["time limit"] = true, ["event limit"] = true, ["done"] = true}

-- Returns why the figures of a result do not count: the run was "killed", ended by a "signal",
-- "failed" or measured "nothing"; nil: they count.  A run fails by an exit status other than 0; if
-- any status is allowed, it fails only if it did not come to its end.
function results.fault(result, any_status)
  local ended = result.end_
  local failed = ended.status ~= 0
  if any_status then
    failed = ended.failed or ended.timeout or ended.left or not normal[ended.reason]
  end
  if ended.partial then return "killed" end
  if ended.signal then return "signal" end
  if failed then return "failed" end
  if not result.has_total or ended.status == 5 then return "nothing" end
end

-- Adds the kinds of events of a result to a set of names.
function results.add_kinds(set, result)
  for _, name in ipairs(result:event_kinds()) do set[name] = true end
end

-- Returns the end of a sentence that says that no run has measured a figure: of a kind of events or
-- a group, those that there are, from sets of their names.
function results.known_kinds(figure, ...)
  local part = figure:match("@(%l+):")
  if part ~= "event" and part ~= "group" then return "" end
  local names, known = {}, {}
  for _, set in ipairs{...} do
    for name in pairs(set) do
      local group = name:match("^group:(.*)")
      if not known[name] and (group ~= nil) == (part == "group") then
        names[#names + 1] = group or name
      end
      known[name] = true
    end
  end
  table.sort(names)
  local what = part == "group" and "groups" or "kinds of events"
  if #names == 0 then return "; there are no " .. what end
  return ("; the %s are: %s"):format(what, table.concat(names, ", "))
end

-- The same for one result.
function results.kinds_of(figure, result)
  local set = {}
  results.add_kinds(set, result)
  return results.known_kinds(figure, set)
end

return results

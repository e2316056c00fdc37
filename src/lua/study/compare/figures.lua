-- SPDX-License-Identifier: GPL-2.0-or-later
-- This module has the figures that a comparison reads of each run: the primary one comes first.

local limit = require("study.limit")
local native = require("study.native")

local figures = {}
figures.__index = figures

local most = 48

-- Returns an empty list.
function figures.new()
  return setmetatable({awaits_run = false}, figures)
end

-- Adds the figure of that name, unless it is there, and returns its number.  implied: nobody has
-- named it.  option: "--metric=p99", for the sentence about a name that is none.
function figures:add(option, text, implied)
  for i, known in ipairs(self) do
    if known.text == text then
      known.implied = known.implied and implied
      return i
    end
  end
  if #self == most then native.fail("%s: more than %d metrics", option, most) end
  local figure = limit.figure(option, text)
  figure.implied = implied
  self[#self + 1] = figure
  return #self
end

-- Adds a figure that nobody has named, if there is room and it exists.
local function add_implied(self, name)
  if #self < most and native.figure(name) then self:add("", name, true) end
end

-- Adds what --secondary=auto takes from the first run: its percentiles, and the greatest of them of
-- each kind of events and each group (results.add_kinds); where there is no room, the first.
function figures:add_of_run(percents, kinds)
  if not self.awaits_run then return end
  self.awaits_run = false
  local parts, greatest = {}, 0
  for _, percent in ipairs(percents) do
    add_implied(self, "p" .. native.shortest(percent))
    greatest = math.max(greatest, percent)
  end
  for name in pairs(kinds) do
    parts[#parts + 1] = name:find("^group:") and name or "event:" .. name
  end
  table.sort(parts)
  for _, part in ipairs(parts) do
    add_implied(self, ("p%s@%s"):format(native.shortest(greatest), part))
  end
end

return figures

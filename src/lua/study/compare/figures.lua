-- SPDX-License-Identifier: GPL-2.0-or-later
-- This module has the figures that a comparison reads of each run: the primary one comes first.

local limit = require("study.limit")
local native = require("study.native")

local figures = {}
figures.__index = figures

local most = 48

-- Returns an empty list.
function figures.new()
  return setmetatable({wants_percentiles = false}, figures)
end

function figures:named(text)
  for i, figure in ipairs(self) do
    if figure.text == text then return i end
  end
end

-- Adds the figure of that name, unless it is there, and returns its number.  implied: nobody has
-- named it.  option: "--metric=p99", for the sentence about a name that is none.
function figures:add(option, text, implied)
  local at = self:named(text)
  if at then
    self[at].implied = self[at].implied and implied
    return at
  end
  if #self == most then native.fail("%s: more than %d metrics", option, most) end
  local figure = limit.figure(option, text)
  figure.implied = implied
  self[#self + 1] = figure
  return #self
end

-- Adds the percentiles of a run if they are wanted; where there is no room for all, the first.
function figures:add_percentiles(percents)
  if not self.wants_percentiles then return end
  self.wants_percentiles = false
  for _, percent in ipairs(percents) do
    local name = "p" .. native.shortest(percent)
    if #self < most and native.figure(name) then self:add("", name, true) end
  end
end

return figures

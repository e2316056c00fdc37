-- SPDX-License-Identifier: GPL-2.0-or-later
-- This module knows what a sweep varies: the combinations of values, and the order of its runs.
--
-- A point is a combination.  Points are numbered from 0; the first option changes slowest.

local invocation = require("study.invocation")
local native = require("study.native")

local grid = {}
grid.__index = grid

local axes_most, values_most, points_most = 8, 1000, 2000

-- Fails with the item of --vary that is wrong, without the password that it may have.
local function refuse(item, form, ...)
  local shown = native.mask("--" .. item):sub(3)
  native.fail("--vary=%s: %s", native.escape(shown):sub(1, 127), form:format(...))
end

-- Returns a value as people and files may see it: a URI without its password.  What is masked ends
-- the text, so that the host is added again, by which two servers are told apart: no password
-- stands between the last '@' and '/' or '?'.
local function shown_value(name, value)
  local shown = native.mask(("--%s=%s"):format(name, value)):sub(#name + 4)
  local host = shown ~= value and value:match("^%w+://[^?]*@([^@/?]+)")
  return host and shown .. "@" .. host or shown
end

-- Returns the option that an axis varies, as native.option has it; that of a group has the traits
-- of its name after the dot.
function grid.option_of(axis)
  return native.option(grid.plain_name(axis))
end

-- Returns the group whose option an axis varies; nil: the option is that of the whole run.
function grid.group_of(axis)
  return axis.name:match("^(.-)%.")
end

-- Returns the groups of which an option is varied, in the order of the axes.
function grid:groups()
  local groups, known = {}, {}
  for _, axis in ipairs(self) do
    local group = grid.group_of(axis)
    if group and not known[group] then
      groups[#groups + 1], known[group] = group, true
    end
  end
  return groups
end

-- Returns the name of the option without that of a group.
function grid.plain_name(axis)
  return axis.name:match("%.(.*)$") or axis.name
end

-- Adds an option, which has no values yet.  It is refused if it is varied already, perhaps under
-- another name, or if it is a secret.
local function add_axis(self, item, name)
  if #self == axes_most then
    refuse(item, "too many options are varied; allowed: up to %d", axes_most)
  end
  for _, axis in ipairs(self) do
    if invocation.present_name(axis.name) == invocation.present_name(name) then
      refuse(item, "'%s' is varied twice; give all its values at once", name)
    end
  end
  if shown_value(name, "x") ~= "x" then
    refuse(item, "secrets cannot be varied, because tables and files show the values")
  end
  self[#self + 1] = {name = name, of_data = false, shown = {}}
end

-- Adds a value to an option.  Values that look the same when they are masked are refused as one,
-- because no table could tell them apart.
local function add_value(axis, value)
  local shown = shown_value(axis.name, value)
  for i in ipairs(axis) do
    if axis.shown[i] == shown then
      refuse(axis.name, "the value '%s' is there twice", shown:sub(1, 64))
    end
  end
  if #axis == values_most then
    refuse(axis.name, "too many values; allowed: up to %d", values_most)
  end
  axis[#axis + 1], axis.shown[#axis + 1] = value, shown
end

-- Adds a size as users write sizes: with the largest unit that leaves a whole number.
local function add_number(axis, number, is_size)
  local units, power = {"", "K", "M", "G", "T"}, 1
  while is_size and number > 0 and number % 1024 == 0 and power < #units do
    number, power = number / 1024, power + 1
  end
  add_value(axis, tostring(number):gsub("ULL", "") .. units[power])
end

-- Returns a whole number or a size as 64 bits, and whether it has a unit; nil: it is none.
local function read_whole(text)
  local number = text:find("^%d") and #text < 32 and native.bytes(text)
  if number then return 0ULL + number, not text:find("%d$") end
end

-- Adds the values of "A..B", which double, or of "A..B:STEP".
local function add_range(axis, value)
  local function fail(form) refuse(axis.name, form, value:sub(1, 64)) end
  local first, rest = value:match("^(.-)%.%.(.*)$")
  local last, by = rest:match("^(.-):(.*)$")
  local from, from_sized = read_whole(first)
  local to, to_sized = read_whole(last or rest)
  local step, step_sized = read_whole(by or "1")
  if not from or not to or not step then
    fail("the range '%s' must be A..B or A..B:STEP, in whole numbers")
  elseif from >= to then
    fail("the range '%s' must end with a larger number than it begins with")
  elseif by and step == 0 then
    fail("the step of the range '%s' must be 1 or more")
  elseif not by and from == 0 then
    fail("the range '%s' cannot double 0; begin with 1, or add a step")
  end
  local is_size, at = from_sized or to_sized or by ~= nil and step_sized, from
  while at < to do
    add_number(axis, at, is_size)
    local following = at + (by and step or at)
    if following < at then break end
    at = following
  end
  add_number(axis, to, is_size)
end

-- Splits "NAME=VALUE", where NAME may have "--" before it, and GROUP.NAME is the option of a group.
-- Returns nil for a value without a name.
local function split(item)
  local name, value = item:match("^%-?%-?([%a_][%w_-]*%.?[%w_-]*)=(.*)$")
  return name, value
end

-- Returns the grid of the items of --vary: "NAME=VALUE", or a further value.
function grid.read(items)
  local self = setmetatable({}, grid)
  for _, item in ipairs(items) do
    local name, value = split(item)
    if name then add_axis(self, item, name) end
    value = value or item
    if #self == 0 then refuse(item, "the option is missing; write NAME=VALUE,VALUE,...") end
    -- A path such as "../a" is no range.
    local is_range = value:find("^%d.*%.%.")
    if is_range then add_range(self[#self], value) else add_value(self[#self], value) end
  end
  self.points = 1
  for _, axis in ipairs(self) do
    -- "NAME=,VALUE" begins with an empty value.
    if #axis == 1 and axis[1] == "" then
      refuse(axis.name .. "=", "the values are missing; write NAME=VALUE,VALUE,...")
    end
    self.points = self.points * #axis
    if self.points > points_most then
      refuse(axis.name, "too many combinations of values; allowed: up to %d", points_most)
    end
  end
  return self
end

-- Returns which value, from 1 on, of the axis a point has.
function grid:index(point, axis)
  for i = #self, axis + 1, -1 do point = math.floor(point / #self[i]) end
  return point % #self[axis] + 1
end

function grid:value(point, axis)
  return self[axis][self:index(point, axis)]
end

-- Returns a value without its password, which all but the command line of a run has.
function grid:shown(point, axis)
  return self[axis].shown[self:index(point, axis)]
end

-- Returns "threads=16 table-size=1000".
function grid:name(point)
  local parts = {}
  for i, axis in ipairs(self) do parts[i] = axis.name .. "=" .. self:shown(point, i) end
  return table.concat(parts, " ")
end

-- Returns the options of a run of a point.
function grid:words(point)
  local words = {}
  for i, axis in ipairs(self) do words[i] = ("--%s=%s"):format(axis.name, self:value(point, i)) end
  return words
end

-- Returns whether two points have the same values in all axes but one.
function grid:agree(a, b, without)
  for i in ipairs(self) do
    if i ~= without and self:index(a, i) ~= self:index(b, i) then return false end
  end
  return true
end

-- Returns whether runs of two points can use the same data (data:mark).
function grid:same_data(a, b)
  for i, axis in ipairs(self) do
    if axis.of_data and self:index(a, i) ~= self:index(b, i) then return false end
  end
  return true
end

-- Returns the value of the first axis, which has numbers if there is --stop-when.
local function number(self, point)
  return native.number(self:value(point, 1))
end

-- Returns whether b has a larger number in the first axis, and the rest as a has it.
function grid:beyond(a, b)
  return self:agree(a, b, 1) and number(self, b) > number(self, a)
end

-- Sorts by the number of the first axis, keeping the order of equals.
local function sort(self, at)
  for i = 2, #at do
    local k = i
    while k > 1 and number(self, at[k - 1]) > number(self, at[k]) do
      at[k - 1], at[k], k = at[k], at[k - 1], k - 1
    end
  end
end

-- Moves points of the same data together, in the order of their first points.
local function gather_data(self, at)
  for i = 2, #at do
    for k = i, #at do
      if self:same_data(at[i - 1], at[k]) then
        table.insert(at, i, table.remove(at, k))
        break
      end
    end
  end
end

-- Returns the points of all runs in the order that follows from the seed; ascending: the first
-- repeat begins with the least values of the first axis.
function grid:order(repeats, seed, ascending)
  local order = {}
  for r = 1, repeats do
    local at = {}
    for i = 1, self.points do at[i] = i - 1 end
    native.rng(seed, r - 1):shuffle(at)
    if ascending and r == 1 then sort(self, at) end
    gather_data(self, at)
    for _, point in ipairs(at) do order[#order + 1] = point end
  end
  return order
end

return grid

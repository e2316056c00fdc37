-- SPDX-License-Identifier: GPL-2.0-or-later
-- Change points of simulated series: a shift of 5 % is found, and where; a series without one, or
-- with one value far off, has none.  The seeds are fixed.

local t = require("tests")
local edivisive = require("study.stats.edivisive")
local native = require("study.native")

local series = 50

local function gauss(rng)
  local r = math.sqrt(-2 * math.log(1 - rng:real()))
  return r * math.cos(2 * math.pi * rng:real())
end

-- Returns values of mean 1000 with that coefficient of variation, and what draws more.
local function make(seed, id, n, noise)
  local rng, values = native.rng(seed, id, "data"), {}
  for i = 1, n do values[i] = 1000 * (1 + noise * gauss(rng)) end
  return values, rng
end

-- Multiplies the values behind the first `from`, up to number `to`.
local function scale(values, from, to, by)
  for i = from + 1, to do values[i] = values[i] * by end
end

-- Returns how many values are before each change.
local function cuts(values)
  local out = {}
  for i, change in ipairs(edivisive.find(values)) do
    t.ok(change.p > 0 and change.p <= edivisive.level, change.p)
    out[i] = change.at - 1
  end
  return out
end

local function check_none(values)
  t.equal(#cuts(values), 0)
end

-- Checks that the changes are within one value of those wanted.
local function check_near(values, ...)
  local found = cuts(values)
  t.equal(#found, select("#", ...))
  for i, want in ipairs{...} do
    t.ok(math.abs(found[i] - want) <= 1, ("%d, not %d"):format(found[i], want))
  end
end

-- Finds the change of 80 to 120 runs with a shift of 5 %, up or down, between 30 % and 70 %.
-- Returns the distance of the change point nearest to it.
local function distance(seed, id, noise)
  local values, rng = make(seed, id, 80 + id % 41, noise)
  local low, high = math.floor(#values * 3 / 10), math.floor(#values * 7 / 10)
  local at, nearest = low + rng:below(high - low + 1), math.huge
  scale(values, at, #values, id % 2 == 0 and 0.95 or 1.05)
  for _, cut in ipairs(cuts(values)) do nearest = math.min(nearest, math.abs(cut - at)) end
  return nearest
end

-- Returns the statistic of a cut behind m values, by sums of all distances, as the paper writes it.
local function by_definition(values, m)
  local n, between, first, second = #values, 0, 0, 0
  local k = n - m
  for i = 1, n do
    for j = i + 1, n do
      local d = math.abs(values[i] - values[j])
      if j <= m then
        first = first + d
      elseif i > m then
        second = second + d
      else
        between = between + d
      end
    end
  end
  return m * k / n
    * (2 / (m * k) * between - first / (m * (m - 1) / 2) - second / (k * (k - 1) / 2))
end

return {
  ["a shift is found"] = function()
    local within_1 = 0
    for id = 0, series - 1 do
      local off = distance(1, id, 0.02)
      t.ok(off <= 5, ("series %d: %d values off"):format(id, off))
      if off <= 1 then within_1 = within_1 + 1 end
    end
    t.ok(within_1 >= 43, within_1)
  end,

  ["with less noise it is found exactly"] = function()
    for id = 0, series - 1 do
      local off = distance(2, id, 0.01)
      t.ok(off <= 1, ("series %d: %d values off"):format(id, off))
    end
  end,

  ["nothing is found where nothing is"] = function()
    for id = 0, series - 1 do check_none((make(3, id, 80 + id % 41, 0.02))) end
  end,

  -- At the level of 0.001, 2 of 2000 are expected, and 9 are one chance in 4000.
  ["the level is kept"] = function()
    local found = 0
    for id = 0, 1999 do
      if #cuts((make(4, id, 24, 0.02))) > 0 then found = found + 1 end
    end
    t.ok(found <= 8, found)
  end,

  -- It may be anywhere, also the first or last value.
  ["a lone spike is none"] = function()
    for id = 0, series - 1 do
      local n = 80 + id % 41
      local at = id < 4 and id or id < 8 and n + 3 - id or math.floor(n * id / series)
      local values = make(5, id, n, 0.02)
      scale(values, at, at + 1, id % 2 == 0 and 0.8 or 1.2)
      check_none(values)
    end
  end,

  ["each of several changes is found"] = function()
    for id = 0, 4 do
      local values = make(6, id, 120, 0.01)
      scale(values, 30, 120, 0.95)
      scale(values, 55, 120, 0.94)
      scale(values, 100, 120, 1.08)
      check_near(values, 30, 55, 100)
    end
  end,

  -- The means of both halves are almost the same.
  ["a change that was taken back is found"] = function()
    for id = 0, 9 do
      local values = make(7, id, 100, 0.01)
      scale(values, 45, 57, 0.95)
      check_near(values, 45, 57)
    end
  end,

  -- Of 12 values, 2 of 924 choices of six are as far apart as in order; of 16, 2 of 12870 of eight.
  -- The t test finds in fewer what is 20 deviations large.
  ["a small change needs sixteen values"] = function()
    local small = 0
    for id = 0, 9 do
      local values = make(10, id, 12, 0.01)
      scale(values, 6, 12, 0.99)
      small = small + #cuts(values)
      values = make(10, id, 8, 0.01)
      scale(values, 4, 8, 0.8)
      check_near(values, 4)
      values = make(10, id, 16, 0.01)
      scale(values, 8, 16, 0.8)
      local found = cuts(values)
      t.equal(#found, 1)
      t.equal(found[1], 8)
    end
    t.ok(small <= 1, small)
  end,

  ["a cut is where the statistic is largest"] = function()
    for id = 0, 9 do
      local values, best = make(8, id, 60, 0.02), edivisive.least
      scale(values, 20 + id, 60, 1.06)
      for m = edivisive.least, #values - edivisive.least do
        if by_definition(values, m) > by_definition(values, best) then best = m end
      end
      local found = cuts(values)
      t.equal(#found, 1)
      t.equal(found[1], best)
    end
  end,

  ["few or equal values have none"] = function()
    for n = 0, 2 * edivisive.least - 1 do
      local values = make(9, n, n, 0)
      scale(values, math.floor(n / 2), n, 2)
      check_none(values)
    end
    local values = make(9, 100, 100, 0)
    check_none(values)
    scale(values, 40, 100, 1.0001)
    local found = cuts(values)
    t.equal(#found, 1)
    t.equal(found[1], 40)
    scale(values, 0, 100, 0)
    check_none(values)
  end,
}

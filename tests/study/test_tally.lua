-- SPDX-License-Identifier: GPL-2.0-or-later
-- The best point of a sweep, and which points cannot be told from it.

local grid = require("study.sweep.grid")
local native = require("study.native")
local t = require("tests")
local tally = require("study.sweep.tally")

local function normal(rng)
  local r = math.sqrt(-2 * math.log(1 - rng:real()))
  return r * math.cos(2 * math.pi * rng:real())
end

-- Returns a tally with these rates of each point; false: the run failed.
local function tabled(points)
  local names, order, k = {}, {}, 0
  for i = 1, #points do names[i] = tostring(i) end
  local made
  for point, rates in ipairs(points) do
    for _ = 1, #rates do order[#order + 1] = point - 1 end
  end
  made = tally.new(grid.read{"x=" .. names[1], unpack(names, 2)}, order)
  for _, rates in ipairs(points) do
    for _, rate in ipairs(rates) do
      k = k + 1
      made.runs[k] = rate and {state = "done", values = {rate = rate}} or {state = "failed"}
    end
  end
  return made
end

return {
  ["a point with a failed run is not the best"] = function()
    t.equal(tabled{{10, 11}, {20, false}, {12, 12}}:best(), 2)
    t.equal(tabled{{false}, {false}}:best(), nil)
    t.equal(tabled{{0, 0}, {0}}:best(), nil)
  end,

  ["a winner within the noise is called that"] = function()
    local made = tabled{{100, 101, 99}, {100.5, 99.5, 101.5}, {50, 51, 49}}
    t.equal(made:best(), 1)
    t.equal(made:rivals(1), {0})
    t.equal(tabled{{100, 101, 99}, {200, 202, 198}, {50, 51, 49}}:rivals(1), {})
    t.equal(tabled{{100, 101}, {80, 160, false}, {50, 51}}:rivals(0), {})
  end,

  ["the noise of single runs is not known"] = function()
    t.equal(tabled{{100}, {200}}:rivals(1), nil)
  end,

  -- At 5 % for all together, the best of equal points has rivals in all but 1 of 20 sweeps.
  ["equal points are within the noise"] = function()
    local rng, alone, beaten = native.rng(37, 0, "data"), 0, 0
    for _ = 1, 1000 do
      local points = {}
      for i = 1, 8 do
        points[i] = {}
        for k = 1, 3 do points[i][k] = 1000 * (1 + 0.02 * normal(rng)) end
      end
      local made = tabled(points)
      local rivals = made:rivals(made:best())
      if #rivals == 0 then alone = alone + 1 end
      if #rivals < 7 then beaten = beaten + 1 end
    end
    t.ok(alone <= 5, alone)
    t.ok(beaten <= 250, beaten)
  end,
}

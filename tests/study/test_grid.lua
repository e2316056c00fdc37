-- SPDX-License-Identifier: GPL-2.0-or-later
-- What a sweep varies: lists and ranges, combinations, the order of the runs, what --stop-when
-- leaves out, and medians.

local grid = require("study.sweep.grid")
local t = require("tests")
local tally = require("study.sweep.tally")

-- Returns the grid of --vary options, whose texts are parted by blanks.
local function read(text)
  local items = {}
  for item in (text .. " "):gsub(",", " "):gmatch("(%S*) ") do items[#items + 1] = item end
  return grid.read(items)
end

local function values(text)
  local parts = {}
  for _, axis in ipairs(read(text)) do
    parts[#parts + 1] = axis.name .. "=" .. table.concat(axis, " ")
  end
  return table.concat(parts, " ")
end

-- Fails unless each repeat has each point once, whatever the order is.
local function has_all(order, points, repeats)
  for r = 0, repeats - 1 do
    local seen = {}
    for i = 1, points do seen[order[r * points + i]] = true end
    for point = 0, points - 1 do t.ok(seen[point], ("repeat %d lacks %d"):format(r, point)) end
  end
end

-- Run k is of point (k - 1) % points.
local function start(text, n_runs)
  local axes, order = read(text), {}
  for i = 1, n_runs do order[i] = (i - 1) % axes.points end
  return tally.new(axes, order)
end

local function measured(self, run, rate, stops)
  self.runs[run] = {state = "done", values = {rate = rate}, stops = stops or false}
end

local lists = {
  {"threads=1,2,4..64", "threads=1 2 4 8 16 32 64"},
  {"threads=1..48", "threads=1 2 4 8 16 32 48"},
  {"threads=10..1000", "threads=10 20 40 80 160 320 640 1000"},
  {"threads=10..100:30", "threads=10 40 70 100"},
  {"threads=0..10:4", "threads=0 4 8 10"},
  {"file-block-size=512..4096", "file-block-size=512 1024 2048 4096"},
  {"file-block-size=512..4K", "file-block-size=512 1K 2K 4K"},
  {"file-total-size=256M..1G", "file-total-size=256M 512M 1G"},
  {"memory-block-size=1K..3K:1K", "memory-block-size=1K 2K 3K"},
  {"rand-type=uniform,zipfian threads=1,2", "rand-type=uniform zipfian threads=1 2"},
  {"--threads=1,2", "threads=1 2"},
  {"file-dir=../a,./b..c", "file-dir=../a ./b..c"},
  {"connect=mysql://a/b?x=1,mysql://c/d?x=2", "connect=mysql://a/b?x=1 mysql://c/d?x=2"},
  {"x=9223372036854775808..18446744073709551615", "x=9223372036854775808 18446744073709551615"},
}

local refused = {
  {"1,2", "--vary=1: the option is missing; write NAME=VALUE,VALUE,..."},
  {"threads=", "--vary=threads=: the values are missing; write NAME=VALUE,VALUE,..."},
  {"threads=1,2,1", "--vary=threads: the value '1' is there twice"},
  {"threads=1 threads=2",
   "--vary=threads=2: 'threads' is varied twice; give all its values at once"},
  {"table-size=1 table_size=2",
   "--vary=table_size=2: 'table_size' is varied twice; give all its values at once"},
  {"threads=4..1",
   "--vary=threads: the range '4..1' must end with a larger number than it begins with"},
  {"threads=1..x", "--vary=threads: the range '1..x' must be A..B or A..B:STEP, in whole numbers"},
  {"threads=1..4:0", "--vary=threads: the step of the range '1..4:0' must be 1 or more"},
  {"threads=0..4",
   "--vary=threads: the range '0..4' cannot double 0; begin with 1, or add a step"},
  {"threads=1..5000:1", "--vary=threads: too many values; allowed: up to 1000"},
  {"a=1..100:1 b=1..100:1", "--vary=b: too many combinations of values; allowed: up to 2000"},
}

return {
  ["lists and ranges have their values"] = function()
    for _, case in ipairs(lists) do t.equal(values(case[1]), case[2]) end
  end,
  ["what makes no sense is refused"] = function()
    for _, case in ipairs(refused) do
      local ok, why = pcall(read, case[1])
      t.ok(not ok, case[1])
      t.equal(tostring(why), case[2])
    end
  end,
  ["each point is a combination"] = function()
    local axes = read("threads=1,2,4 table-size=10,20")
    t.equal(axes.points, 6)
    t.equal(axes:name(5), "threads=4 table-size=20")
    t.equal(axes:name(2), "threads=2 table-size=10")
  end,
  ["the order follows from the seed"] = function()
    local axes = read("threads=1..64 x=1,2,3")
    local function order(repeats, seed) return axes:order(repeats, seed, false) end
    local function text(list, first, last) return table.concat(list, " ", first, last) end
    local a = order(5, 42)
    has_all(a, 21, 5)
    t.equal(text(order(5, 42)), text(a))
    t.equal(text(order(8, 42), 1, 105), text(a))
    t.ok(text(order(5, 43)) ~= text(a))
    t.ok(text(a, 1, 21) ~= text(a, 22, 42))
  end,
  -- 6000 shuffles of 3 points: each of the 6 orders 1000 times, within 4 standard deviations.
  ["each order is as likely"] = function()
    local order, seen, kinds = read("threads=1,2,3"):order(6000, 5, false), {}, 0
    for i = 1, #order, 3 do
      local key = table.concat(order, " ", i, i + 2)
      seen[key] = (seen[key] or 0) + 1
    end
    for key, n in pairs(seen) do
      kinds = kinds + 1
      t.ok(n >= 885 and n <= 1115, key .. ": " .. n)
    end
    t.equal(kinds, 6)
  end,
  ["runs of the same data follow each other"] = function()
    local axes = read("threads=1..64 table-size=10,20,30")
    axes[2].of_data = true
    local order = axes:order(4, 1, false)
    has_all(order, 21, 4)
    for r = 0, 3 do
      local changes = 0
      for i = 2, 21 do
        local is_same = axes:same_data(order[r * 21 + i - 1], order[r * 21 + i])
        changes = changes + (is_same and 0 or 1)
      end
      t.equal(changes, 2)
    end
  end,
  ["the first repeat can ascend"] = function()
    local axes = read("threads=16,1,4 x=1,2")
    local order = axes:order(2, 3, true)
    has_all(order, 6, 2)
    for i, value in ipairs{"1", "1", "4", "4", "16", "16"} do
      t.equal(axes:value(order[i], 1), value)
    end
  end,
  ["larger values are left out"] = function()
    local self = start("threads=1,8,64 table-size=10,20", 18)
    measured(self, 1, 1)
    self:leave_out(1)
    self:leave_out(2) -- it was not measured
    t.equal(self:count("left out"), 0)
    measured(self, 3, 1, true) -- threads=8 table-size=10
    measured(self, 11, 1, true)
    self:leave_out(3)
    -- Of threads=64 table-size=10 those that are pending.
    t.equal(self:count("left out"), 2)
    t.equal(self.runs[5].state, "left out")
    t.equal(self.runs[17].state, "left out")
  end,
  -- They do, whatever later runs say.
  ["more than half of the runs so far decide"] = function()
    local self = start("threads=1,2", 6)
    measured(self, 1, 1)
    measured(self, 3, 1, true)
    measured(self, 5, 1, true)
    self:leave_out(1)
    self:leave_out(3) -- one of two
    t.equal(self:count("left out"), 0)
    self:leave_out(5)
    t.equal(self:count("left out"), 1)
    t.equal(self.runs[6].state, "left out")
  end,
  ["medians are of the runs that ended well"] = function()
    local self = start("threads=1,2", 10)
    t.equal(self:best(), nil)
    measured(self, 1, 30)
    measured(self, 3, 10)
    self.runs[5].state = "failed"
    measured(self, 7, 20)
    measured(self, 2, 40)
    measured(self, 4, nil)
    self.runs[6].state = "left out"
    local spread = self:spread(0, "rate")
    t.ok(spread.n == 3 and spread.median == 20 and spread.min == 10 and spread.max == 30)
    measured(self, 9, 26)
    spread = self:spread(0, "rate")
    t.ok(spread.n == 4 and spread.median == 23)
    t.equal(self:spread(0, "p95_s"), nil)
    local seen = self:look(0)
    t.ok(seen.done == 4 and seen.failed == 1 and seen.pending == 0)
    seen = self:look(1)
    t.ok(seen.done == 2 and seen["left out"] == 1 and seen.pending == 2)
    t.equal(self:best(), 1)
  end,
}

-- SPDX-License-Identifier: GPL-2.0-or-later
-- How often the verdict on two sides is right: simulated runs whose noise has a coefficient of
-- variation of 2.5 %, on a machine that gets 20 % slower or faster from the first run to the last.
-- Seeds are fixed, so that the counts are those of every machine.

local t = require("tests")
local compare = require("study.stats.compare")
local native = require("study.native")
local stats = require("study.stats")

local studies, false_alarms_max = 2000, 31
local rules = {alpha = 0.01, same = 0.05}

local function normal(rng)
  local r = math.sqrt(-2 * math.log(1 - rng:real()))
  return r * math.cos(2 * math.pi * rng:real())
end

-- An order says whether run i is of B, from 1.
local function in_pairs(second_is_a)
  return function(study, rng)
    local is_b = {}
    for i = 1, study.pairs do
      is_b[2 * i - 1] = second_is_a(i, rng)
      is_b[2 * i] = not is_b[2 * i - 1]
    end
    return is_b
  end
end

local alternating = {id = 0, make = in_pairs(function() return false end)}
local mirrored = {id = 1, make = in_pairs(function(i) return i % 2 == 0 end)}
local by_chance = {id = 2, make = in_pairs(function(_, rng) return rng:below(2) == 1 end)}
local one_after_the_other = {id = 3, make = function(study)
  local is_b = {}
  for i = 1, 2 * study.pairs do is_b[i] = i > study.pairs end
  return is_b
end}
local interleaved_orders = {alternating, mirrored, by_chance}

-- Returns the runs of both sides in the order of time: is_b[run], values[metric][run].
local function simulate(study, rng)
  local is_b, values, n = study.order.make(study, rng), {}, 2 * study.pairs
  for m = 1, study.metrics do
    values[m] = {}
    for i = 1, n do
      values[m][i] = 1000 * (1 + study.drift * (i - 1) / (n - 1))
        * (is_b[i] and 1 - study.slowdown or 1) * (1 + 0.025 * normal(rng))
    end
  end
  return is_b, values
end

-- Measures as a comparison of files does it.
local function measure(values, turns, paired)
  local sample = {a = {}, b = {}, a_s = {}, b_s = {}, paired = paired, better = "more"}
  for _, turn in ipairs(turns) do
    local x, at = sample.a, sample.a_s
    if turn.is_b then x, at = sample.b, sample.b_s end
    x[#x + 1] = values[turn.run]
    at[#at + 1] = (turn.start_wall_ns - turns[1].start_wall_ns) * 1e-9
  end
  return compare.measure(sample, rules)
end

-- Returns the least favourable verdict of all metrics, which are one family, and whether all are
-- worse.
local function verdict_on(study, rng, stationary)
  local is_b, values = simulate(study, rng)
  local turns, found, worse, verdict, all = {}, {}, {}, nil, true
  for i = 1, 2 * study.pairs do
    turns[i] = {start_wall_ns = i * 6e10, is_b = is_b[i], run = i}
  end
  local interleaved = compare.interleaved(turns)
  if not interleaved and not stationary then return "unknown", false end
  for m = 1, study.metrics do
    found[m] = measure(values[m], turns, interleaved)
    worse[m] = found[m].worse
  end
  stats.holm(worse)
  for m = 1, study.metrics do
    local v = compare.judge(found[m], rules)
    all = all and v == "worse"
    if not verdict or v == "worse" then verdict = v end
  end
  return verdict, all
end

-- Returns how often each verdict comes; `all_worse`: of all metrics.
local function count(study, n, stationary)
  local counts = {unknown = 0, better = 0, worse = 0, same = 0, all_worse = 0}
  local rng = native.rng(20261122, study.order.id, "workload")
  for _ = 1, n do
    local verdict, all = verdict_on(study, rng, stationary)
    counts[verdict] = counts[verdict] + 1
    if all then counts.all_worse = counts.all_worse + 1 end
  end
  return counts
end

local function is_within(what, n, least, most)
  t.ok(n >= least and n <= most, ("%s: %d"):format(what, n))
end

-- 20 of 2000 are expected.
local function check_equal_sides(drift)
  for _, order in ipairs(interleaved_orders) do
    for n, most in pairs{[5] = 40, [12] = false_alarms_max} do
      local counts = count(
        {order = order, drift = drift, slowdown = 0, pairs = n, metrics = 1}, studies)
      is_within("worse", counts.worse, 0, most)
      is_within("better", counts.better, 0, most)
    end
  end
end

return {
  ["equal sides are rarely called worse"] = function()
    check_equal_sides(0)
  end,

  ["equal sides that get slower are rarely called worse"] = function()
    check_equal_sides(-0.2)
  end,

  ["equal sides that get faster are rarely called worse"] = function()
    check_equal_sides(0.2)
  end,

  ["five equal metrics are one family"] = function()
    local five = {order = by_chance, drift = -0.2, slowdown = 0, pairs = 15, metrics = 5}
    is_within("worse", count(five, studies).worse, 0, false_alarms_max)
  end,

  ["a slowdown of 5 % is found"] = function()
    for _, order in ipairs(interleaved_orders) do
      for _, drift in ipairs{-0.2, 0.2} do
        local one = {order = order, drift = drift, slowdown = 0.05, pairs = 12, metrics = 1}
        local five = {order = order, drift = drift, slowdown = 0.05, pairs = 15, metrics = 5}
        is_within("worse", count(one, 500).worse, 450, 500)
        is_within("all worse", count(five, 500).all_worse, 450, 500)
      end
    end
  end,

  -- The assumption that nothing drifts is right for the two still machines, and wrong for the
  -- other.
  ["sides one after the other are not compared"] = function()
    local function one_after(drift, slowdown)
      return {
        order = one_after_the_other, drift = drift, slowdown = slowdown, pairs = 12, metrics = 1}
    end
    t.equal(count(one_after(-0.2, 0), studies).unknown, studies)
    is_within("worse", count(one_after(0, 0), studies, true).worse, 0, false_alarms_max)
    is_within("worse", count(one_after(0, 0.05), 500, true).worse, 450, 500)
    is_within("worse", count(one_after(-0.2, 0), 500, true).worse, 450, 500)
  end,
}

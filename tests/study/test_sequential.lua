-- SPDX-License-Identifier: GPL-2.0-or-later
-- The boundary of sequential tests agrees with published values, and simulated studies are rarely
-- wrong.

local t = require("tests")
local native = require("study.native")
local sequential = require("study.stats.sequential")
local student = require("study.stats.student")

local studies = 2000
-- 1 % of 2,000 studies are 20; more than 31 happen by chance once in 128 tests.
local false_at_most = 31

local function near(got, want, error)
  t.ok(math.abs(got - want) <= error, ("%.10g, not %.10g"):format(got, want))
end

local function check_boundary(want, spending)
  local pairs, spent = {1, 2, 3, 4, 5}, {}
  for k = 1, 5 do spent[k] = spending(k / 5) end
  local levels = sequential.levels(spent, pairs)
  for k = 1, 5 do near(-student.normal_quantile(levels[k]), want[k], 2e-4) end
end

-- Simulation --------------------------------------------------------------------------------------

local function normal(rng)
  local r = math.sqrt(-2 * math.log(1 - rng:real()))
  return r * math.cos(2 * math.pi * rng:real())
end

-- A machine {noise, drift, slower} is one on which runs differ by `noise` and get slower by `drift`
-- over a study, and whose side B is `slower`.
local function measure_round(machine, rng, round, values)
  local place = {0, 1, 2}
  for i = 3, 2, -1 do
    local k = rng:below(i) + 1
    place[i], place[k] = place[k], place[i]
  end
  for i, side in ipairs{values.a, values.b, values.again} do
    local at = (3 * round + place[i]) / (3 * sequential.most)
    side[round + 1] = (1 + machine.noise * normal(rng)) * (i == 2 and 1 - machine.slower or 1)
      * (1 - machine.drift * at)
  end
end

-- Returns the last look.
local function simulate(machine, levels, rng)
  local values, look = {a = {}, b = {}, again = {}, better = "more", same = 0.05}, nil
  for k, pairs in ipairs(sequential.pairs) do
    for round = #values.a, pairs - 1 do measure_round(machine, rng, round, values) end
    look = sequential.look_at(values, pairs, levels[k])
    if not look.steady or look.verdict ~= "unknown" then break end
  end
  return look
end

-- Returns how many studies end so: by verdict, or unsteady; `pairs`: of all studies together.
local function count(noise, drift, slower)
  local counts = {same = 0, worse = 0, better = 0, unknown = 0, unsteady = 0, pairs = 0}
  local machine = {noise = noise, drift = drift, slower = slower}
  local levels, rng = sequential.looks_levels(), native.rng(15)
  for _ = 1, studies do
    local look = simulate(machine, levels, rng)
    local ending = look.steady and look.verdict or "unsteady"
    counts[ending] = counts[ending] + 1
    counts.pairs = counts.pairs + look.pairs
  end
  return counts
end

local function at_most(what, n, most)
  t.ok(n <= most, ("%s: %d"):format(what, n))
end

local function check_equal_sides(noise, drift)
  local counts = count(noise, drift, 0)
  at_most("worse", counts.worse, false_at_most)
  at_most("better", counts.better, false_at_most)
  at_most("unsteady", counts.unsteady, 2 * false_at_most)
  return counts
end

local function filled(value)
  return {value, value, value, value, value, value, value, value}
end

-- Looks at eight pairs.
local function look(a, b, again, better)
  return sequential.look_at({a = a, b = b, again = again, better = better, same = 0.05}, 8, 0.001)
end

return {
  -- Five equal steps, 2.5 % one-sided, the spending of Lan and DeMets (1983) of the type of O'Brien
  -- and Fleming, and of the type of Pocock.  The programs gsDesign and rpact print these numbers.
  ["the boundary is the published one"] = function()
    local deviations = student.normal_quantile(1 - 0.0125)
    check_boundary({4.8769, 3.3569, 2.6803, 2.2898, 2.0310}, function(part)
      return 2 * student.normal_cdf(-deviations / math.sqrt(part))
    end)
    check_boundary({2.4380, 2.4268, 2.4101, 2.3966, 2.3859}, function(part)
      return 0.025 * math.log(1 + (math.exp(1) - 1) * part)
    end)
  end,

  ["equal sides are not worse"] = function()
    check_equal_sides(0.025, 0)
    local counts = check_equal_sides(0.025, 0.2)
    t.ok(counts.same > studies * 9 / 10, counts.same)
  end,

  -- These are never the same, so that all of the error is there to be seen.
  ["equal sides with much noise are not worse"] = function()
    check_equal_sides(0.1, 0)
  end,

  -- They are at the edge of what counts as the same.
  ["a difference of 5 % is not the same"] = function()
    at_most("same", count(0.025, 0, 0.05).same, false_at_most)
    at_most("same", count(0.025, 0, -0.05).same, false_at_most)
    at_most("same", count(0.025, 0.2, 0.05).same, false_at_most)
    at_most("same", count(0.01, 0, 0.05).same, false_at_most)
  end,

  ["a slower side is found"] = function()
    local counts = count(0.025, 0.2, 0.05)
    t.ok(counts.worse > studies * 9 / 10 and counts.pairs < 14 * studies, counts.worse)
    counts = count(0.025, 0.2, 0.1)
    t.ok(counts.worse > studies * 9 / 10 and counts.pairs < 9 * studies, counts.worse)
    counts = count(0.025, 0.2, -0.1)
    t.ok(counts.better > studies * 9 / 10, counts.better)
  end,

  ["figures are judged by what is better"] = function()
    local one, two = filled(1), filled(2)
    local noisy = {1.02, 0.98, 1.01, 0.99, 1, 1.02, 0.97, 1.01}
    local l = look(one, one, one, "more")
    t.ok(l.steady, "A differs from itself")
    t.equal(l.verdict, "same")
    l = look(one, two, one, "more")
    t.ok(l.steady, "A differs from itself")
    t.equal(l.verdict, "better")
    near(l.b.a, 1, 1e-12)
    near(l.b.b, 2, 1e-12)
    near(l.b.ratio, 2, 1e-12)
    t.equal(look(one, two, one, "less").verdict, "worse")
    t.equal(look(two, one, two, "more").verdict, "worse")
    t.equal(look(one, one, two, "more").steady, false)
    -- With seven degrees of freedom, t is 4.7853 at 0.1 %.
    l = look(one, noisy, one, "more")
    near(l.b.noise, 0.0185897, 1e-6)
    near(math.log(l.b.interval.high / l.b.ratio), 4.7853 * 0.0185897 / math.sqrt(8), 1e-6)
    t.equal(l.verdict, "same")
  end,

  -- An interim look at a study is one at its first pairs.
  ["only the first pairs are looked at"] = function()
    local nine = {1, 1, 1, 1, 1, 1, 1, 1, 1000}
    t.equal(look(filled(1), nine, filled(1), "more").verdict, "same")
  end,
}

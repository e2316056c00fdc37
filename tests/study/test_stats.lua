-- SPDX-License-Identifier: GPL-2.0-or-later
-- Tests and intervals of studies agree with values that SciPy 1.10.1 computed, or that follow by
-- hand from the definitions.

local t = require("tests")
local stats = require("study.stats")

local function near(what, got, want)
  t.ok(math.abs(got - want) <= 1e-9 * math.max(1, math.abs(want)),
    ("%s: %.17g, not %.17g"):format(what, got, want))
end

local a6 = {101.2, 99.8, 100.9, 98.7, 102.3, 100.1}
local b6 = {97.9, 98.1, 96.2, 95.9, 99.4, 98.8}

-- These are of Hollander and Wolfe (1973), table 3.1, with two ties taken apart.
local a9 = {0.50, 1.30, 1.55, 1.62, 1.68, 1.83, 1.88, 2.48, 3.06}
local b9 = {0.598, 0.647, 0.878, 1.06, 1.06001, 1.29, 1.29001, 2.05, 3.14}

return {
  -- scipy.stats.ttest_1samp (log (b / a), 0), t.interval (0.98, 5, …)
  ["a paired t is that of SciPy"] = function()
    local e = stats.paired{a = a6, b = b6}
    near("mean", e.mean, -0.028107033193892027)
    near("error", e.error, 0.005018854804652873)
    near("noise", e.noise, 0.01229363336451528)
    near("dof", e.dof, 5)
    near("above", stats.above(e, 0), 0.9987461804762887)
    local i = stats.interval(e, 0.01)
    near("low", i.low, -0.04499512828622839)
    near("high", i.high, -0.011218938101555664)
    near("an end of the interval", stats.above(e, i.low), 0.01)
  end,

  -- The slope and its error are those of scipy.stats.linregress.
  ["a drift is estimated apart"] = function()
    local e = stats.paired{
      a = a6, b = b6, a_s = {0, 10, 25, 30, 41, 50}, b_s = {5, 16, 20, 36, 45, 55}}
    near("slope", e.drift_per_s, 0.00011279227520421152)
    near("mean", e.mean, -0.028501806157106766)
    near("error", e.error, 0.0049872461221460935)
    near("dof", e.dof, 5.502566304625724)
    near("noise", e.noise, 0.011917598634613604)
  end,

  -- A always comes first, and everything gets slower by the same factor from run to run.
  ["a steady drift makes no difference"] = function()
    local pairs = {a = {}, b = {}, a_s = {}, b_s = {}}
    for i = 1, 8 do
      pairs.a_s[i] = 20 * (i - 1)
      pairs.b_s[i] = 20 * (i - 1) + 10
      pairs.a[i] = 1000 * math.exp(-0.001 * pairs.a_s[i])
      pairs.b[i] = 990 * math.exp(-0.001 * pairs.b_s[i])
    end
    local e = stats.paired(pairs)
    near("slope", e.drift_per_s, -0.001)
    near("mean", e.mean, math.log(0.99))
    t.ok(e.noise >= 4e-4, "the noise is less than that of a histogram")
  end,

  ["signs are coins"] = function()
    near("7 of 7", stats.signs(7, 7), 0.0078125)
    near("9 of 12", stats.signs(9, 12), 0.072998046875)
    near("6 of 12", stats.signs(6, 12), 0.61279296875)
    near("0 of 5", stats.signs(0, 5), 1)
    near("0 of 0", stats.signs(0, 0), 1)
    near("530 of 1001", stats.signs(530, 1001), 0.033386069864349145)
    near("600 of 1000", stats.signs(600, 1000), 1.364232078032988e-10)
  end,

  ["exact ranks are those of SciPy"] = function()
    near("greater", stats.rank_above{a = a9, b = b9}, 0.9432538050185106)
    near("less", stats.rank_above{a = b9, b = a9}, 0.06795557383792677)
    near("one each", stats.rank_above{a = {1}, b = {2}}, 0.5)
  end,

  ["ties are corrected as SciPy does"] = function()
    local a, b = {1, 2, 2, 3, 5, 5, 7, 8}, {2, 3, 4, 5, 5, 9, 9, 10, 11}
    local c = {3, 3, 3, 3, 3}
    near("greater", stats.rank_above{a = a, b = b}, 0.07245639037335934)
    near("less", stats.rank_above{a = b, b = a}, 0.9400174984390606)
    near("all equal", stats.rank_above{a = c, b = c}, 1)
  end,

  -- 30 * 25 sorted differences, of which the normal distribution says how many are outside of the
  -- interval.
  ["many ranks are nearly normal"] = function()
    local ranked = {a = {}, b = {}}
    for k = 0, 29 do ranked.a[k + 1] = k * 37 % 101 / 10 end
    for k = 0, 24 do ranked.b[k + 1] = k * 53 % 101 / 10 + 0.7 + 0.001 end
    table.sort(ranked.a)
    table.sort(ranked.b)
    near("greater", stats.rank_above(ranked), 0.26308423887807164)
    near("shift", stats.shift(ranked), 0.501)
    local i = stats.shift_interval(ranked, 0.01)
    near("low", i.low, -1.599)
    near("high", i.high, 2.601)
  end,

  -- By sorting all 81 differences; P (U <= 14) = 0.00938, P (U <= 15) = 0.0122.
  ["the shift is an order statistic"] = function()
    local ranked = {a = a9, b = b9}
    near("shift", stats.shift(ranked), -0.56)
    local i = stats.shift_interval(ranked, 0.01)
    near("low", i.low, -1.232)
    near("high", i.high, 0.5)
    i = stats.shift_interval(ranked, 0.025)
    near("low", i.low, -1.183)
    near("high", i.high, 0.37)
    t.equal(stats.shift_interval({a = {unpack(a9, 1, 3)}, b = {unpack(b9, 1, 3)}}, 0.01), nil)
  end,

  -- 0.01 * 4, then 0.02 * 3, then what is smaller than the one before.
  ["Holm takes the least first"] = function()
    local second, first, last, third = {p = 0.02}, {p = 0.01}, {p = 0.5}, {p = 0.025}
    stats.holm{second, first, last, third}
    near("second", second.adjusted, 0.06)
    near("first", first.adjusted, 0.04)
    near("last", last.adjusted, 0.5)
    near("third", third.adjusted, 0.06)
  end,

  -- By trying every number with quantiles of SciPy.
  ["needed pairs are the least"] = function()
    local function needed(noise, mean, alpha)
      local margin = {low = math.log(0.95), high = math.log(1.05)}
      return stats.needed{noise = noise, mean = mean, margin = margin, alpha = alpha}
    end
    t.equal(needed(0.03536, 0, 0.01), 11)
    t.equal(needed(0.03536, 0.03, 0.01), 21)
    t.equal(needed(0.1, -0.01, 0.01), 96)
    t.equal(needed(0.03536, 0, 0.002), 15)
    t.equal(needed(1e6, 0, 0.01), 1000000)
  end,
}

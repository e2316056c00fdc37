-- SPDX-License-Identifier: GPL-2.0-or-later
-- The fit of the Universal Scalability Law agrees with SciPy's least squares for published
-- measurements, and is right at its bounds and, by simulation, in its confidence.

local t = require("tests")
local native = require("study.native")
local usl = require("study.stats.usl")

local function near(what, got, want)
  t.ok(math.abs(got - want) <= 1e-6 * math.abs(want) + 1e-12,
    ("%s: %.17g, not %.17g"):format(what, got, want))
end

local function near_all(what, got, value, low, high)
  near(what, got.value, value)
  near(what, got.low, low)
  near(what, got.high, high)
end

local function law(n)
  return 1000 * n / (1 + 0.03 * (n - 1) + 0.0005 * n * (n - 1))
end

local function normal(rng)
  local r = math.sqrt(-2 * math.log(1 - rng:real()))
  return r * math.cos(2 * math.pi * rng:real())
end

return {
  -- SPEC SDM91 on a Sun SPARCcenter 2000 (Gunther 2007, table 5.1).  The numbers are those of
  -- scipy.optimize.least_squares for log X.
  ["a published measurement has its fit"] = function()
    local u = usl.fit(
      {1, 18, 36, 72, 108, 144, 216}, {64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2})
    near_all("gamma", u.gamma, 67.94232307, 56.44146125, 81.78667175)
    near_all("alpha", u.alpha, 0.01345247317, 0.002229555256, 0.02467539109)
    near_all("beta", u.beta, 0.0001151100781, 5.508069363e-05, 0.0001751394626)
    near_all("peak", u.peak, 92.57683557, 71.60318523, 119.6939837)
    near("rate at the peak", u.peak_rate, 1960.793828)
    near("R squared", u.r_squared, 0.9783129419)
  end,

  -- A ray tracer (Gunther 2007, table 5.4), whose crosstalk cannot be told from none.
  ["a peak that may not exist has no upper limit"] = function()
    local u = usl.fit(
      {1, 4, 8, 12, 16, 20, 24, 28, 32, 48, 64},
      {20, 78, 130, 170, 190, 200, 210, 230, 260, 280, 310})
    near_all("gamma", u.gamma, 21.59150217, 19.50436501, 23.90198121)
    near_all("alpha", u.alpha, 0.05640542181, 0.03868182682, 0.07412901681)
    t.ok(math.abs(u.beta.value - 3.3586e-06) < 1e-9, u.beta.value)
    t.equal(u.beta.low, 0)
    t.equal(u.peak.high, math.huge)
    near("the lower limit", u.peak.low, math.sqrt((1 - u.alpha.value) / u.beta.high))
  end,

  ["a linear rate has neither contention nor crosstalk"] = function()
    local u = usl.fit({1, 2, 4, 8, 16}, {100, 199, 402, 790, 1605})
    near_all("gamma", u.gamma, 99.81050666, 96.55194685, 103.1790406)
    t.equal(u.alpha.value, 0)
    t.equal(u.alpha.low, 0)
    t.equal(u.beta.value, 0)
    t.equal(u.beta.low, 0)
    near("the upper limit of alpha", u.alpha.high, 0.01478344631)
    t.equal(u.peak, nil)
  end,

  ["too few rates and rates of 0 have no fit"] = function()
    t.equal(usl.fit({1, 2, 4}, {1, 2, 4}), nil)
    t.equal(usl.fit({1, 2, 4, 8, 16}, {1, 2, 0, 8, 16}), nil)
    t.equal(usl.fit({0, 1, 2, 3, 4}, {1, 2, 4, 8, 16}), nil)
  end,

  -- 2000 sweeps with a coefficient of variation of 2.5 %; the binomial deviation of 95 % is 0.5 %.
  ["the truth is in 95 of 100 intervals"] = function()
    local studies, least, most = 2000, 1870, 1930
    local truths = {gamma = 1000, alpha = 0.03, beta = 0.0005, peak = math.sqrt(0.97 / 0.0005)}
    local held, rng = {gamma = 0, alpha = 0, beta = 0, peak = 0}, native.rng(1)
    for _ = 1, studies do
      local threads, rate = {}, {}
      for i = 1, 7 do
        threads[i] = 2 ^ (i - 1)
        rate[i] = law(threads[i]) * math.exp(0.025 * normal(rng))
      end
      local u = usl.fit(threads, rate)
      for name, truth in pairs(truths) do
        local v = u[name]
        if v and v.low <= truth and truth <= v.high then held[name] = held[name] + 1 end
      end
    end
    for name, n in pairs(held) do t.ok(n >= least and n <= most, ("%s: %d"):format(name, n)) end
  end,
}

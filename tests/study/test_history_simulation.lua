-- SPDX-License-Identifier: GPL-2.0-or-later
-- How often a history finds the change of a simulated series: the rates of bench-studies(7) are
-- those of 1000 series (SERIES=1000).  Seeds are fixed.

local native = require("study.native")
local t = require("tests")
local trend = require("study.history.trend")

local series = tonumber(os.getenv("SERIES") or 40)
local p99 = native.figure("p99")

local function normal(rng)
  local r = math.sqrt(-2 * math.log(1 - rng:real()))
  return r * math.cos(2 * math.pi * rng:real())
end

-- Returns the share of series of n runs in which a change is found at the `behind`-th last run, or
-- beside it; 0: in which any is found.  Logarithms have the deviation `noise`.
local function found(n, behind, by, noise)
  local count = 0
  for id = 1, series do
    local rng, one = native.rng(id, n * 1000 + behind, "data"), {runs = {}}
    for i = 1, n do
      one.runs[i] = {values = {math.exp(noise * normal(rng)) * (i > n - behind and by or 1)}}
    end
    for _, change in ipairs(trend.find(p99, 1, one).changes) do
      if behind == 0 or math.abs(change.at - (n - behind + 1)) <= 1 then
        count = count + 1
        break
      end
    end
  end
  return count / series
end

-- {by =, noise =, [n] = at least these shares for 4, 5, 7 and 10 runs behind the change}; shares of
-- few series are off by up to 0.2.
local cases = {
  {by = 1.05, noise = 0.02, [20] = {0, 0.05, 0.2, 0.25},
   [30] = {0.05, 0.15, 0.4, 0.6}, [100] = {0.05, 0.25, 0.55, 0.75}},
  {by = 1.1, noise = 0.02, [20] = {0.75, 0.9, 0.95, 0.95},
   [30] = {0.9, 0.95, 0.95, 0.95}, [100] = {0.95, 0.95, 0.95, 0.95}},
  {by = 2, noise = 0.3, [20] = {0, 0.05, 0.15, 0.2},
   [30] = {0, 0.1, 0.3, 0.5}, [100] = {0, 0.15, 0.45, 0.7}},
  {by = 10, noise = 0.6, [20] = {0.4, 0.65, 0.8, 0.85},
   [30] = {0.7, 0.8, 0.85, 0.9}, [100] = {0.8, 0.9, 0.9, 0.9}},
}

local tests = {
  -- The p99 of 12 runs, in ms, then that of four after a change of the server: kind 25 of issue 37.
  ["a latency that grew 300 times is found"] = function()
    local before = {0.8, 1.1, 2.4, 8.5, 0.9, 3.2, 1.7, 5.1, 0.8, 2.2, 6.3, 1.4}
    for n = 4, 12 do
      for behind = 4, 8 do
        local one, after = {runs = {}}, {1753, 526, 890, 1204, 610, 980, 1500, 700}
        for i = 1, n do one.runs[i] = {values = {before[i]}} end
        for i = 1, behind do one.runs[n + i] = {values = {after[i]}} end
        local changes = trend.find(p99, 1, one).changes
        t.equal(#changes, 1)
        t.equal(changes[1].at, n + 1)
      end
    end
  end,

  ["a metric that may be 0 has no logarithms"] = function()
    local one = {runs = {}}
    for i = 1, 30 do one.runs[i] = {values = {i > 20 and 5 + i % 3 or i % 2}} end
    local got = trend.find(native.figure("errors"), 1, one)
    t.equal({got.has_logs, #got.changes, got.changes[1].at}, {false, 1, 21})
  end,

  ["nothing is found where nothing is"] = function()
    for _, n in ipairs{8, 12, 20, 30} do t.ok(found(n, 0, 1, 0.3) <= 0.05, n) end
  end,
}

for _, case in ipairs(cases) do
  for _, n in ipairs{20, 30, 100} do
    tests[("%g times, noise %g, of %d runs"):format(case.by, case.noise, n)] = function()
      local shares = {}
      for k, behind in ipairs{4, 5, 7, 10} do
        shares[k] = found(n, behind, case.by, case.noise)
      end
      if series > 100 then print(case.by, case.noise, n, unpack(shares)) end
      for k, least in ipairs(case[n]) do t.ok(shares[k] >= least, k .. ": " .. shares[k]) end
    end
  end
end

return tests

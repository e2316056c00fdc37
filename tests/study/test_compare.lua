-- SPDX-License-Identifier: GPL-2.0-or-later
-- Verdicts on figures of two sides: which test is chosen, and what follows from it.

local t = require("tests")
local compare = require("study.stats.compare")

local rules = {alpha = 0.01, same = 0.05}

-- Returns pairs whose ratio is `ratio`, give or take `noise`.
local function make(n, ratio, noise)
  local a, b = {}, {}
  for i = 1, n do
    a[i] = 1000 + (i - 1) * 7 % 5
    b[i] = a[i] * ratio * (i % 2 == 1 and 1 + noise or 1 / (1 + noise))
  end
  return a, b
end

local function measured(a, b, paired, better, by)
  return compare.measure({a = a, b = b, paired = paired, better = better}, by or rules)
end

local function filled(n, value)
  local out = {}
  for i = 1, n do out[i] = value end
  return out
end

local function check(n, ratio, noise, better, want)
  local a, b = make(n, ratio, noise)
  local found = measured(a, b, true, better)
  t.equal(found.method, n < compare.pairs_min and "few" or "t")
  t.equal(compare.judge(found, rules), want)
end

-- The runs are given from the last to the first.
local function interleaved(order)
  local turns = {}
  for i = #order, 1, -1 do
    turns[#turns + 1] = {
      start_wall_ns = 1700000000000000000ULL + i, is_b = order:sub(i, i) == "B", run = i}
  end
  local pairs = compare.interleaved(turns)
  for i, turn in ipairs(turns) do t.equal(turn.run, i) end
  return pairs
end

return {
  ["pairs have a verdict"] = function()
    check(8, 0.9, 0.01, "more", "worse")
    check(8, 0.9, 0.01, "less", "better")
    check(8, 1.1, 0.01, "more", "better")
    check(8, 1.1, 0.01, "less", "worse")
    check(8, 1, 0.01, "more", "same")
    check(8, 1, 0.1, "more", "unknown")
    check(3, 0.5, 0.01, "more", "unknown")
  end,

  -- A value that comes from one bucket of a histogram in every run is not exact.
  ["pairs without noise have some"] = function()
    local a, b = make(4, 0.9997, 0)
    local found = measured(a, b, true, "more")
    t.ok(found.noise > 3.9e-4 and found.noise < 4.1e-4, found.noise)
    t.equal(compare.judge(found, rules), "same")
  end,

  -- Their noise is that of a bucket.  Only a narrow margin, or none of a ratio, leaves "equal".
  ["values that are alike are the same within a margin"] = function()
    for _, paired in ipairs{true, false} do
      local found = measured(filled(8, 3), filled(8, 3), paired, "less")
      t.equal(compare.judge(found, rules), "same")
      found = measured(filled(8, 0), filled(8, 0), paired, "less")
      t.equal(compare.judge(found, rules), "equal")
    end
    local found = measured(filled(8, 3), filled(8, 3), true, "less")
    t.equal(compare.judge(found, {alpha = 0.01, same = 1e-4}), "equal")
  end,

  ["a limit is to be exceeded"] = function()
    local limited = {alpha = 0.01, same = 0.05, limit = 0.03}
    local function near(ratio, paired, better)
      local a, b = make(8, ratio, 0.01)
      local found = measured(a, b, paired, better, limited)
      t.ok(found.worse.p < 0.001, found.worse.p)
      t.ok(found.beyond.p > 0.01 and (found.beyond.p < 0.5 or not paired), found.beyond.p)
    end
    local function beyond(ratio, paired, better)
      local a, b = make(8, ratio, 0.01)
      local found = measured(a, b, paired, better, limited)
      t.ok(found.beyond.p < 0.001, found.beyond.p)
    end
    near(0.965, true, "more")
    beyond(0.94, true, "more")
    near(1.035, true, "less")
    beyond(1.06, true, "less")
    near(1.035, false, "less")
    beyond(1.06, false, "less")
  end,

  -- B is worse by 8 %.  The noise decides what is shown of a limit of 5 %.
  ["a limit is exceeded, kept or nothing is shown"] = function()
    local function check_limit(limit, noise, paired, want)
      local by = {alpha = 0.01, same = 0.05, limit = limit}
      local a, b = make(8, 0.92, noise)
      local found = measured(a, b, paired, "more", by)
      t.equal(compare.judge(found, by), "worse")
      t.equal({compare.judge_limit(found, compare.judge(found, by), by)}, want)
      -- The same of a latency.
      found = measured(b, a, paired, "less", by)
      t.equal(compare.judge(found, by), "worse")
      t.equal({compare.judge_limit(found, compare.judge(found, by), by)}, want)
    end
    local exceeded, kept, open = {true, false}, {false, false}, {false, true}
    for _, paired in ipairs{true, false} do
      check_limit(0.05, 0.005, paired, exceeded)
      check_limit(0.05, 0.035, paired, open)
      check_limit(0.15, 0.035, paired, kept)
    end
  end,

  ["a limit of the amount is judged by signs"] = function()
    local function check_amount(amount, n, want)
      local by = {alpha = 0.01, same = 0.05, amount = amount}
      local found = measured(filled(n, 0), filled(n, 3), true, "less", by)
      t.equal({compare.judge_limit(found, compare.judge(found, by), by)}, want)
    end
    check_amount(2, 8, {true, false})
    check_amount(4, 8, {false, false})
    check_amount(4, 6, {false, true})
    check_amount(4, 3, {false, true})
    local none = measured(filled(8, 0), filled(8, 0), true, "less")
    t.equal({compare.judge_limit(none, compare.judge(none, rules), rules)}, {false, false})
  end,

  -- They are, for example, errors: none in A, some in B.
  ["zeros are compared by signs"] = function()
    local found = measured(filled(8, 0), filled(8, 0), true, "less")
    t.equal(found.method, "signs")
    t.equal(compare.judge(found, rules), "equal")
    found = measured(filled(8, 0), filled(8, 3), true, "less")
    t.equal(compare.judge(found, rules), "worse")
    t.equal(found.ratio, nil)
    t.equal(found.a, 0)
    t.equal(found.b, 3)
    found = measured(filled(6, 0), filled(6, 3), true, "less")
    t.equal(compare.judge(found, rules), "unknown")
    t.equal(compare.more(found, rules, 1), 1)
    found = measured(filled(3, 0), filled(3, 3), true, "less")
    t.equal(found.method, "few")
    t.equal(compare.more(found, rules, 1), 4)
  end,

  ["values that are not paired are compared by ranks"] = function()
    t.equal(compare.least(false, 0.01), 5)
    t.equal(compare.least(false, 0.002), 6)
    local a, b = make(5, 0.9, 0.01)
    local found = measured(a, b, false, "more")
    t.equal(found.method, "ranks")
    t.close(found.worse.p, 1 / 252, 1e-10)
    t.equal(compare.judge(found, rules), "worse")
    a, b = make(8, 1, 0.01)
    found = measured(a, b, false, "more")
    t.ok(found.interval, "there is no interval")
    t.ok(found.interval.low < 1 and found.interval.high > 1, "the interval is beside 1")
    t.equal(compare.judge(found, rules), "same")
    a, b = make(4, 0.5, 0.01)
    found = measured(a, b, false, "more")
    t.equal(compare.judge(found, rules), "unknown")
    t.equal(compare.more(found, rules, 1), 1)
  end,

  -- 0.1 of noise wants 96 pairs at -1 %; the family makes it more.
  ["more pairs are counted by the noise"] = function()
    local found = {
      n_a = 12, n_b = 12, paired = true, ratio = math.exp(-0.01), noise = 0.1, method = "t"}
    local one = {n_a = 1, n_b = 1, paired = true, ratio = 1, noise = 0}
    t.equal(compare.more(found, rules, 1), 96 - 12)
    t.ok(compare.more(found, rules, 5) > 96 - 12, "a family needs no more pairs")
    t.equal(compare.more(one, rules, 1), 3)
  end,

  ["pairs follow from the times"] = function()
    t.equal(interleaved("AB"), true)
    t.equal(interleaved("ABBAABBA"), true)
    t.equal(interleaved("BABABA"), true)
    t.equal(interleaved(""), false)
    t.equal(interleaved("A"), false)
    t.equal(interleaved("AABB"), false)
    t.equal(interleaved("ABAABB"), false)
    t.equal(interleaved("ABA"), false)
    t.equal(compare.interleaved{
      {start_wall_ns = 0, is_b = false, run = 1}, {start_wall_ns = 5, is_b = true, run = 2}}, false)
  end,
}

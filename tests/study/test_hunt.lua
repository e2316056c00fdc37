-- SPDX-License-Identifier: GPL-2.0-or-later
-- The search finds the highest rate of a simulated M/M/1 queue that keeps a percentile, which has a
-- closed form: the time in the queue is exponential with the rate mu - lambda (Kleinrock 1975,
-- "Queueing Systems" 1, 5.2), so p99 < T holds up to mu - ln(100) / T.

local t = require("tests")
local batch = require("study.stats.batch")
local hunt = require("study.search.hunt")
local native = require("study.native")

local seeds, n_batches = 20, 20

-- The queue -----------------------------------------------------------------------------------

local function exponential(queue, rate)
  return -native.log1p(-queue.rng:real()) / rate
end

-- The time in the queue of the next customer follows from that of the last (Lindley 1952).
local function simulate(queue, lambda, warmup_s, time_s)
  local batches, at_s, stay_s = {}, 0, exponential(queue, queue.mu)
  for i = 1, n_batches do batches[i] = {num = 0, den = 0} end
  while true do
    local gap_s = exponential(queue, lambda)
    at_s = at_s + gap_s
    if at_s >= warmup_s + time_s then return batches end
    stay_s = math.max(stay_s - gap_s, 0) + exponential(queue, queue.mu)
    if at_s >= warmup_s then
      local into = batches[math.floor((at_s - warmup_s) / time_s * n_batches) + 1]
      into.den = into.den + 1
      if stay_s >= queue.limit_s then into.num = into.num + 1 end
    end
  end
end

local function probe(queue, following)
  local bound = {at = 0.01, below = true, share = true}
  if following.purpose == "capacity" then
    return {value = queue.mu, score = math.log(1 / bound.at)}
  end
  local judged = batch.judge(simulate(queue, following.value, 2, following.time_s), bound)
  return {
    value = following.value, decision = judged.decision, holds = judged.holds,
    score = batch.score(judged, bound), longer = judged.longer,
  }
end

-- All searches are within 5 % of the truth.
local function check(mu, utilization)
  local truth = mu * utilization
  for seed = 1, seeds do
    local queue = {
      mu = mu, limit_s = math.log(100) / (mu - truth),
      rng = native.rng(seed, utilization * 100, "workload"),
    }
    local h = hunt.begin{min = 0, max = 0, precision = 0.03, time_s = 10, most_s = 60, probes = 12}
    while h.state == "runs" do h:tell(probe(queue, h.next)) end
    t.equal(h.state, "found")
    t.close(h.answer, truth, 0.05)
  end
end

-- A goal that is kept up to a known value -----------------------------------------------------

-- The oracle has no noise and no scores.
local function oracle(following, limit)
  local holds = following.value <= limit
  return {
    value = following.value, decision = holds and "holds" or "violated", holds = holds, longer = 1,
    purpose = following.purpose}
end

local function ask(plan, capacity, limit)
  local h = hunt.begin(plan)
  while h.state == "runs" do
    local found = oracle(h.next, limit)
    if h.next.purpose == "capacity" then
      found = {value = capacity}
    else
      t.ok(h.next.value >= plan.min, "a probe is below --min")
    end
    t.ok(h.next.value <= plan.max or plan.max == 0, "a probe is above --max")
    h:tell(found)
  end
  return h
end

return {
  ["a known limit is bracketed"] = function()
    local plan = {min = 0, max = 0, precision = 0.03, time_s = 1, most_s = 2, probes = 16}
    local limit = 10
    while limit < 1100 do
      local h = ask(plan, 1000, limit)
      t.equal(h.state, "found")
      t.ok(h.answer <= limit and h.answer * 1.0301 >= limit, "the answer is beside " .. limit)
      t.ok(h.failed > limit and h.failed <= h.answer * 1.0301, "the bracket is beside " .. limit)
      limit = limit * 1.07
    end
    t.equal(ask(plan, 1000, 7).state, "none")
  end,

  -- The bounds have more than six digits.
  ["bounds are probed once"] = function()
    local function probed(plan, capacity, limit)
      local h, steps = ask(plan, capacity, limit), {}
      for _, found in ipairs(h.found) do
        if found.purpose == "step" then
          t.equal(steps[found.value], nil)
          steps[found.value] = true
        end
      end
      return h
    end
    local function plan(least, most)
      return {
        min = least, max = most, precision = 0.03, time_s = 1, most_s = 2, probes = 30}
    end
    for k = 0, 9 do
      local capacity = 15802.46912 + k / 70
      t.equal(probed(plan(0, 0), capacity, 1).state, "none")
      t.equal(probed(plan(123.456789 + k / 7000, 0), capacity, 1).state, "none")
      local h = probed(plan(0, 0), capacity, capacity * 1.1)
      t.equal(h.state, "found")
      t.ok(h.answer > capacity * 1.06, h.answer)
      h = probed(plan(0, capacity * 0.9), capacity, 1e9)
      t.equal({h.state, h.answer}, {"found", capacity * 0.9})
    end
  end,

  ["a low bound leaves room below it"] = function()
    local plan = {min = 0, max = 500, precision = 0.03, time_s = 1, most_s = 2, probes = 16}
    local h = ask(plan, 100000, 100)
    t.equal(h.state, "found")
    t.ok(h.answer <= 100 and h.answer * 1.0301 >= 100, h.answer)
    t.equal(ask(plan, 100000, 3).state, "none")
  end,

  ["whole numbers are exact"] = function()
    local plan = {
      min = 1, max = 1000, precision = 0.001, whole = true, time_s = 1, most_s = 2, probes = 24}
    for limit = 1, 1000 do t.equal(ask(plan, 0, limit).answer, limit) end
    t.equal(ask(plan, 0, 0).state, "none")
    t.equal(ask(plan, 0, 5000).answer, 1000)
  end,

  ["the last probes confirm what is known"] = function()
    local plan = {min = 0, max = 0, precision = 0.01, time_s = 1, most_s = 2, probes = 5}
    local h = ask(plan, 1000, 700)
    t.equal(h.state, "found")
    t.equal(#h.found, 5)
    t.equal(h.answer, 500)
    t.ok(h.failed > 700, "the bracket ends above the limit")
    t.equal(h.again, h.failed)
    -- All probes that are allowed went into finding a value that holds.
    t.equal(ask(plan, 1000, 9).state, "spent")
  end,

  -- The run that is to confirm the answer does not; neither does the one after it.
  ["a value that is not confirmed is lowered"] = function()
    local h = hunt.begin{min = 0, max = 0, precision = 0.04, time_s = 1, most_s = 8, probes = 20}
    local refused = 0
    while h.state == "runs" do
      local found = oracle(h.next, 600)
      if h.next.purpose == "capacity" then found = {value = 1000} end
      if h.next.purpose == "confirm" then
        t.equal(h.next.time_s, 8)
        if refused < 2 then found.decision = "violated" end
        refused = refused + 1
      elseif h.next.purpose == "again" then
        found.decision = "violated"
      end
      h:tell(found)
    end
    t.equal(h.state, "found")
    t.close(h.answer, h.failed * 0.98, 1e-5)
  end,

  -- Something else than the rate breaks the goal of some probes: of the first and third step, say.
  ["a broken bound is probed again"] = function()
    for disturbed = 1, 12 do
      local plan = {min = 0, max = 0, precision = 0.03, time_s = 1, most_s = 8, probes = 30}
      local h, steps = hunt.begin(plan), 0
      while h.state == "runs" do
        local found = oracle(h.next, 600)
        if h.next.purpose == "capacity" then found = {value = 1000} end
        if h.next.purpose == "step" then
          steps = steps + 1
          if steps == disturbed or steps == disturbed + 2 then found.decision = "violated" end
        elseif h.next.purpose == "again" then
          t.equal(h.next.time_s, 8)
        end
        h:tell(found)
      end
      t.equal(h.state, "found")
      t.ok(h.answer <= 600 and h.answer * 1.0301 >= 600, disturbed .. ": " .. h.answer)
      t.ok(h.failed > 600, "the bound is above the limit")
    end
  end,

  -- A probe that decides nothing is repeated for longer, and those after it take as long.
  ["undecided probes are repeated"] = function()
    local h = hunt.begin{min = 0, max = 0, precision = 0.03, time_s = 4, most_s = 50, probes = 20}
    local function undecided(longer)
      h:tell{value = 500, decision = "undecided", holds = true, longer = longer}
    end
    h:tell{value = 1000}
    t.equal(h.next.value, 500)
    t.equal(h.next.time_s, 4)
    undecided(3)
    t.equal(h.next.purpose, "longer")
    t.equal(h.next.value, 500)
    t.equal(h.next.time_s, 18)
    undecided(math.huge)
    t.equal(h.next.value, 500)
    t.equal(h.next.time_s, 50)
    undecided(math.huge)
    t.equal(h.next.purpose, "step")
    t.equal(h.held, 500)
    t.ok(h.next.value > 500, "the next value is above the one that held")
    t.equal(h.next.time_s, 50)
  end,

  ["a queue with a low utilization"] = function() check(20000, 0.3) end,
  ["a queue with a middle utilization"] = function() check(8000, 0.6) end,
  ["a queue with a high utilization"] = function() check(5000, 0.9) end,
}

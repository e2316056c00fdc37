-- SPDX-License-Identifier: GPL-2.0-or-later
-- This module makes the comparison of two sides as a value: every figure at every point, with its
-- verdict.
--
-- The first figure is the primary one.  Its tests at all points are one family, those of the other
-- figures at all points are a second one, and those that decide the exit status are a third; each
-- family has its own Holm adjustment, so that each errs with the probability alpha.

local ffi = require("ffi")

local compare = require("study.stats.compare")
local stats = require("study.stats")

local comparison = {}

local no_limit = {share = 0, amount = 0}

-- Returns the turns of a point's runs: {start_wall_ns =, is_b =, run =}.  The runs of B follow
-- those of A.
local function turns_of(a, b, points, point)
  local turns = {}
  for i, of in ipairs(points.of) do
    if of == point then
      local is_b = i > #a.runs
      local run = is_b and b.runs[i - #a.runs] or a.runs[i]
      turns[#turns + 1] = {start_wall_ns = run.start_wall_ns, is_b = is_b, run = i, what = run}
    end
  end
  return turns
end

-- Returns the runs of a point that count, {a =, b =, paired =, one_order = all pairs begin with the
-- same side}.  Runs that are left out keep their turn, so that the others keep their partners.
local function line_up(turns)
  local l = {a = {}, b = {}, paired = compare.interleaved(turns), one_order = false}
  if not l.paired then
    for _, turn in ipairs(turns) do
      local runs = turn.is_b and l.b or l.a
      if not turn.what.left_out then runs[#runs + 1] = turn.what end
    end
    return l
  end
  local a_first = 0
  for i = 1, #turns, 2 do
    local a, b = turns[i].what, turns[i + 1].what
    local b_first = turns[i].is_b
    if b_first then a, b = b, a end
    if not a.left_out and not b.left_out then
      l.a[#l.a + 1], l.b[#l.b + 1] = a, b
      a_first = a_first + (b_first and 0 or 1)
    end
  end
  l.one_order = a_first == 0 or a_first == #l.a
  return l
end

-- Returns how many seconds after `first` a run began; below 0 if it began earlier.  The times are
-- integers of 64 bits: a double could not tell nanoseconds apart before the subtraction.
local function seconds_since(run, first)
  return tonumber(ffi.cast("int64_t", run.start_wall_ns - first.start_wall_ns)) * 1e-9
end

-- Returns the values of one figure, of pairs only where both have it.
local function sample_of(l, figures, i)
  local s = {
    a = {}, b = {}, paired = l.paired, better = figures[i].better, a_s = l.paired and {} or nil,
    b_s = l.paired and {} or nil}
  local function add(values, at, runs, others)
    for k, run in ipairs(runs) do
      if run.value[i] and (not l.paired or others[k].value[i]) then
        values[#values + 1] = run.value[i]
        if at then at[#at + 1] = seconds_since(run, l.a[1]) end
      end
    end
  end
  add(s.a, s.a_s, l.a, l.b)
  add(s.b, s.b_s, l.b, l.a)
  return s
end

-- Returns how the runs of a point can be compared, as `how` of comparison.make.
local function how_of(l, rules)
  if #l.a == 0 or #l.b == 0 then return "missing" end
  if l.paired then return "paired" end
  return rules.stationary and "stationary" or "apart"
end

-- Returns a point as comparison.make does, but with tests that are not adjusted, and without
-- verdicts.  Rows are judged if runs alternate, or if the user says that the machine does not
-- drift.
local function measure_point(l, point, figures, rules)
  local at = {
    point = point, how = how_of(l, rules), n_a = #l.a, n_b = #l.b, one_order = l.one_order,
    rows = {}}
  for i, figure in ipairs(figures) do
    local sample, limit = sample_of(l, figures, i), rules.limit[i] or no_limit
    local found = compare.measure(
      sample, {alpha = rules.alpha, same = rules.same, limit = limit.share, amount = limit.amount})
    local measured = #sample.a > 0 and #sample.b > 0
    local hidden = figure.implied and found.all_equal and not found.ratio
    at.rows[i] = {
      figure = i, measured = measured, hidden = hidden, found = found, failing = false,
      is_judged = (at.how == "paired" or at.how == "stationary") and measured and not hidden}
  end
  return at
end

-- Calls the function for each row that has a verdict.
local function each_judged(points, call)
  for _, at in ipairs(points) do
    for _, row in ipairs(at.rows) do
      if row.is_judged then call(row) end
    end
  end
end

-- Adjusts a test of all rows of a family, and returns how many these are.
local function adjust_tests(points, test, is_of)
  local tests = {}
  each_judged(points, function(row)
    if is_of(row.figure) then tests[#tests + 1] = row.found[test] end
  end)
  stats.holm(tests)
  return #tests
end

-- Marks the rows of figures that decide and have no verdict, such as those of a point that only one
-- side has, and returns whether any row is undecided.
local function mark_undecided(points, limits)
  local any = false
  for _, at in ipairs(points) do
    for i in pairs(limits) do
      local row = at.rows[i]
      row.undecided = row.undecided or not row.is_judged
      any = any or row.undecided
    end
  end
  return any
end

-- Compares by the rules {alpha =, same = (study.stats.compare), stationary = runs that are not
-- interleaved are compared by ranks, limit = by number of each figure that fails the comparison,
-- how much worse it may be (study.limit)}.  Returns points, each
--   point      its number
--   how        "paired", "stationary" (not interleaved; nothing is assumed to drift), "apart" (not
--              interleaved: nothing can be told) or "missing" (one side has no run that counts)
--   n_a, n_b   runs that count; of pairs, those whose other run counts too
--   one_order  all pairs began with the same side
--   rows       of each figure {figure = number, measured = on both sides, hidden = nobody asked for
--              it, and it is 0 in every run, found =, verdict = nil: none, more = how many pairs or
--              runs it takes where the verdict is "unknown", failing = it is worse by more than its
--              limit, undecided = it has a limit, and nothing shows on which side of it it is}
-- and whether a row is failing, and whether one is undecided.
function comparison.make(a, b, figures, points, rules)
  local made, is_failing = {}, false
  for point = 1, points.n do
    made[point] = measure_point(
      line_up(turns_of(a, b, points, point)), point, figures, rules)
  end
  local function is_primary(figure) return figure == 1 end
  local function is_secondary(figure) return figure > 1 end
  local function decides(figure) return rules.limit[figure] ~= nil end
  local n_primary = adjust_tests(made, "worse", is_primary)
  local n_secondary = adjust_tests(made, "worse", is_secondary)
  adjust_tests(made, "better", is_primary)
  adjust_tests(made, "better", is_secondary)
  adjust_tests(made, "beyond", decides)
  each_judged(made, function(row)
    local found = row.found
    row.verdict = compare.judge(found, rules)
    if decides(row.figure) then
      row.failing, row.undecided = compare.judge_limit(found, row.verdict, rules)
    end
    if row.failing then row.verdict = "worse" end
    if row.verdict == "unknown" then
      row.more = compare.more(found, rules, row.figure == 1 and n_primary or n_secondary)
    end
    is_failing = is_failing or row.failing
  end)
  return made, is_failing, mark_undecided(made, rules.limit)
end

return comparison

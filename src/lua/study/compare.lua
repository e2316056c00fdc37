-- SPDX-License-Identifier: GPL-2.0-or-later
-- The subcommand `compare` says of two results, or of two folders of them, which one is better.

local comparison = require("study.compare.comparison")
local differ = require("study.compare.differ")
local figures = require("study.compare.figures")
local limit = require("study.limit")
local native = require("study.native")
local output = require("study.output")
local results = require("study.results")
local scores = require("study.compare.scores")
local shared = require("study.options")
local side = require("study.compare.side")
local verdicts = require("study.compare.verdicts")

local worse_status, undecided_status = 3, 6

-- Options -----------------------------------------------------------------------------------------

-- Adds the figures of --secondary to the list.  Those of "auto" depend in part on what the first
-- run has measured: the list takes them from it (figures:add_of_run).
local function read_secondary(list, names)
  if #names == 1 and names[1] == "none" then return end
  for _, name in ipairs(names) do
    if name == "auto" then
      list.awaits_run = true
      list:add("", "avg", true)
      list:add("", "errors_per_s", true)
    else
      list:add(limit.option("secondary", name), name, false)
    end
  end
end

-- Returns the figures and the rules of the comparison.  A gate that someone set up with --fail-on
-- has to tell when it cannot judge.
local function read_options(options, given)
  local list, metric = figures.new(), options.metric or ""
  local rules = {alpha = 0.01, stationary = options.assume_stationary, limit = {}}
  rules.fails_undecided = options.fail_undecided
  if not given.fail_undecided then rules.fails_undecided = given.fail_on end
  list:add(limit.option("metric", metric), metric, false)
  rules.same = limit.same(options.same or "")
  read_secondary(list, options.secondary or {})
  for _, item in ipairs(options.fail_on or {}) do
    local at
    local read = limit.read(item, function(option, name)
      at = list:add(option, name, false)
      return list[at]
    end)
    if rules.limit[at] then limit.refuse_again(item, list[at].text) end
    rules.limit[at] = read
  end
  if not next(rules.limit) then rules.limit[1] = {share = 0, amount = 0, text = ""} end
  return list, rules
end

-- The comparison ----------------------------------------------------------------------------------

-- Returns whether both sides have measured the figure of that number at one point or more.
local function is_measured(compared, figure)
  for _, at in ipairs(compared) do
    if at.rows[figure].measured then return true end
  end
  return false
end

-- Returns why a side has nothing to compare: one of its failed runs, or its options.
local function nothing_of(v, i)
  local s, names = v.sides[i], {}
  if s.n_counted == 0 then
    return ("%d of %d runs of %s failed, such as '%s': %s"):format(
      #s.runs, #s.runs, ("AB"):sub(i, i), s.runs[1].path, s.runs[1].left_out)
  end
  for _, at in ipairs(v.compared) do
    local n = i == 1 and at.n_a or at.n_b
    if n > 0 then names[#names + 1] = v.points.name(at.point) end
  end
  if v.points.n == 1 then return ("%s has %d"):format(("AB"):sub(i, i), s.n_counted) end
  return ("%s has %s"):format(("AB"):sub(i, i), table.concat(names, "; ", 1, math.min(#names, 4)))
end

-- A comparison that nothing can fail would be taken for a good one.
local function check_measured(v)
  local has_point = false
  for _, at in ipairs(v.compared) do has_point = has_point or at.how ~= "missing" end
  if not has_point then
    native.fail("'%s' and '%s' have no successful runs with the same options to compare; %s; %s",
      v.sides[1].path, v.sides[2].path, nothing_of(v, 1), nothing_of(v, 2))
  end
  for i, figure in ipairs(v.figures) do
    if (i == 1 or v.rules.limit[i]) and not is_measured(v.compared, i) then
      native.fail("the runs have not measured '%s' (%s)%s", figure.text,
        i == 1 and "--metric" or "--fail-on",
        results.known_kinds(figure.text, v.sides[1].kinds, v.sides[2].kinds))
    end
  end
end

-- Reads and compares both sides.  Returns the comparison as study.compare.verdicts prints it, or
-- fails if there is nothing to compare.
local function compare_sides(operands, list, rules)
  local a, b = side.read(operands[1], list), side.read(operands[2], list)
  local points = side.points(a, b)
  local v = {
    sides = {a, b}, figures = list, rules = rules, points = points,
    differences = differ.find(a, b, points)}
  v.compared, v.failing, v.undecided = comparison.make(a, b, list, points, rules)
  check_measured(v)
  return v
end

-- Folders of several sweeps have scores, and no verdicts.
local function refuse_tests(given, operands)
  for _, name in ipairs{"fail_on", "fail_undecided", "assume_stationary", "same", "secondary"} do
    if given[name] then
      native.fail("--%s: '%s' and '%s' have several sweeps, which get scores, not verdicts; name "
        .. "the folder of one sweep on each side", name:gsub("_", "-"), operands[1], operands[2])
    end
  end
end

-- Writes what was made in the form of --format.  form: the module that prints it,
-- study.compare.verdicts or study.compare.scores.
local function write_report(options, made, form)
  if options.format == "json" then
    output.write_document(form.document(made), options.output)
  else
    output.write_text(form.text(made, options.format == "markdown"), options.output)
  end
end

-- Returns the exit status: 3 for a regression, 6 if a figure is undecided and that is to fail, else
-- 0.  Two folders of several sweeps get scores, which never fail.
local function run(options, operands, given)
  output.check(options.output)
  native.read_at_most(options.max_document_size)
  if native.is_same_file(operands[1], operands[2]) then
    native.fail("'%s' and '%s' are the same; name two different results", operands[1], operands[2])
  end
  local list, rules = read_options(options, given)
  local has_scores = {scores.apply(operands[1]), scores.apply(operands[2])}
  if has_scores[1] and has_scores[2] then
    refuse_tests(given, operands)
    list.awaits_run = false
    write_report(options, scores.make(operands, list), scores)
    return 0
  end
  if has_scores[1] or has_scores[2] then
    native.fail("only one of '%s' and '%s' has several sweeps; name two folders of bench sweep "
      .. "--from, or two of one sweep", operands[1], operands[2])
  end
  local v = compare_sides(operands, list, rules)
  write_report(options, v, verdicts)
  if v.failing then return worse_status end
  return v.undecided and rules.fails_undecided and undecided_status or 0
end

return {
  name = "compare",
  title = "tell whether results B are better or worse than results A",
  operands = "A B",
  min_operands = 2,
  max_operands = 2,
  options = {
    shared.metric{help = "primary metric: rate (transactions/s or events/s), or as in --assert"},
    {name = "secondary", type = "list", def = "auto", form = "=NAMES",
      help = "other metrics, or none; auto: avg, percentiles, errors_per_s"},
    shared.same{},
    {name = "fail-on", type = "list", form = "=NAME[:PERCENT[:AMOUNT]]",
      help = "metrics and losses for exit status 3: p99:5%:50us,tps:3%"},
    shared.fail_undecided{
      help = "exit status 6 if nothing can be told; default: on with --fail-on"},
    {name = "assume-stationary", type = "bool", def = false,
      help = "comparing runs that do not alternate"},
    shared.format{choices = {"text", "markdown", "json"}, help = "form: text, markdown, json"},
    shared.output{help = "file for the comparison, instead of standard output"},
    shared.max_document_size,
  },
  run = run,
}

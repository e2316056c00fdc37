-- SPDX-License-Identifier: GPL-2.0-or-later
-- The subcommand `ab` finds out which of two sides is better, by pairs of runs until that is clear.
--
-- A round is a run of A, one of B and one of A again, in an order by chance, so that neither side
-- gains from a drift.  A/A, the ratio of the two runs of A, is the noise of the machine; a
-- difference there that the boundary calls real means that nothing here can be trusted.

local digits = require("study.digits")
local gate = require("study.ab.gate")
local limit = require("study.limit")
local native = require("study.native")
local options = require("study.options")
local output = require("study.output")
local report = require("study.ab.report")
local results = require("study.results")
local sequential = require("study.stats.sequential")
local settings = require("study.ab.settings")
local side = require("study.ab.side")

-- The runs of a round: side A, side B, and side A again.
local arms = {"a", "b", "aa"}
local worse_status, undecided_status = 3, 6

-- Folders -----------------------------------------------------------------------------------------

-- Makes the folder of --out, and one in it for the results of each run of a round.  Refuses a
-- folder that exists, so that the results of two studies do not mix.
local function make_folders(out)
  output.check_folder(out)
  if native.kind(out) then
    native.fail("--out=%s: cannot make the folder '%s': File exists; name a new folder", out, out)
  end
  for _, path in ipairs{out, out .. "/a", out .. "/b", out .. "/aa"} do
    local ok, why = native.mkdir(path)
    if not ok then native.fail("--out=%s: %s", out, why) end
  end
end

-- A folder without results would only be in the way of the next attempt.
local function remove_folders(out)
  for _, arm in ipairs(arms) do native.remove(out .. "/" .. arm) end
  native.remove(out)
end

-- Returns the file for a result of the next round.  Without --out all runs write the same file,
-- which is removed when its values are read.
local function result_path(study, arm)
  if not study.out then return study.scratch .. "/result.json" end
  return ("%s/%s/%04d.json"):format(study.out, arm, #study.rounds + 1)
end

-- Removes a result, and the journal of a run that was killed.
local function remove_result(study, arm)
  native.remove(result_path(study, arm))
  native.remove(result_path(study, arm) .. ".partial")
end

-- Saves the study after each round, so that a study that is killed can be read up to there.
local function save(study)
  if study.out then output.write_document(report.document(study), study.out .. "/study.json") end
end

-- Runs --------------------------------------------------------------------------------------------

-- Returns the value of the metric and those of the gate, or nil and why there is none.
local function read_values(study, path)
  if not native.kind(path) then
    return nil, "the run wrote no result"
  end
  local result, why = native.result(path, "totals")
  if not result then return nil, why end
  local value = result:value(study.metric.text)
  if not value then
    local name = study.metric.text
    return nil, ("the run did not measure %s%s"):format(name, results.kinds_of(name, result))
  end
  if not (value > 0 and value < math.huge) then
    return nil, ("%s is %g; a ratio needs a value above 0"):format(study.metric.text, value)
  end
  local values, name = study.gate:read(result)
  if not values then
    return nil, ("the run did not measure %s (--fail-on)%s"):format(
      name, results.kinds_of(name, result))
  end
  return value, values
end

-- Returns what stays of a side's settings when variables have their values of before again.  A
-- command that is the same for both sides makes settings take effect, those of before too.
local function lasting(study, one)
  local is_common = study.sides.a:has_command_of(study.sides.b)
  return report.settings(one:lasting(), is_common and {} or one.command)
end

-- Runs one side once.  Returns what read_values returns.
local function measure(study, arm)
  local path = result_path(study, arm)
  local value
  local one = study.sides[arm]
  if lasting(study, one) ~= "" then study.left = one end
  local ok, values = one:run(study.variables, path, study.scratch)
  if ok and not native.signalled() then value, values = read_values(study, path) end
  if not study.out then remove_result(study, arm) end
  return value, values
end

-- Runs both sides in the order of the round.  Returns true, or nil and why not; the results of such
-- a round are removed, because they would have no pair.
local function measure_round(study, round)
  for _, arm in ipairs(round.order) do
    native.pause(study.pause_s)
    study.pause_s = study.cooldown_s
    if not native.signalled() then round[arm], round.values[arm] = measure(study, arm) end
    if not round[arm] or native.signalled() then
      for _, each in ipairs(arms) do remove_result(study, each) end
      return nil, ("round %d, side %s: %s"):format(
        #study.rounds + 1, arm == "b" and "B" or "A", round.values[arm])
    end
  end
  return true
end

-- Returns "; 2 min 10 s to 9 min 4 s left": up to the next look, and up to the last one.
local function time_left(study)
  local n = #study.rounds
  local each_s, next_look = (native.clock() - study.begun_s) / n, sequential.pairs[#study.looks + 1]
  if n == sequential.most then return "" end
  return ("; %s to %s left"):format(
    digits.duration(each_s * (next_look - n)), digits.duration(each_s * (sequential.most - n)))
end

-- Adds a round to the study.  Returns true, or nil and why not, which is of no interest after a
-- signal.  A round that failed is repeated once.
local function run_round(study)
  local round = {order = study.rng:shuffle{unpack(arms)}, values = {}, repeated = false}
  local ok, why = measure_round(study, round)
  if not ok and not native.signalled() then
    native.log("bench ab: %s; the round is repeated", why)
    round = {order = round.order, values = {}, repeated = true}
    ok, why = measure_round(study, round)
  end
  if not ok then return nil, why end
  study.rounds[#study.rounds + 1] = round
  native.log("bench ab: %s%s", report.line(study), time_left(study))
  return true
end

-- The study ---------------------------------------------------------------------------------------

-- Looks at the difference if it is time to.  Returns whether the study has come to its end.
local function look(study)
  local n = #study.looks + 1
  if #study.rounds < sequential.pairs[n] then return false end
  local values = {a = {}, b = {}, again = {}, better = study.metric.better, same = study.same}
  for i, round in ipairs(study.rounds) do
    values.a[i], values.b[i], values.again[i] = round.a, round.b, round.aa
  end
  local found = sequential.look_at(values, #study.rounds, study.levels[n])
  found.gate = study.gate:judge(study.rounds, study.levels[n], study.same)
  study.looks[n] = found
  return n == #sequential.pairs or not found.steady
    or found.verdict ~= "unknown" and not gate.any(found.gate, "undecided")
end

-- Returns the exit status that the last look makes: by the figures of the gate, or by the metric.
local function status_of(study)
  local last = study.looks[#study.looks]
  local verdict, has_gate = report.verdict(last), #study.gate > 0
  local is_worse, is_unknown = verdict == "worse", verdict == "unknown"
  if has_gate then
    is_worse = last.steady and gate.any(last.gate, "failing")
    is_unknown = not last.steady or gate.any(last.gate, "undecided")
  end
  if is_worse then return worse_status end
  return is_unknown and study.fails_undecided and undecided_status or 0
end

-- Runs rounds until a look ends the study.  Returns true, or nil and why it cannot go on.  The
-- values of variables are read before the first run, so that give_back can restore them.
local function run_rounds(study)
  local a, b = study.sides.a, study.sides.b
  local variables = settings.variables(a.statements, b.statements)
  for _, one in ipairs{a, b} do
    local ok, why = one:remember(variables, study.scratch)
    if not ok then return nil, ("side %s: %s"):format(one.name, why) end
  end
  study.variables = variables
  study.begun_s = native.clock()
  while not study.ended do
    local ok, why = run_round(study)
    if not ok then return nil, why end
    study.ended = look(study)
    save(study)
  end
  return true
end

-- Gives variables their values of before again, and says what the server is left with.
local function give_back(study)
  local a, b = study.sides.a, study.sides.b
  local given, in_effect = false, true
  local why_not
  for _, one in ipairs{a, b} do
    local list = one:restoration(study.variables, {})
    local ok, why = one:set(list, study.scratch)
    given = given or ok and #list > 0
    -- An account that may not restore a value may not have changed it either.
    if not ok and not one:is_as_before(study.variables, study.scratch) then
      native.log("bench ab: side %s: values of before are not restored: %s", one.name, why)
      one.before, study.left = {}, one
    end
  end
  if given and a:has_command_of(b) then in_effect, why_not = a:apply(study.scratch) end
  if not in_effect then
    native.log("bench ab: values of before may not be in effect: %s", why_not)
  end
  if study.left then
    native.log("bench ab: the server is left with the settings of side %s: %s", study.left.name,
      lasting(study, study.left))
  elseif in_effect and #study.variables > 0 then
    native.log("bench ab: the variables of the server have their values of before again")
  end
end

-- Runs the study and returns its exit status.
local function run_study(study, given)
  if side.equals(study.sides.a, study.sides.b) then
    native.log("bench ab: both sides are the same, which shows the noise of the machine; --a, --b "
      .. "and the other options of the sides make them differ")
  end
  native.child_begin()
  local called, ok, why = pcall(run_rounds, study)
  give_back(study)
  study.signal = native.signalled()
  if study.out and #study.rounds == 0 then remove_folders(study.out) end
  -- The round that ends the study may be the one that cannot be saved.
  if not (called and study.ended) and #study.rounds > 0 then
    local saved, message = pcall(save, study)
    output.write(given, report, study)
    if not saved then error(message, 0) end
  end
  if not called then error(ok, 0) end
  if not ok and not study.signal then native.fail("%s", why) end
  if not study.ended then
    native.log("bench ab: interrupted by signal %d after %d rounds", study.signal, #study.rounds)
    return 128 + study.signal
  end
  output.write(given, report, study)
  return status_of(study)
end

-- Checks all options before anything runs, and returns the exit status of the study.  The second
-- run of A is that of the same side, so `aa` and `a` are one object.
local function run(given, operands, is_given)
  local metric = given.metric or ""
  local study = {
    same = limit.same(given.same or ""),
    metric = limit.figure("--metric=" .. metric, metric, "a rate or a latency"),
    gate = gate.new(given.fail_on or {}), rounds = {}, looks = {}, variables = {},
    levels = sequential.looks_levels(), out = given.out, cooldown_s = given.cooldown, pause_s = 0,
  }
  study.fails_undecided = given.fail_undecided
  if not is_given.fail_undecided then study.fails_undecided = #study.gate > 0 end
  output.check(given.output)
  local a, b = side.new("a", given, operands), side.new("b", given, operands)
  study.sides = {a = a, b = b, aa = a}
  for _, one in ipairs{a, b} do
    one:check()
    if #a.statements + #b.statements > 0 then one:check_server() end
  end
  study.seed = given.seed or native.entropy() % 2 ^ 31
  study.rng = native.rng(study.seed)
  study.scratch = native.check(native.temp_folder())
  if study.out then make_folders(study.out) end
  return run_study(study, given)
end

local declared = {}
for _, pattern in ipairs{
  {suffix = "", type = "string", form = "=OPTIONS", help = "options of the runs of side %s"},
  {suffix = "-program", type = "path", form = "=FILE",
   help = "another version of this program for side %s"},
  {suffix = "-set", type = "list", form = "=SQL", repeats = true, verbatim = true,
   help = "statements executed before each run of side %s"},
  {suffix = "-exec", type = "string", form = "=COMMAND",
   help = "command executed before each run of side %s"},
} do
  for _, name in ipairs{"a", "b"} do
    declared[#declared + 1] = {
      name = name .. pattern.suffix, type = pattern.type, form = pattern.form,
      repeats = pattern.repeats, verbatim = pattern.verbatim,
      help = pattern.help:format(name:upper()),
    }
  end
end
for _, option in ipairs{
  options.metric{help = "figure that is judged, such as rate, p99, p95@read"},
  options.same{},
  {name = "fail-on", type = "list", form = "=NAME[:PERCENT[:AMOUNT]]",
   help = "metrics and losses for exit status 3: p99:5%:50us,tps:3%"},
  options.fail_undecided{
    help = "exit status 6 if nothing can be told; default: on with --fail-on"},
  options.seed{form = "=N", help = "seed of the order of the runs, instead of a new one"},
  options.cooldown{def = "0", max = 86400, help = "time to wait between two runs"},
  options.out{form = "=FOLDER", help = "new folder for the results of all runs"},
  options.format{choices = {"text", "markdown", "json"},
   help = "form of the report: text, markdown, json"},
  options.output{help = "file for the report, instead of standard output"},
} do
  declared[#declared + 1] = option
end

return {
  name = "ab",
  title = "find out which of two sides is better, by pairs of runs",
  operands = "TEST [options]... run",
  min_operands = 1,
  takes_run = true,
  options = declared,
  run = run,
}

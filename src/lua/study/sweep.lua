-- SPDX-License-Identifier: GPL-2.0-or-later
-- The subcommand `sweep` runs all combinations of values of options, and makes a table of them.

local data = require("study.sweep.data")
local folder = require("study.sweep.folder")
local grid = require("study.sweep.grid")
local invocation = require("study.invocation")
local native = require("study.native")
local options = require("study.options")
local recipe = require("study.sweep.recipe")
local report = require("study.sweep.report")
local runs = require("study.sweep.runs")
local settings = require("study.sweep.settings")
local tables = require("study.sweep.table_files")
local tally = require("study.sweep.tally")

local runs_most, signalled = 100000, 128

local declared = {
  {name = "vary", type = "list", repeats = true, form = "=NAME=LIST",
   help = "option and its values: threads=1,2,4..64; A..B doubles"},
  options.out{letter = "o", help = "folder for the results and the table"},
  {name = "repeat", type = "int", def = "3", min = 1, max = 1000,
   help = "runs of each combination of values"},
  options.seed{help = "seed of the order of the runs; default: a new seed"},
  {name = "warmup", type = "seconds", form = "=S", min = 0, max = options.int_max,
   help = "--warmup-time of each run"},
  options.cooldown{form = "=S", def = "0", help = "pause between runs"},
  {name = "prepare", type = "bool", def = "off",
   help = "running 'prepare' whenever a run needs other data"},
  {name = "cleanup", type = "bool", def = "on",
   help = "running 'cleanup' at the end for data of --prepare"},
  {name = "stop-when", type = "string", form = "=CONDITION",
   help = "condition after which larger values are left out: p99>100ms"},
  {name = "plot", type = "path", form = "=FILE",
   help = "file for a picture of the table, .svg or .png"},
  {name = "from", type = "string", file = true, form = "=FILE",
   help = "file with several sweeps, or the name of a bundled one"},
  {name = "resume", type = "bool", def = "off",
   help = "making the runs that are missing in the folder"},
}

-- Setting up ------------------------------------------------------------------------------------

-- Refuses a sweep without --vary, and options that no sweep varies (api/opt.h).
local function check_axes(axes)
  if #axes == 0 then
    native.fail("--vary is missing; name an option of the run and its values, such as "
      .. "--vary=threads=1,2,4..64")
  end
  for _, axis in ipairs(axes) do
    local option = grid.option_of(axis)
    if option and option.traits.fixed then
      native.fail("--vary=%s: this option cannot be varied", option.name)
    end
  end
end

-- Refuses an option of the run that each group sets itself.  The option of one group, "pay.rate",
-- can be varied.
local function check_groups(axes, words)
  for _, axis in ipairs(axes) do
    if grid.plain_name(axis) == axis.name then
      invocation.check_varied(words, axis.name, "--vary=" .. axis.name)
    end
  end
end

-- These options take the place of another one, so that no run would differ.  For the option of a
-- group a run says so, because the group may lack what the run has.
local replacing = {
  {varied = "rate", given = "rate-profile", why = "which replaces --rate"},
  {varied = "threads", given = "threads-profile", why = "which says how many threads are active"},
  {varied = "threads", given = "threads-total", why = "which replaces --threads"},
}

-- Returns whether an old name with this value replaces the present one in a dialect: not with its
-- default, such as 10000 for --max-requests in 0.5, and not with a 0 that the dialect ignores.
local function old_name_replaces(name, value, dialect)
  local option = native.option(name, dialect)
  return value ~= native.number(option.default) and not (option.ignores_zero and value == 0)
end

-- Refuses to vary an option that another option of the runs replaces.  Another name of an option
-- counts as the option.
local function check_replaced(axes, words)
  local varied_as, given = {}, {} -- the names with which options are varied, by the present names
  for _, axis in ipairs(axes) do
    local option = native.option(axis.name)
    if option then varied_as[option.alias_of or option.name] = option.name end
  end
  local dialect = invocation.dialect(words)
  for _, word in ipairs(words) do
    local option = invocation.word_option(word)
    if option then
      given[option.name] = true
      local name, value = varied_as[option.alias_of], native.number(word:match("=(.*)$") or "")
      if dialect and name and name ~= option.name
        and old_name_replaces(option.name, value, dialect) then
        native.fail("--vary=%s: the runs have --%s, which replaces --%s in a dialect; leave one "
          .. "of them out", option.alias_of, option.name, option.alias_of)
      end
    end
  end
  for _, option in ipairs(replacing) do
    if varied_as[option.varied] and (given[option.given] or varied_as[option.given]) then
      native.fail("--vary=%s: the runs have --%s, %s; leave one of them out", option.varied,
        option.given, option.why)
    end
  end
end

-- Values are compared: those that are larger may be left out.
local function check_numbers(axis)
  for i, value in ipairs(axis) do
    if not native.number(value) then
      native.fail("--stop-when needs numbers as the values of the first --vary; '%s' of '%s' is "
        .. "not a number", axis.shown[i]:sub(1, 64), axis.name:sub(1, 64))
    end
  end
end

-- A run would say the same, after all runs before it.  What tests, drivers and scripts declare is
-- known to the run alone, and a dialect reads values in its own way.
local function check_values(axes, words)
  if invocation.dialect(words) then return end
  for _, axis in ipairs(axes) do
    for _, value in ipairs(axis) do
      local ok, why = native.check_option(grid.plain_name(axis), value)
      if not ok then native.fail("--vary: %s", why) end
    end
  end
end

-- Checks the request.  Returns the sweep: {options =, grid =, command =}.
local function set_up(given, words)
  if given.out then folder.check(given.out) end
  if given.plot then require("study.plot.picture").check("plot", given.plot) end
  local axes = grid.read(given.vary or {})
  local ok, why = true, nil
  if given.stop_when then ok, why = native.assertion(given.stop_when) end
  if not ok then
    native.fail("--stop-when=%s: %s", given.stop_when:sub(1, 64), why:sub(1, 300))
  end
  check_axes(axes)
  check_groups(axes, words)
  check_replaced(axes, words)
  if given.stop_when then check_numbers(axes[1]) end
  if not given.out then native.fail("--out is missing; name a folder for the results") end
  local n = axes.points * given["repeat"]
  if n > runs_most then
    native.fail("%d runs are too many; allowed: up to %d", n, runs_most)
  end
  local command = invocation.read(words)
  check_values(axes, words)
  return {options = given, grid = axes, command = command}
end

-- Opens the folder and sets the order of the runs.  Returns false if a signal has come.  The order
-- follows from the seed, and a folder that is resumed has the seed.
local function open(sweep)
  local given, axes = sweep.options, sweep.grid
  sweep.folder = folder.open(given.out)
  native.child_begin()
  sweep.data = data.new(sweep.folder, sweep.command, axes)
  if given.prepare then sweep.data:mark() end
  -- A test that was interrupted has not said which options keep its data.
  if native.signalled() then return false end
  local known = settings.check(sweep)
  sweep.seed = known or given.seed or native.entropy()
  local order = axes:order(given["repeat"], sweep.seed, given.stop_when ~= nil)
  sweep.tally = tally.new(axes, order)
  if not known then settings.write(sweep, order) end
  return true
end

-- The end ---------------------------------------------------------------------------------------

local function log_rest(sweep)
  local n = #sweep.tally.runs
  local failed, pending = sweep.tally:count("failed"), sweep.tally:count("pending")
  if failed > 0 then native.log("%d of %d runs failed; --resume tries them again", failed, n) end
  if pending > 0 then native.log("%d of %d runs are missing; --resume makes them", pending, n) end
end

-- Writes the table and its picture.
local function show(sweep)
  sweep.fits, sweep.axis = sweep.tally:fits()
  io.write(report.text(sweep)) -- first, because the disk may be full
  sweep.folder:write("table.json", tables.document(sweep))
  native.check(native.replace(sweep.folder:file("table.csv"), tables.csv(sweep.tally)))
  if sweep.options.plot and not native.signalled() then
    io.flush()
    require("study.plot.picture").draw_folder(sweep.options.out, sweep.options.plot)
  end
end

-- Makes the runs and the table.  Returns the exit status.
local function make(sweep)
  if not open(sweep) then return signalled + native.signalled() end
  sweep.tally:resume(sweep.folder, sweep.options.stop_when)
  local ok, why = pcall(runs.make_all, sweep)
  -- After a signal, the runs that are missing may still need the data.
  if sweep.options.prepare and sweep.options.cleanup and not native.signalled() then
    local dropped, fault = sweep.data:drop()
    if ok and not dropped then ok, why = false, fault end
  end
  if not ok and sweep.tally:count("done") == 0 and not native.signalled() then
    settings.remove(sweep.folder)
    error(why, 0)
  end
  local shown, fault = pcall(show, sweep)
  log_rest(sweep)
  if native.signalled() then return signalled + native.signalled() end
  if not ok then error(why, 0) end
  if not shown then error(fault, 0) end
  return sweep.tally:count("failed") == 0 and 0 or 1
end

-- Makes one sweep and returns its exit status.  Its folder is unlocked after an error too.
local function run_one(given, words)
  local sweep = set_up(given, words)
  local ok, status = pcall(make, sweep)
  if sweep.folder and sweep.folder.lock then sweep.folder:close() end
  if not ok then error(status, 0) end
  return status
end

-- Several sweeps --------------------------------------------------------------------------------

-- Returns the options of a line of the file; those that the command line gives replace them.
local function join(line, top, given)
  local all = {}
  for name, value in pairs(line) do all[name] = value end
  for name, is_given in pairs(given) do
    if is_given then all[name] = top[name] end
  end
  all.resume, all.from = top.resume, nil
  return all
end

-- Runs all sweeps of a file, and returns the largest exit status.  After one that failed the others
-- run, but not after a signal.
local function run_all(lines)
  local worst = 0
  for i, line in ipairs(lines) do
    if worst >= signalled then break end
    io.write(("%s%s:\n"):format(i > 1 and "\n" or "", line.name))
    native.log("%s (%d of %d)", line.name, i, #lines)
    local ok, status = pcall(run_one, line.options, line.operands)
    if not ok then
      native.log("bench sweep: %s: %s", line.name, native.escape(tostring(status)))
      status = 1
    end
    worst = math.max(worst, status)
  end
  return worst
end

-- Makes the sweeps of the file of --from, each in a folder of its own in that of --out.  Returns
-- the largest of their exit statuses.
local function run_file(top, operands, given)
  if not top.out then native.fail("--out is missing; name a folder for the results") end
  if top.plot then
    native.fail("--plot=%s: a picture shows one sweep; draw each with bench plot %s/NAME", top.plot,
      top.out)
  end
  local lines = recipe.read(top.from)
  folder.check(top.out)
  -- Faults of each sweep are found before the first one runs.
  for _, line in ipairs(lines) do
    local ok, why = pcall(function()
      local values, _, words = recipe.parse(line, declared, operands)
      line.options, line.operands = join(values, top, given), words
      line.options.out = ("%s/%s"):format(top.out, line.name)
      set_up(line.options, words)
    end)
    if not ok then native.fail("%s: %s", line.name, tostring(why):sub(1, 400)) end
  end
  folder.make(top.out)
  return run_all(lines)
end

return {
  name = "sweep",
  title = "run all combinations of values of options",
  operands = "TEST [run's options]... run",
  min_operands = 0,
  takes_run = true,
  options = declared,
  run = function(given_options, operands, given)
    if given_options.from then return run_file(given_options, operands, given) end
    return run_one(given_options, operands)
  end,
}

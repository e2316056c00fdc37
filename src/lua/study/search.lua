-- SPDX-License-Identifier: GPL-2.0-or-later
-- The subcommand `search` finds the highest rate, or number of threads, that keeps a goal.
--
-- Each probe is a run of its own.  study.search.hunt says what to probe, study.search.goal what was
-- found.

local goal = require("study.search.goal")
local hunt = require("study.search.hunt")
local invocation = require("study.invocation")
local limit = require("study.limit")
local native = require("study.native")
local options = require("study.options")
local output = require("study.output")
local report = require("study.search.report")

local batches_max = require("study.stats.batch").most
local threads_max = 1024

-- A probe with one of these exit statuses (engine/outcome.h) may have left a result.
local failed, violated, unserved = 1, 3, 4
local usable = {[0] = true, [failed] = true, [violated] = true, [unserved] = true}
-- This subcommand has found that no value keeps the goal.
local not_found = 3

-- The request -------------------------------------------------------------------------------------

-- Returns the share that --precision is, such as 0.03, or fails.
local function read_precision(text)
  local precision = limit.share(text)
  if not precision or precision < 0.001 or precision > 0.5 then
    native.fail("--precision=%s: not a percentage from 0.1 to 50", text)
  end
  return precision
end

-- Sets what is varied, and of which group; nil: of the run.
local function read_over(given)
  local group, what = given.over:match("^([%a_][%w_]*)%.(%a+)$")
  given.group, given.what = group, what or given.over
  if given.what ~= "rate" and given.what ~= "threads" then
    native.fail("--over=%s: unknown; allowed: rate, threads, and with groups GROUP.rate and "
      .. "GROUP.threads", native.escape(given.over:sub(1, 64)))
  end
  -- The rate that a group has.
  given.eps = "eps" .. (group and "@group:" .. group or "")
end

-- Returns the plan of study.search.hunt, or fails.  A search over threads has whole numbers from 1
-- on, up to 1024 without --max.
local function read_plan(given)
  local plan = {
    min = given.min, max = given.max, whole = given.what == "threads", time_s = given.time,
    most_s = given.time_max > 0 and given.time_max or 6 * given.time, probes = given.probes,
  }
  if plan.whole then
    plan.min = math.max(1, math.ceil(plan.min))
    plan.max = plan.max > 0 and math.floor(plan.max) or threads_max
  end
  if plan.time_s < 0.02 then native.fail("--time: a probe measures at least 0.02 s") end
  if plan.most_s < plan.time_s then native.fail("--time-max is less than --time") end
  if plan.max > 0 and plan.max < plan.min then native.fail("--max is less than --min") end
  plan.precision = read_precision(given.precision or "")
  return plan
end

-- A program without '/' is looked for later.
local function check_files(given)
  if given.out then output.check_folder(given.out) end
  if given.program and given.program:find("/", 1, true) then
    local ok, why = native.executable(given.program)
    if not ok then native.fail("--program=%s: %s", given.program, why) end
  end
  output.check(given.output)
end

-- Each group has a rate and threads of its own.  Returns the options that the varied group sets
-- itself (invocation.groups), or an empty table.
local function check_groups(words, given)
  local groups = invocation.groups(words)
  local names = {}
  for i, group in ipairs(groups) do names[i] = group.name end
  if #groups > 0 and not given.group then
    native.fail("--over=%s: each group has a value of its own; vary that of one group with "
      .. "--over=%s.%s", given.over, names[1], given.what)
  end
  for _, group in ipairs(groups) do
    if group.name == given.group then return group.own end
  end
  if given.group then
    native.fail("--over=%s: no group is called '%s'%s", given.over, given.group,
      #names > 0 and "; there are: " .. table.concat(names, ", ") or " (--group)")
  end
  return {}
end

-- Refuses the option `name` if it would end a probe too early, or cannot be used with what is
-- varied; shown: where it stands.
local function check_option(name, value, shown, over)
  if name == "events" or name == "events-per-session" then
    native.fail("%s: the search sets this option; leave it out", shown)
  end
  if name == "rate-profile" and over == "rate" then
    native.fail("%s: the search varies --rate, which a profile replaces; leave it out, or search "
      .. "with --over=threads", shown)
  end
  if name == "think-time" and native.number(value) ~= 0 and over == "rate" then
    native.fail("%s: the search varies --rate, which cannot be used with this option; leave it "
      .. "out, or search with --over=threads", shown)
  end
  if name == "rate" and native.number(value) ~= 0 and over == "threads" then
    native.fail("%s: the search varies --threads, and the rate would be too much for few of them; "
      .. "leave it out", shown)
  end
  if name == "threads-total" and over == "threads" then
    native.fail("%s: the search varies --threads, which this option replaces; leave it out", shown)
  end
  if name == "threads-profile" then
    native.fail("%s: the search varies --%s, and a profile says how many threads are active; leave "
      .. "it out", shown, over)
  end
end

-- Refuses options that the search sets itself, or that a probe cannot have.  An option that the
-- varied group sets itself counts, and not the one outside of the groups.
local function check_run(words, given)
  local own = check_groups(words, given)
  for _, word in ipairs(words) do
    local option = invocation.word_option(word)
    local name = option and (option.alias_of or option.name)
    if given.group and word:match("^%-%-([^=]*)") == given.over then
      native.fail("--%s: the search sets this option; leave it out", given.over)
    elseif name == given.what and not given.group then
      native.fail("--%s: the search sets this option; leave it out", option.name)
    elseif option and not own[name] then
      check_option(name, word:match("=(.*)$") or "", "--" .. option.name, given.what)
    end
  end
  for name, value in pairs(own) do
    if value ~= "none" and native.number(value) ~= 0 then
      check_option(name, value, ("--group=%s: --%s"):format(given.group, name), given.what)
    end
  end
  if invocation.dialect(words) then
    native.fail("probes cannot use a dialect, because dialects take whole seconds only; leave out "
      .. "--compat (BENCH_COMPAT)")
  end
  invocation.find_run(words)
end

-- Files -----------------------------------------------------------------------------------------

local search = {}
search.__index = search

-- Returns the name of a file of the next probe.
function search:file(ending)
  return ("%s/probe-%02d.%s"):format(self.folder, #self.hunt.found + 1, ending)
end

-- Returns the folder for the files of the probes: that of --out, which may exist unless it has the
-- table of another search, or one that is removed when the study ends.
local function make_folder(out)
  if not out then return (native.check(native.temp_folder())) end
  local ok, why = native.mkdir(out)
  if not ok then native.fail("--out=%s: %s", out, why:match("': (.*)$") or why) end
  if native.kind(out .. "/table.csv") then
    native.fail("--out=%s: the folder has a table.csv already; name another folder", out)
  end
  return out
end

-- A probe ---------------------------------------------------------------------------------------

-- A rate below this has seconds without an event.
local low_rate = 20

-- Returns the arguments of a probe.  Assertions end one early that has no prospect.
function search:command(probe, result)
  local given = self.options
  local argv = {given.program or native.program}
  local paced = given.what == "rate" and probe.purpose ~= "capacity"
  local function add(form, ...)
    argv[#argv + 1] = form:format(...)
  end
  for _, word in ipairs(self.words) do argv[#argv + 1] = word end
  add("--time=%s", native.shortest(probe.time_s))
  add("--warmup-time=%s", native.shortest(given.warmup_time))
  add("--report-interval=%s", native.shortest(probe.time_s / batches_max))
  add("--report-bins=all")
  add("--report=text,json:%s", result)
  if paced or given.what == "threads" then
    add("--%s=%s", given.over, native.shortest(probe.value))
  elseif given.group then
    add("--%s=0", given.over)
  end
  if probe.purpose == "capacity" then return argv end
  local asserts = self.goal:abort()
  if paced and probe.value >= low_rate then
    asserts[#asserts + 1] = given.eps .. ">=" .. native.shortest(probe.value / 2)
  end
  if #asserts > 0 then
    add("--assert=%s", table.concat(asserts, ","))
    add("--abort-on-assert=3")
  end
  return argv
end

-- Returns the sentence on a probe whose result cannot be used.
function search:refusal(probe, ended)
  local n, signo = #self.hunt.found + 1, native.signalled()
  if signo then return ("interrupted by signal %d in probe %d"):format(signo, n) end
  local quote = invocation.quote_errors(self:file("log"))
  return ("probe %d%s %s%s%s"):format(
    n, probe.purpose == "capacity" and "" or (" (%s)"):format(self.report:value{probe = probe}),
    ended.status and "failed with exit status " .. ended.status
      or "was ended by signal " .. ended.signal,
    quote ~= "" and ": " or "", quote)
end

-- Runs a probe.  Returns its result and its exit status, or nil and why there is no result.
function search:start(probe)
  local path = self:file("json")
  -- A program that writes no result is not to be given that of another search.
  native.remove(path)
  local ended, why = native.child{
    argv = self:command(probe, path), out = self:file("txt"), errors = self:file("log")}
  if not ended then return nil, why end
  -- With more events waiting than --rate-max-backlog allows there is a result.
  if native.signalled() or not usable[ended.status]
    or ended.status == failed and not native.kind(path) then
    return nil, self:refusal(probe, ended)
  end
  local result, fault = native.result(path)
  if not result then return nil, fault end
  local overload = ended.status == unserved or result.end_.overload
    or result.end_.reason == "assertion"
  if ended.status == failed and not overload then return nil, self:refusal(probe, ended) end
  return result, ended.status, overload
end

-- Tells the hunt and the report what a probe found.  Returns true, or nil and a message.
function search:understand(probe, result, status, overload)
  local judged, why = self.goal:judge(result)
  if not judged then return nil, why end
  local row = {probe = probe, status = status, overload = false, broken = {}}
  local found = {
    value = probe.value, decision = judged.decision, holds = judged.holds, score = judged.score,
    longer = judged.longer,
  }
  if probe.purpose == "capacity" then
    probe.value = result:value(self.options.eps) or 0
    if not (probe.value > 0) then
      return nil, "no event ended in the probe without --rate; give it more time (--time)"
    end
    row.closed = true
    found = {value = probe.value, score = self.goal:worst_score()}
  elseif overload then
    row.overload, found.decision, found.holds = true, "violated", false
  end
  row.holds, row.decided = found.holds, found.decision ~= "undecided"
  self.report:add(row, result, judged)
  self.hunt:tell(found)
  if not self.options.out then return true end
  return native.replace(self.folder .. "/table.csv", self.report.csv)
end

-- Probes what the hunt says until it has ended.  Returns true, or nil and a message.
function search:probe_all()
  while self.hunt.state == "runs" do
    if #self.hunt.found > 0 then native.pause(self.options.cooldown) end
    if native.signalled() then
      return nil, ("interrupted by signal %d after probe %d"):format(
        native.signalled(), #self.hunt.found)
    end
    local following = self.hunt.next
    local probe = {
      purpose = following.purpose, value = following.value, time_s = following.time_s}
    local result, status, overload = self:start(probe)
    if not result then return nil, status end
    local ok, why = self:understand(probe, result, status, overload)
    if not ok then return nil, why end
    native.log("%s", self.report:line())
  end
  return true
end

-- Returns the exit status of a search that has ended, and a message.
function search:conclude()
  local state = self.hunt.state
  if state == "found" then return 0 end
  if state == "none" then
    local row = self.report:lowest()
    local figures, broken = self.report:figures(row), self.report:broken(row)
    return not_found, ("the lowest %s that was tried breaks the goal %s: %s: %s%s"):format(
      self.options.over, self.goal.text, self.report:value(row), figures,
      (#self.goal > 1 or row.overload) and " (" .. broken .. ")" or "")
  end
  return 1, ("all probes are used, and no %s is confirmed; allow more probes (--probes) or longer "
    .. "probes (--time, --time-max)"):format(self.options.over)
end

-- Checks the request, searches, and returns the exit status.  A search that a signal or a failed
-- probe ends prints what it has found until then.
local function run(given, words)
  read_over(given)
  local plan = read_plan(given)
  check_files(given)
  local aim = native.check(goal.parse(given.goal))
  check_run(words, given)
  local self = setmetatable({
    options = given, words = words, goal = aim, hunt = hunt.begin(plan),
    report = report.new(aim, given.over, given.what, given.group), folder = make_folder(given.out),
  }, search)
  native.child_begin()
  local ended, why = self:probe_all()
  local status = native.signalled() and 128 + native.signalled() or 1
  if ended then status, why = self:conclude() end
  if #self.hunt.found > 0 then
    output.write(given, report, self.report, self.hunt)
  end
  if why then native.log("bench search: %s", native.escape(why)) end
  return status
end

return {
  name = "search",
  title = "find the highest rate that keeps a goal",
  operands = "TEST [options]... run",
  min_operands = 1,
  takes_run = true,
  options = {
    {name = "goal", type = "string", form = "=METRIC<LIMIT",
     help = "conditions, as in --assert: p99<20ms,errors<0.1%"},
    {name = "over", type = "string", def = "rate", form = "=WHAT",
     help = "what to vary: rate, threads, GROUP.rate, GROUP.threads"},
    {name = "precision", type = "string", def = "3%", form = "=PERCENT",
     help = "largest distance between values that keep and break the goal"},
    {name = "min", type = "double", def = "0", min = 0, max = options.int_max,
     help = "least value to try; 0: capacity or --max / 128, or 1 thread"},
    {name = "max", type = "double", def = "0", min = 0, max = options.int_max,
     help = "greatest value to try; 0: no bound, or 1024 threads"},
    {name = "time", type = "seconds", def = "10", min = 0, max = options.int_max,
     help = "seconds that a probe measures at first"},
    {name = "time-max", type = "seconds", def = "0", min = 0, max = options.int_max,
     help = "seconds that a probe measures at most; 0: six times --time"},
    {name = "warmup-time", type = "seconds", def = "2", min = 0, max = options.int_max,
     help = "seconds at the start of each probe that are not measured"},
    options.cooldown{def = "1", help = "seconds of rest between probes"},
    {name = "probes", type = "int", def = "12", min = hunt.probes_min, max = hunt.probes_max,
     help = "largest number of probes"},
    options.out{help = "folder for the results of the probes and table.csv"},
    options.format{help = "form: text, json"},
    options.output{help = "file for the result, instead of standard output"},
    {name = "program", type = "path", form = "=FILE",
     help = "program that runs the probes, instead of this one"},
  },
  run = run,
}

-- SPDX-License-Identifier: GPL-2.0-or-later
-- The run of the order-entry workload.  Each session is a terminal: it chooses a kind of
-- transaction from its deck, keys, sends the transaction and thinks.

local audits = require("order_entry.audits")
local cardinality = require("order_entry.cardinality")
local deck = require("order_entry.deck")
local inputs = require("order_entry.inputs")
local options = require("order_entry.options")
local random = require("order_entry.random")
local settings_of = require("order_entry.settings")

local M = {}

-- Keying time and mean think time, in seconds.
local keying = {new_order = 18, payment = 3, order_status = 2, delivery = 2, stock_level = 2}
local thinking = {new_order = 12, payment = 12, order_status = 10, delivery = 5, stock_level = 5}
-- The longest think time, in means.
local MOST_THINKING = 10

sysbench.kinds = deck.kinds
-- A delivery that another session carries out.  Its time counts from the terminal's request.
sysbench.kinds = {"deferred"}

-- What is fixed for a run ----------------------------------------------------------------------

-- Draws in C what all sessions of a run have in common: from the seed of the rows, which all know,
-- so that each run on them has the same.
local function constants_of(settings)
  local skewed = cardinality.skewed
  local state = settings.seed % 2 ^ 31
  local function draw(low, high)
    state = (state * 16807 + 12345) % (2 ^ 31 - 1)
    return low + state % (high - low + 1)
  end
  draw(0, 1)
  return random.c_last_of_run(settings.c_last_load, draw), draw(0, skewed.customer.A),
    draw(0, skewed.item.A)
end

-- Returns what the database knows of its rows; without a server there is none.
local function read_settings(drv, con)
  if drv:name() == "null" then
    return {warehouses = math.max(1, sysbench.opt.warehouses), c_last_load = 0, seed = 0}
  end
  return settings_of.of_loaded(drv, con)
end

-- Returns what decides the inputs of a terminal (inputs.lua).  The terminals of a run are dealt out
-- to the warehouses in turn, and the terminals of a warehouse to its districts.
function M.plan(settings, terminal)
  local W, share = settings.warehouses, sysbench.opt.order_remote / 100
  local plan = {
    warehouses = W, remote_line = share, remote_payment = math.min(1, 15 * share),
    home = sysbench.opt.order_home == "fixed" and terminal % W + 1 or 0,
    district = math.floor(terminal / W) % cardinality.DISTRICTS + 1,
  }
  plan.c_last, plan.c_customer, plan.c_item = constants_of(settings)
  return plan
end

-- Deviations and the report --------------------------------------------------------------------

local isolation_text = {
  mysql = "SHOW VARIABLES WHERE Variable_name IN ('tx_isolation', 'transaction_isolation')",
  pgsql = "SELECT 'level', UPPER(current_setting('transaction_isolation'))",
}
local levels = {["READ UNCOMMITTED"] = 1, ["READ COMMITTED"] = 2, ["REPEATABLE READ"] = 3,
                SERIALIZABLE = 4}
local least_level = {mysql = 3, pgsql = 2}
-- What the transactions do besides.
local level_note = {mysql = "row locks", pgsql = "row locks; reading only: REPEATABLE READ"}

-- Returns the isolation level as reports name it, and whether it is enough.
local function isolation(drv, con)
  local text = isolation_text[drv:name()]
  if not text then
    return drv:name() == "sqlite" and "SERIALIZABLE" or "none", true
  end
  local _, level = con:query_row_uncounted(text)
  level = level:gsub("-", " ")
  return ("%s, %s"):format(level, level_note[drv:name()]),
    (levels[level] or 4) >= least_level[drv:name()]
end

-- Returns the options, as given, by which a run deviates from the rules.
local function deviations(settings, isolation_is_enough)
  local opt, list = sysbench.opt, {}
  local function deviates(yes, text, ...)
    if yes then
      list[#list + 1] = text:format(...)
    end
  end
  local counts = deck.parse(opt.order_deck)
  deviates(not opt.order_wait, "--order-wait=off")
  deviates(opt.threads - opt.order_deliveries ~= 10 * settings.warehouses, "--threads=%d",
           opt.threads)
  deviates(options.given("threads_profile"), "%s", options.given("threads_profile"))
  deviates(opt.order_home ~= "fixed", "--order-home=%s", opt.order_home)
  deviates(opt.order_remote ~= 1, "--order-remote=%g", opt.order_remote)
  deviates(not deck.keeps_shares(counts), "--order-deck=%s", table.concat(counts, ","))
  deviates(not isolation_is_enough, opt.db_isolation_level == "default" and
           "the isolation level of the server" or "--db-isolation-level=%s", opt.db_isolation_level)
  deviates(options.given_rate(), "%s", options.given_rate())
  deviates(opt.time < 7200, "--time=%g", opt.time)
  deviates(opt.events > 0, "--events=%d", opt.events)
  deviates(options.given("events_per_session"), "%s", options.given("events_per_session"))
  deviates(opt.order_deliveries == 0, "--order-deliveries=0")
  return #list > 0 and table.concat(list, ", ") or "none"
end

-- Lines about the run, which the main instance knows.
local about = {}

-- Describes the run in its first lines, and checks that there are rows for it.
function M.init()
  options.check_run()
  sysbench.cmdline.expect()
  local drv = sysbench.sql.driver()
  local con = drv:connect()
  local settings = read_settings(drv, con)
  if sysbench.opt.order_mode == "routine" then
    require("order_entry.routines").check_made(drv, con)
  end
  local level, is_enough = isolation(drv, con)
  con:disconnect()
  about.warehouses = settings.warehouses
  about.c_delta = math.abs(constants_of(settings) - settings.c_last_load)
  about.lines = {
    ("Order entry: %d %s, mode %s, isolation %s")
      :format(settings.warehouses, settings.warehouses == 1 and "warehouse" or "warehouses",
              sysbench.opt.order_mode, level),
    "    deviations from the rules: " .. deviations(settings, is_enough),
  }
  if sysbench.cmdline.part() then
    about.lines[3] = "    not in the report of several hosts or groups: NOPM, which is 60 times " ..
      "the rate of new_order, and the proof sheet with its conditions"
  end
  print(table.concat(about.lines, "\n"))
end

-- Returns new orders a minute: all, those committed, and those rolled back on purpose.
local function new_orders(stat)
  local kind = stat.event_kinds.new_order
  local all = kind.events_per_s * 60
  local share = kind.events > 0 and stat.counts.rolled_back / kind.events or 0
  return all, all * (1 - share), all * share
end

-- A run that a signal has ended leaves requests in the queue.
local function deferred_line(n)
  local queue = sysbench.workqueue
  return ("    deferred deliveries:                 %d by %d sessions; at most %d waited%s"):format(
    n, sysbench.opt.order_deliveries, queue.longest(),
    queue.left() > 0 and ("; %d not carried out"):format(queue.left()) or "")
end

-- Returns the lines of the report.  Only the instance that has called init() knows the first two,
-- and the warehouses; checkpoints are reported by another one.
local function report_rate(stat)
  local all, committed, rolled_back = new_orders(stat)
  local lines = {about.lines and about.lines[1] or "Order entry:"}
  lines[2] = about.lines and about.lines[2]
  lines[#lines + 1] = ("    NOPM (new orders a minute):          %.2f (%.2f committed, " ..
    "%.2f rolled back on purpose)"):format(all, committed, rolled_back)
  if sysbench.opt.order_deliveries > 0 then
    lines[#lines + 1] = deferred_line(stat.event_kinds.deferred.events)
  end
  if sysbench.opt.order_wait and about.warehouses then
    lines[#lines + 1] = ("    efficiency:                          %.1f %% of 12.86 a warehouse")
      :format(all / (12.86 * about.warehouses) * 100)
  end
  return lines
end

-- The hosts and groups of a run do not report: each knows its own part alone.
if not sysbench.cmdline.part() then
  sysbench.hooks.add_to_cumulative = report_rate
  function sysbench.hooks.prove(stat)
    return require("order_entry.proof").sheet(stat, about)
  end
end

-- A terminal -----------------------------------------------------------------------------------

-- The connection, its statements, its transactions by kind, and what decides their inputs.
local con, statements, transactions, plan
local draw_kind, draw_inputs
-- The kind of the next transaction; the inputs of the one under way, and its failed tries.
local next_kind, pending
local tries = 0

-- LuaJIT compiles ever rarer paths through the transactions, and frees no code.  After this time of
-- a run, in seconds, a terminal keeps the code that it has, which does not grow with the run.
local COMPILING_S = 30
-- The time that is left of --time then.  -1: compiling has ended.  It does not end without --time.
local stops_compiling_at = -1

-- The delivery that a session which only delivers carries out.  Such a session has no deck.
local deferred = {}

-- A terminal's part of a delivery that another session carries out.
local function hand_over(t)
  sysbench.workqueue.give(t.w, t.carrier)
  return 0
end

-- Prepares the transactions of the mode.  If other sessions carry out the deliveries, a terminal,
-- which has a deck, hands them over.
local function prepare_statements(drv)
  statements = require("order_entry.statements").new(con, drv:name())
  transactions = require("order_entry." .. sysbench.opt.order_mode).new(statements)
  if sysbench.opt.order_deliveries > 0 and draw_kind then
    transactions.delivery = hand_over
  end
end

-- Counts the districts that a delivery has skipped.
local function count_skipped(n)
  if n > 0 then
    audits.districts_skipped:add(n)
    audits.deliveries_short:add()
  end
end

-- The event of a session that only delivers.
local function deliver()
  sysbench.event_kind("deferred")
  deferred.w, deferred.carrier = sysbench.workqueue.taken()
  count_skipped(transactions.delivery(deferred))
end

-- Sets the pause before the next transaction: thinking after this kind, nil for none, and keying.
local function pause(kind)
  local think = 0
  if kind then
    think = math.min(-math.log(1 - sysbench.rand.uniform_double()), MOST_THINKING)
    audits.count_think(think)
    think = think * thinking[kind]
  end
  sysbench.think(think + keying[next_kind])
end

-- Returns whether this session only delivers.
local function is_for_deliveries()
  local n = sysbench.opt.order_deliveries
  return n > 0 and sysbench.workqueue.among_last(n)
end

-- Chooses the next transaction, after one of this kind; nil: it is the first.
local function begin_cycle(kind)
  next_kind = draw_kind()
  if sysbench.opt.order_wait then
    pause(kind)
  end
end

-- Opens a session: a terminal, or one that only delivers and has no other events.
function M.thread_init()
  local drv = sysbench.sql.driver()
  con = drv:connect()
  if is_for_deliveries() then
    thread_run = sysbench.workqueue.takes(deliver)
    prepare_statements(drv)
    return
  elseif sysbench.opt.order_deliveries > 0 then
    sysbench.workqueue.gives()
  end
  plan = M.plan(read_settings(drv, con), sysbench.tid)
  draw_kind = deck.new(deck.parse(sysbench.opt.order_deck))
  draw_inputs = inputs.new(plan)
  begin_cycle()
  prepare_statements(drv)
  con:may_reconnect()
  stops_compiling_at = sysbench.opt.time - COMPILING_S
end

function M.thread_done()
  statements:close()
  con:disconnect()
end

-- Chooses what follows a transaction before its last try.  If that fails, the next event begins
-- before the hook below is called, and after the pause that is set by then.
local function begin_try()
  if tries + 1 == sysbench.opt.db_max_tries then
    begin_cycle(pending.kind)
  end
end

-- Ends the compiling when its time has come.  The condition is false before and afterwards, because
-- compiled code is left where a condition has another outcome.  LuaJIT before the end of 2023 goes
-- on compiling what follows frequent exits of compiled code: it counts them up to 255.
local function end_compiling_when_due()
  if sysbench.time_left() < stops_compiling_at then
    stops_compiling_at = -1
    jit.off()
    jit.opt.start("hotexit=1000")
  end
end

-- Draws the inputs of the next transaction, unless one is repeated.  The clock starts afterwards.
local function begin_event()
  if not pending then
    end_compiling_when_due()
    pending = draw_inputs(next_kind)
    audits.count(pending, plan)
    begin_try()
    sysbench.start_event()
  end
  sysbench.event_kind(pending.kind)
end

-- Counts the result of a transaction, and chooses the next one unless begin_try has done so.
local function end_event(result)
  local kind, was_last_try = pending.kind, tries + 1 == sysbench.opt.db_max_tries
  pending, tries = nil, 0
  if result == "rolled back" then
    audits.rolled_back:add()
  elseif kind == "delivery" then
    count_skipped(result)
  end
  if not was_last_try then
    begin_cycle(kind)
  end
end

function M.event()
  begin_event()
  end_event(transactions[pending.kind](pending))
end

-- Called before an event is repeated, with the same inputs, and after one has failed for good.  If
-- the connection is a new one, the statements are prepared again when they are executed.
function sysbench.hooks.before_restart_event()
  tries = tries + 1
  if tries == sysbench.opt.db_max_tries then
    pending, tries = nil, 0
  elseif pending then
    begin_try()
  end
end

return M

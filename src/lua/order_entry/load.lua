-- SPDX-License-Identifier: GPL-2.0-or-later
-- Makes, loads and drops the tables of the order-entry workload.  All threads of prepare go from
-- step to step together.  A warehouse is one transaction, with the setting that marks it as loaded,
-- so a load that was interrupted is continued by the next prepare.

local cardinality = require("order_entry.cardinality")
local options = require("order_entry.options")
local population = require("order_entry.population")
local routines = require("order_entry.routines")
local schema = require("order_entry.schema")
local settings_of = require("order_entry.settings")

local M = {}

-- Rows between two reports of the progress.
local ROWS_OF_PROGRESS = 10000
-- Bytes of a warehouse in SQLite, at least.
local WAREHOUSE_BYTES = 70e6

-- Prints a line about the progress, except with --quiet.
function M.say(text, ...)
  if not sysbench.cmdline.quiet() then
    sysbench.cmdline.progress()
    print(text:format(...))
  end
end

-- Calls each step(drv, con).  All threads wait for each other after a step, and none goes on after
-- one has failed.  Returns whether all steps have ended.  A server or a proxy may cut connections
-- that wait, so each step has a connection of its own.
function M.in_steps(steps)
  sysbench.cmdline.expect()
  for _, step in ipairs(steps) do
    local drv = sysbench.sql.driver()
    local con = drv:connect()
    step(drv, con)
    con:disconnect()
    if not sysbench.cmdline.barrier() then
      return false
    end
  end
  return true
end

-- Calls work(i) for those of 1..n that belong to this thread.
function M.for_own(n, work)
  for i = sysbench.tid + 1, n, sysbench.opt.threads do
    work(i)
  end
end

-- Making tables and settings -----------------------------------------------------------------

-- Writes the settings of new tables in one transaction, so that a load that was interrupted has all
-- of them or none.
local function make_settings(con, wanted)
  con:query("BEGIN")
  settings_of.add(con, "version", population.VERSION)
  settings_of.add(con, "seed", ("%d"):format(sysbench.rand.uniform(0, 2 ^ 53 - 1)))
  settings_of.add(con, "c_last_load",
                  ("%d"):format(sysbench.rand.uniform(0, cardinality.skewed.name.A)))
  settings_of.add(con, "history_key", sysbench.opt.order_history_key and 1 or 0)
  settings_of.add(con, "warehouses", 0)
  settings_of.add(con, "wanted", ("%d"):format(wanted))
  con:query("COMMIT")
end

-- Refuses tables that are of another kind, or that a reset has left in between.
local function check_settings(settings)
  settings_of.check_version(settings)
  if settings.reset then
    sysbench.cmdline.refuse("a reset of order_entry has not ended; repeat it with: " ..
                            "bench order_entry reset")
  elseif sysbench.opt.order_history_key ~= settings.history_key then
    sysbench.cmdline.refuse(("--order-history-key=%s: history was made %s a key of its own"):format(
      sysbench.opt.order_history_key and "on" or "off",
      settings.history_key and "with" or "without"))
  end
end

-- Makes what is missing before rows can be loaded.
local function make_tables(drv, con)
  local wanted = math.max(sysbench.opt.warehouses, 1)
  if sysbench.opt.order_mode == "routine" then
    routines.check_driver(drv)
  end
  settings_of.refuse_foreign_tables(drv, con)
  if not settings_of.exist(drv, con) then
    M.say("Creating tables...")
  end
  for _, t in ipairs(schema.tables) do
    con:query(schema.create_text(drv, t))
  end
  local settings = settings_of.read(con)
  if not settings.wanted then
    make_settings(con, wanted)
    settings = settings_of.read(con)
  end
  check_settings(settings)
  if wanted > settings.wanted then
    settings_of.write(con, "wanted", ("%d"):format(wanted))
    settings.wanted = wanted
  end
  if not settings.item then
    con:query("DELETE FROM item")
  end
  if drv:name() == "sqlite" then
    local missing = settings.wanted - settings_of.count_loaded(settings)
    sysbench.cmdline.check_room(missing * WAREHOUSE_BYTES)
  end
end

-- Loading rows -------------------------------------------------------------------------------

-- Returns a function that sends rows of a table, and one that ends it.
local function new_sink(con, table_name, settings)
  local t, all = schema.table(table_name), settings.rows_missing
  local names = schema.column_names(t)
  if table_name == "history" and settings.history_key then
    names = "h_id, " .. names
  end
  con:bulk_insert_init(("INSERT INTO %s (%s) VALUES"):format(table_name, names))
  local n = 0
  return function(row)
    con:bulk_insert_next(row)
    n = n + 1
    if n == ROWS_OF_PROGRESS then
      sysbench.cmdline.loaded(table_name, n, all)
      n = 0
    end
  end, function()
    con:bulk_insert_done()
    sysbench.cmdline.loaded(table_name, n, all)
  end
end

-- Loads a warehouse.  An error ends the thread with its connection, so that the server rolls back.
local function load_warehouse(drv, con, settings, w)
  M.say("Loading warehouse %d...", w)
  settings.now = os.date("%Y-%m-%d %H:%M:%S")
  con:query(drv:name() == "sqlite" and "BEGIN IMMEDIATE" or "BEGIN")
  for _, t in ipairs(population.tables) do
    local add, done = new_sink(con, t[1], settings)
    t[2](settings, w, add)
    done()
  end
  settings_of.add(con, ("warehouse %d"):format(w), settings.now)
  con:query("COMMIT")
end

-- Loads the items of this thread, unless all items have been loaded before.
local function load_items(con, settings)
  if settings.item then
    return
  end
  local add, done = new_sink(con, "item", settings)
  M.for_own(population.ITEM_PARTS, function(part)
    population.items(settings, part, add)
  end)
  done()
end

-- Returns the numbers of the warehouses without rows.
local function missing_warehouses(settings)
  local missing = {}
  for w = 1, settings.wanted do
    if not settings.loaded[w] then
      missing[#missing + 1] = w
    end
  end
  return missing
end

-- The number of warehouses that an earlier prepare has loaded.
local loaded_before

-- Loads what belongs to this thread.
local function load_rows(drv, con)
  local settings = settings_of.read(con)
  loaded_before = settings.warehouses or 0
  local missing = missing_warehouses(settings)
  settings.rows_missing = #missing * population.WAREHOUSE_ROWS +
                          (settings.item and 0 or cardinality.ITEMS)
  sysbench.cmdline.loaded("item", 0, settings.rows_missing)
  load_items(con, settings)
  M.for_own(#missing, function(i)
    load_warehouse(drv, con, settings, missing[i])
  end)
  sysbench.cmdline.progress()
end

-- After the rows -----------------------------------------------------------------------------

local index_exists = {
  mysql = "SELECT COUNT(*) FROM information_schema.statistics WHERE table_schema = DATABASE() " ..
          "AND table_name = '%s' AND index_name = '%s'",
  pgsql = "SELECT COUNT(*) FROM pg_index WHERE indrelid = to_regclass('%s') " ..
          "AND indexrelid = to_regclass('%s')",
  sqlite = "SELECT COUNT(*) FROM sqlite_master WHERE type = 'index' AND tbl_name = '%s' " ..
           "AND name = '%s'",
}

-- Makes an index, unless a load before this one has.
local function make_index(drv, con, index)
  local text = index_exists[drv:name()]
  if text and tonumber((con:query_row(text:format(index.table, index.name)))) > 0 then
    return
  end
  M.say("Creating an index on %s...", index.table)
  sysbench.cmdline.indexing(#schema.indexes, false)
  con:query(("CREATE INDEX %s ON %s (%s)"):format(index.name, index.table, index.columns))
  sysbench.cmdline.indexing(#schema.indexes, true)
end

-- Statistics for the server's planner.  PostgreSQL's VACUUM does the work that would otherwise be
-- done during a first run.
local analyze = {mysql = "ANALYZE TABLE %s", pgsql = "VACUUM ANALYZE %s", sqlite = "ANALYZE %s"}

-- Makes the statistics of a table, if the database has such.
function M.analyze(drv, con, table_name)
  if analyze[drv:name()] then
    con:query(analyze[drv:name()]:format(table_name))
  end
end

-- Makes the routines of --order-mode=routine.
local function make_routines(drv, con)
  if sysbench.opt.order_mode == "routine" then
    M.say("Creating routines...")
    routines.make(drv, con)
  end
end

-- Notes that all wanted warehouses are loaded.  Until then, run, check and reset refuse the tables.
local function end_load(con)
  local settings = settings_of.read(con)
  settings_of.write(con, "warehouses", ("%d"):format(settings.wanted))
  M.say("Loaded: %d warehouse%s", settings.wanted, settings.wanted > 1 and "s" or "")
end

local steps = {
  function(drv, con)
    if sysbench.tid == 0 then
      make_tables(drv, con)
    end
  end,
  load_rows,
  function(drv, con)
    if sysbench.tid == 0 and not settings_of.read(con).item then
      settings_of.add(con, "item", os.date("%Y-%m-%d %H:%M:%S"))
    end
    M.for_own(#schema.indexes, function(i)
      make_index(drv, con, schema.indexes[i])
    end)
  end,
  -- A load that had ended before has nothing new to analyze.
  function(drv, con)
    local settings = settings_of.read(con)
    if settings.warehouses < settings.wanted then
      M.for_own(#schema.tables, function(i)
        M.analyze(drv, con, schema.tables[i].name)
      end)
    end
  end,
  function(drv, con)
    if sysbench.tid == 0 then
      make_routines(drv, con)
      end_load(con)
    end
  end,
}

-- The command: loads what is missing, and then checks the rows as --order-check says.
function M.prepare()
  options.check()
  if M.in_steps(steps) then
    require("order_entry.check").after_prepare(loaded_before)
  end
end

-- Drops the routines, and the tables in the reverse order of their making.
function M.cleanup()
  options.check()
  local drv = sysbench.sql.driver()
  local con = drv:connect()
  settings_of.refuse_foreign_tables(drv, con)
  routines.drop(drv, con)
  for i = #schema.tables, 1, -1 do
    con:query("DROP TABLE IF EXISTS " .. schema.tables[i].name)
  end
  require("oltp_tables").shrink(drv, con)
  con:disconnect()
end

return M

-- SPDX-License-Identifier: GPL-2.0-or-later
-- What a database of the order-entry workload knows of itself, in the table oe_settings:
--   version             of the rules that made its rows
--   seed, c_last_load   what decides the rows
--   history_key         1: history has a key of its own
--   wanted              warehouses that the last prepare was asked for
--   warehouses          warehouses of the last prepare that has ended
--   item, warehouse N   time at which these rows were loaded, written with them
--   reset               present while a reset is under way

local population = require("order_entry.population")
local schema = require("order_entry.schema")

local M = {}

local find_text = {
  mysql = "SELECT MIN(table_name) FROM information_schema.tables " ..
          "WHERE table_schema = DATABASE() AND table_name IN ('%s')",
  pgsql = "SELECT MIN(relname::text) FROM pg_class WHERE relname IN ('%s') " ..
          "AND relkind IN ('r', 'p') AND pg_table_is_visible(oid)",
  sqlite = "SELECT MIN(name) FROM sqlite_master WHERE type = 'table' AND name IN ('%s')",
}

-- Returns one of the tables with these names; nil if none exists, and on a database that cannot be
-- asked.
local function find_table(drv, con, names)
  local text = find_text[drv:name()]
  return text and (con:query_row_uncounted(text:format(table.concat(names, "', '")))) or nil
end

-- Returns whether prepare has made the tables.
function M.exist(drv, con)
  return find_table(drv, con, {"oe_settings"}) ~= nil
end

-- Refuses tables with the names of the workload's that it has not made: oe_settings is the first
-- table that prepare makes, and the last that cleanup drops.
function M.refuse_foreign_tables(drv, con)
  local names = {}
  for _, t in ipairs(schema.tables) do
    names[#names + 1] = t.name
  end
  local found = not M.exist(drv, con) and find_table(drv, con, names)
  if found then
    sysbench.cmdline.refuse(("the database has a table '%s' that order_entry has not made; use " ..
                             "another database, or rename the table"):format(found))
  end
end

-- Returns all settings.  Numbers are numbers, and `loaded` has the warehouses that have their rows.
function M.read(con)
  local settings = {loaded = {}}
  local rs = con:query("SELECT name, value FROM oe_settings")
  for _ = 1, rs.nrows do
    local row = rs:fetch_row()
    local name, value = row[1], row[2]
    local w = tonumber(name:match("^warehouse (%d+)$"))
    if w then
      settings.loaded[w] = value
    else
      settings[name] = tonumber(value) or value
    end
  end
  settings.history_key = settings.history_key == 1
  return settings
end

-- Adds or changes a setting in one statement, because a database without it would have to be loaded
-- again.
function M.write(con, name, value)
  local text = "INSERT INTO oe_settings (name, value) VALUES ('%s', '%s') " ..
               "ON CONFLICT (name) DO UPDATE SET value = excluded.value"
  if sysbench.sql.driver():name() == "mysql" then
    text = "REPLACE INTO oe_settings (name, value) VALUES ('%s', '%s')"
  end
  con:query(text:format(name, value))
end

function M.remove(con, name)
  con:query(("DELETE FROM oe_settings WHERE name = '%s'"):format(name))
end

-- Adds a setting that does not exist yet.
function M.add(con, name, value)
  con:query(("INSERT INTO oe_settings (name, value) VALUES ('%s', '%s')"):format(name, value))
end

-- Returns how many of the wanted warehouses have their rows.
function M.count_loaded(settings)
  local n = 0
  for w = 1, settings.wanted or 0 do
    n = n + (settings.loaded[w] and 1 or 0)
  end
  return n
end

local function refuse(text, ...)
  sysbench.cmdline.refuse(text:format(...))
end

-- Refuses rows that this version would not make, because it cannot grow or reset them.
function M.check_version(settings)
  if settings.version and settings.version ~= population.VERSION then
    refuse("the rows of order_entry were made by rules of version %s, and this bench has " ..
           "version %d; drop them with: bench order_entry cleanup", settings.version,
           population.VERSION)
  end
end

-- Returns the settings of a database that is loaded, and refuses any other.  The field `warehouses`
-- is the number to use: that of --warehouses, or all.
function M.of_loaded(drv, con)
  if not M.exist(drv, con) then
    refuse("there are no tables of order_entry; make them with: " ..
           "bench order_entry --warehouses=N prepare")
  end
  local settings, asked = M.read(con), sysbench.opt.warehouses
  if settings.wanted == nil or settings.warehouses ~= settings.wanted then
    refuse("the tables of order_entry are half loaded: %d of %d warehouses; continue with: " ..
           "bench order_entry --warehouses=%d prepare", M.count_loaded(settings),
           settings.wanted or 0, settings.wanted or 1)
  elseif settings.reset then
    refuse("a reset of order_entry has not ended; repeat it with: bench order_entry reset")
  elseif asked > settings.warehouses then
    refuse("--warehouses=%d: only %d are loaded; load more with: " ..
           "bench order_entry --warehouses=%d prepare", asked, settings.warehouses, asked)
  end
  settings.warehouses = asked > 0 and asked or settings.warehouses
  return settings
end

return M

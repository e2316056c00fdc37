-- SPDX-License-Identifier: GPL-2.0-or-later
-- The options of the OLTP workloads and the values they may have.

local M = {}

M.declared = {
  table_size = {"Number of rows in each table", 10000},
  tables = {"Number of tables", 1},
  range_size = {"Number of ids covered by each range query", 100, keeps_data = true},
  point_selects = {"Point queries in each transaction", 10, keeps_data = true},
  simple_ranges = {"Plain range queries in each transaction", 1, keeps_data = true},
  sum_ranges = {"SUM() range queries in each transaction", 1, keeps_data = true},
  order_ranges = {"ORDER BY range queries in each transaction", 1, keeps_data = true},
  distinct_ranges = {"DISTINCT range queries in each transaction", 1, keeps_data = true},
  index_updates = {"Updates of the indexed column in each transaction", 1, keeps_data = true},
  non_index_updates = {"Updates of a column without index in each transaction", 1,
    keeps_data = true},
  delete_inserts = {"Pairs of DELETE and INSERT of one id in each transaction", 1,
    keeps_data = true},
  range_selects = {"The four kinds of range queries", true, keeps_data = true},
  auto_inc = {"Rows numbered by the server", true},
  create_table_options = {"Text at the end of CREATE TABLE", "", since = "1.1"},
  create_index = {"Time of the index on k: after or before loading, or none", "after",
    since = "bench"},
  create_secondary = {"Index on k; off is the same as --create-index=none", true},
  secondary = {"An ordinary index in place of the primary key on id", false},
  skip_trx = {"No BEGIN and COMMIT: every statement commits alone", false, keeps_data = true},
  reconnect = {"Events of a thread between its connections; 0: only one", 0,
    since = "1.1", keeps_data = true},
  mysql_storage_engine = {"Storage engine of the tables (MySQL)", "innodb"},
  pgsql_variant = {"Variant of PostgreSQL: redshift", nil, sysbench.cmdline.ARG_STRING},
}

local smallest = {
  threads = 1, tables = 1, table_size = 0, range_size = 1, point_selects = 0, simple_ranges = 0,
  sum_ranges = 0, order_ranges = 0, distinct_ranges = 0, index_updates = 0, non_index_updates = 0,
  delete_inserts = 0, reconnect = 0, random_points = 1, number_of_ranges = 1, delta = 0,
}

local allowed = {
  create_index = {after = true, before = true, none = true},
  pgsql_variant = {[""] = true, none = true, redshift = true},
}

-- The limits outside of dialects, which two options of the workloads of 0.5 share. Ids and numbers
-- computed from them are exact up to 2^53. A statement has as many parameters as points, or twice
-- as many as ranges, and LuaJIT passes up to some 8,000 arguments.
M.largest = {
  tables = 1e6, table_size = 2 ^ 53, range_size = 2 ^ 53, delta = 2 ^ 53, reconnect = 2 ^ 53,
  random_points = 7000, number_of_ranges = 3500,
}
local largest_count = 1e9 -- of statements in a transaction

-- Returns the keys of a table in the order of the alphabet, so that of several wrong values always
-- the same one is named.
local function names_of(t)
  local names = {}
  for name in pairs(t) do names[#names + 1] = name end
  table.sort(names)
  return names
end

-- In dialects, names have the underscores that sysbench shows, and whole numbers are not asked for.
local function check_of_dialect()
  for _, name in ipairs(names_of(smallest)) do
    local value, least = sysbench.opt[name], smallest[name]
    if value and not (value >= least) then -- also NaN
      error(("--%s must be at least %d, not %s"):format(name, least, value), 0)
    end
  end
  for _, name in ipairs(names_of(allowed)) do
    local value, words = sysbench.opt[name], allowed[name]
    if value and not words[value] then
      error(("--%s cannot be '%s'"):format(name, value), 0)
    end
  end
end

local function refuse(name, value, wrong, known)
  sysbench.cmdline.refuse(("--%s=%s: %s; allowed: %s"):format(name:gsub("_", "-"), value, wrong,
                                                               known))
end

-- Refuses a number that is out of range or has a fraction.  nil: the workload lacks the option.
local function check_number(name, least)
  local value, most = sysbench.opt[name], M.largest[name] or largest_count
  if value and not (value >= least and value <= most) then
    refuse(name, ("%.15g"):format(value), "out of range", ("%d to %d"):format(least, most))
  elseif value and value % 1 ~= 0 then
    refuse(name, ("%.15g"):format(value), "not a whole number", ("%d to %d"):format(least, most))
  end
end

-- Refuses a word that is not known.  The empty text stands for no word, and is not named.
local function check_word(name, words)
  local value = sysbench.opt[name]
  if not value or words[value] then
    return
  end
  local known = names_of(words)
  if known[1] == "" then table.remove(known, 1) end
  refuse(name, value, "unknown", table.concat(known, ", "))
end

-- Refuses values no workload can work with.
function M.check()
  if sysbench.cmdline.dialect() then
    return check_of_dialect()
  end
  for _, name in ipairs(names_of(smallest)) do check_number(name, smallest[name]) end
  for _, name in ipairs(names_of(allowed)) do check_word(name, allowed[name]) end
end

return M

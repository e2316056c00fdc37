-- SPDX-License-Identifier: GPL-2.0-or-later
-- Prepared statements of the order-entry transactions, and what their texts have that differs
-- between databases.

local unpack = unpack
local types = sysbench.sql.type

local M = {}

-- The parts {NAME} of a text, by driver.
local words = {
  mysql = {
    lock = " FOR UPDATE", left = "LEFT(CONCAT(?, c_data), 500)",
    begin = "BEGIN", begin_read = "BEGIN",
  },
  pgsql = {
    lock = " FOR UPDATE", left = "LEFT(? || c_data, 500)", begin = "BEGIN",
    begin_read = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
  },
  -- A writer takes the write lock at BEGIN: it would find later that the rows that it has read have
  -- changed.
  sqlite = {
    lock = "", left = "SUBSTR(? || c_data, 1, 500)", begin = "BEGIN IMMEDIATE",
    begin_read = "BEGIN",
  },
}
words.null = words.mysql

-- A row of the driver without a server.
local dry_row = setmetatable({dry = true}, {__index = function() return "1" end})

local Statement = {}
Statement.__index = Statement

-- These functions have no `...`, which LuaJIT compiles badly: a statement whose values are set at
-- once has at most nine.

-- Sets three parameters from `first` on.
function Statement:set(first, a, b, c)
  local p = self.params
  p[first]:set(a)
  p[first + 1]:set(b)
  p[first + 2]:set(c)
end

-- Executes the statement with the values that are set; returns its result.
function Statement:execute()
  return self.prepared:execute()
end

-- Executes the statement with these values; returns its result.
function Statement:run(a, b, c, d, e, f, g, h, i)
  local p, n = self.params, self.n
  if n > 0 then p[1]:set(a) end
  if n > 1 then p[2]:set(b) end
  if n > 2 then p[3]:set(c) end
  if n > 3 then p[4]:set(d) end
  if n > 4 then p[5]:set(e) end
  if n > 5 then p[6]:set(f) end
  if n > 6 then p[7]:set(g) end
  if n > 7 then p[8]:set(h) end
  if n > 8 then p[9]:set(i) end
  return self.prepared:execute()
end

-- Executes the statement with these values; returns the first row, or nil.
function Statement:row(a, b, c, d, e, f, g, h, i)
  local rs = self:run(a, b, c, d, e, f, g, h, i)
  if self.dry then
    return dry_row
  end
  return rs ~= nil and rs:fetch_row() or nil
end

-- As row, but a missing row is an error.
function Statement:must(a, b, c, d, e, f, g, h, i)
  return self:row(a, b, c, d, e, f, g, h, i) or
    error(("order_entry: '%s' has found no row; see bench order_entry check"):format(self.name), 0)
end

-- Returns the rows of a result and their number, in a list that the next call fills anew.  n_dry:
-- how many a driver without a server has found; nil: none.
function Statement:all(rs, n_dry)
  local rows, n = self.rows, self.dry and n_dry or rs ~= nil and rs.nrows or 0
  for i = 1, n do
    rows[i] = self.dry and dry_row or rs:fetch_row()
  end
  return rows, n
end

local Statements = {}
Statements.__index = Statements

-- Prepares a statement.  form: a letter for each parameter: i: a number, a to z: a text of at most
-- so many bytes, by M.lengths.
function Statements:prepare(name, form, text)
  local own = words[self.driver]
  local prepared = self.con:prepare((text:gsub("{([%w_]+)}", own)), name)
  local params = {}
  for i = 1, #form do
    local letter = form:sub(i, i)
    params[i] = letter == "i" and prepared:bind_create(types.BIGINT) or
                prepared:bind_create(types.VARCHAR, M.lengths[letter])
  end
  if #params > 0 and prepared:bind_param(unpack(params)) ~= 0 then
    error("order_entry: cannot prepare: " .. text, 0)
  end
  local st = setmetatable({name = name, prepared = prepared, params = params, n = #params,
                           rows = {}, dry = self.driver == "null"}, Statement)
  self.all[#self.all + 1] = prepared
  return st
end

-- The greatest lengths of texts: a last name, the data of a row of history, what a payment puts
-- before the data of a customer, these data, a list of numbers.
M.lengths = {n = 16, h = 24, p = 40, c = 500, l = 400}

function Statements:close()
  for i = #self.all, 1, -1 do
    self.all[i]:close()
    self.all[i] = nil
  end
end

-- Returns a maker of statements on the connection of a driver ("mysql", ...).
function M.new(con, driver)
  return setmetatable({con = con, driver = driver, all = {}}, Statements)
end

return M

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

-- Returns whether a result has a row, and up to four of its columns by their numbers.  Without a
-- server it has one, whose columns are "1".
function Statement:find(rs, a, b, c, d)
  if self.dry then
    return true, "1", "1", "1", "1"
  elseif rs == nil then
    return false
  end
  return rs:fetch(a, b, c, d)
end

-- Returns the columns of the row, as find does.  A missing row is an error.
function Statement:must(rs, a, b, c, d)
  local found, e, f, g, h = self:find(rs, a, b, c, d)
  if not found then
    error(("order_entry: '%s' has found no row; see bench order_entry check"):format(self.name), 0)
  end
  return e, f, g, h
end

-- Returns whether a result has another row, and up to five of its columns.  Without a server it has
-- none.
function Statement:next(rs, a, b, c, d, e)
  if self.dry then
    return false
  end
  return rs:fetch(a, b, c, d, e)
end

-- Reads all rows of a result, of which nothing is needed.
function Statement:skip(rs)
  while self:next(rs) do end
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
                           dry = self.driver == "null"}, Statement)
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

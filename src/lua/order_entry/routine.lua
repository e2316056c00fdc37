-- SPDX-License-Identifier: GPL-2.0-or-later
-- The mode routine: each transaction is one call of a routine in the database, whose result is the
-- row that a terminal shows.

local concat = table.concat

local M = {}

-- How a routine is called, with its parameters by their letters in statements.lua, by driver.
local calls = {
  mysql = {text = "CALL %s(%s)", i = "?", n = "?", l = "?", before = "", after = ""},
  -- The name `call` keeps a function that writes away from the servers of --db-read-hosts.
  pgsql = {text = "SELECT * FROM %s(%s) AS call", i = "?::int", n = "?::varchar", l = "?::int[]",
           before = "{", after = "}"},
}
calls.null = calls.mysql

-- The parameters of each routine.
local forms = {new_order = "iiiiillll", payment = "iiiiini", order_status = "iiin", delivery = "ii",
               stock_level = "iii"}

-- Prepares the call of a routine, with the type of each parameter where the database needs it.
local function prepare(p, kind)
  local marks, call = {}, calls[p.driver]
  for i = 1, #forms[kind] do
    marks[i] = call[forms[kind]:sub(i, i)]
  end
  return p:prepare(kind, forms[kind], call.text:format("oe_" .. kind, concat(marks, ", ")))
end

-- An order that is rolled back on purpose has no row.
local function new_order(st, call)
  local before, after = call.before, call.after
  return function(t)
    local n = t.n
    local rs = st:run(t.w, t.d, t.c, n, t.all_local,
                      before .. concat(t.item, ",", 1, n) .. after,
                      before .. concat(t.supply, ",", 1, n) .. after,
                      before .. concat(t.quantity, ",", 1, n) .. after,
                      before .. concat(t.order, ",", 1, n) .. after)
    if not st:find(rs) or st.dry and t.rollback then
      return "rolled back"
    end
  end
end

-- A customer is given by number or by last name; the other parameter is NULL.
local function payment(st)
  return function(t)
    st:must(st:run(t.w, t.d, t.c_w, t.c_d, not t.by_name and t.c or nil,
                   t.by_name and t.c_last or nil, t.cents))
  end
end

local function order_status(st)
  return function(t)
    st:must(st:run(t.w, t.d, not t.by_name and t.c or nil, t.by_name and t.c_last or nil))
  end
end

-- Returns the transaction, which returns how many districts the routine has skipped.
local function delivery(st)
  return function(t)
    local skipped = st:must(st:run(t.w, t.carrier), 1)
    return st.dry and 0 or tonumber(skipped)
  end
end

local function stock_level(st)
  return function(t)
    st:must(st:run(t.w, t.d, t.threshold))
  end
end

-- Prepares the calls; returns the transactions, as plain.new does.
function M.new(p)
  if p.driver == "pgsql" then
    p.con:expect_error(require("order_entry.routines_pgsql").ROLLED_BACK)
  end
  return {new_order = new_order(prepare(p, "new_order"), calls[p.driver]),
          payment = payment(prepare(p, "payment")),
          order_status = order_status(prepare(p, "order_status")),
          delivery = delivery(prepare(p, "delivery")),
          stock_level = stock_level(prepare(p, "stock_level"))}
end

return M

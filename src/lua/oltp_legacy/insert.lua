-- SPDX-License-Identifier: GPL-2.0-or-later
-- Insertions of single rows, as in sysbench 0.5.

local old = require("common")

thread_init = old.thread_init

-- Returns a number that no other event has drawn; ids are signed without unsigned integers.
local function unique_id()
  if sysbench.version == "0.5" then
    return sb_rand_uniq(1, oltp_table_size)
  end
  return sb_rand_uniq(0, old.is_mysql() and 2 ^ 32 - 1 or 2 ^ 31 - 1)
end

-- An id that is drawn may exist already, in a prepared row or one of another run: then the event is
-- repeated. In a dialect the run ends, as that of sysbench.
if not sysbench.cmdline.dialect() then
  function sysbench.hooks.sql_error_ignorable(failure)
    return not oltp_auto_inc and failure.sql_state:sub(1, 2) == "23"
  end
end

local with_id = "INSERT INTO %s (id, k, c, pad) VALUES (%s, %d, '%s', '%s')"
local without_id = "INSERT INTO %s (k, c, pad) VALUES (%d, '%s', '%s')"
local after_largest_id = "(SELECT IFNULL(MAX(id), 0) + 1 FROM %s)"

function event()
  local name, k, c, pad = old.table_name(), old.row_id(), old.c_value(), old.pad_value()
  if not oltp_auto_inc then
    db_query(with_id:format(name, ("%d"):format(unique_id()), k, c, pad))
  elseif old.is_mysql() then
    db_query(with_id:format(name, "0", k, c, pad))
  elseif old.ids_are_sent() then
    db_query(with_id:format(name, after_largest_id:format(name), k, c, pad))
  else
    db_query(without_id:format(name, k, c, pad))
  end
end

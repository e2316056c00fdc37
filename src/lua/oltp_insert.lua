-- SPDX-License-Identifier: GPL-2.0-or-later
-- Each event inserts one row, with a statement that is not prepared.

require("oltp_common")

-- Ids drawn during a run would collide with prepared rows, so with --auto_inc=off the tables start
-- empty.
sysbench.cmdline.commands.prepare[1] = function()
  if not sysbench.opt.auto_inc then
    sysbench.opt.table_size = 0
  end
  return cmd_prepare()
end

if not sysbench.cmdline.in_worker then
  require("oltp_tables").rows_in_run = function()
    return sysbench.opt.auto_inc and sysbench.opt.table_size or 0
  end
end

-- Two runs draw different ids, but an id may exist already: then the event is repeated.
function sysbench.hooks.sql_error_ignorable(failure)
  return not sysbench.opt.auto_inc and failure.sql_state:sub(1, 2) == "23"
end

function prepare_statements()
end

local with_id = "INSERT INTO sbtest%d (id, k, c, pad) VALUES (%d, %d, '%s', '%s')"
local without_id = "INSERT INTO sbtest%d (k, c, pad) VALUES (%d, '%s', '%s')"
local after_largest_id = "INSERT INTO sbtest%d (id, k, c, pad) VALUES " ..
                         "((SELECT IFNULL(MAX(id), 0) + 1 FROM sbtest%d), %d, '%s', '%s')"

-- Returns the statement for a row.  With --auto-inc=off its id is drawn from all numbers of 32
-- bits, else the server chooses the id; SQLite does so only if id is the primary key.
local function insert_text(table_num, k, c, pad)
  local name = drv:name()
  if not sysbench.opt.auto_inc then
    return with_id:format(table_num, sysbench.rand.unique() - 2147483648, k, c, pad)
  elseif name == "sqlite" and sysbench.opt.secondary then
    return after_largest_id:format(table_num, table_num, k, c, pad)
  elseif name == "pgsql" or name == "sqlite" then
    return without_id:format(table_num, k, c, pad)
  end
  return with_id:format(table_num, 0, k, c, pad)
end

function event()
  local table_num = sysbench.rand.uniform(1, sysbench.opt.tables)
  local k = sysbench.rand.default(1, sysbench.opt.table_size)
  con:query(insert_text(table_num, k, get_c_value(), get_pad_value()))
  check_reconnect()
end

-- SPDX-License-Identifier: GPL-2.0-or-later
-- The order-entry workload.  Options, commands and the run are modules of the folder order_entry,
-- each loaded when it is needed.

sysbench.cmdline.options = require("order_entry.options").declared

sysbench.cmdline.commands = {
  prepare = {function() return require("order_entry.load").prepare() end,
             sysbench.cmdline.PARALLEL_COMMAND},
  check = {function() return require("order_entry.check").check() end,
           sysbench.cmdline.PARALLEL_COMMAND},
  reset = {function() return require("order_entry.reset").reset() end,
           sysbench.cmdline.PARALLEL_COMMAND},
}

-- A dialect has neither metrics of scripts nor rows that are built in C.
local command = sysbench.cmdline.command
if sysbench.cmdline.dialect() and (command == "run" or sysbench.cmdline.commands[command]) then
  sysbench.cmdline.refuse("order_entry cannot be used in a dialect: leave out --compat and " ..
                          "BENCH_COMPAT, and start the program as bench")
end

function cleanup()
  require("order_entry.load").cleanup()
end

if command == "run" then
  local run = require("order_entry.run")
  init, thread_init, event, thread_done = run.init, run.thread_init, run.event, run.thread_done
end

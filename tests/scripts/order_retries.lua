-- SPDX-License-Identifier: GPL-2.0-or-later
-- Makes each transaction of order_entry fail at its fifth statement when it is tried for the first
-- time, and prints the first five statements of all tries with their values.
require("order_entry")
local statements = require("order_entry.statements")
local make, run_event = statements.new, event
local sent, tries = {}, 0

local function record(st)
  local run = st.run
  function st:run(...)
    sent[#sent + 1] = self.name .. "(" .. table.concat({...}, ",") .. ")"
    if #sent == 5 then
      print(tries, table.concat(sent, " "))
      if tries == 1 then
        error({errcode = sysbench.error.RESTART_EVENT})
      end
    end
    return run(self, ...)
  end
  return st
end

function statements.new(...)
  local made = make(...)
  local prepare = made.prepare
  function made:prepare(...)
    return record(prepare(self, ...))
  end
  return made
end

function event(id)
  sent, tries = {}, tries + 1
  run_event(id)
  tries = 0
end

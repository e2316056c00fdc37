-- SPDX-License-Identifier: GPL-2.0-or-later
-- The options of the order-entry workload and the values they may have.

local M = {}

M.declared = {
  warehouses = {"Number of warehouses; 0: those that are loaded, or 1 to prepare", 0},
  order_history_key = {"A key of its own for history, which some clusters need", false},
}

-- The least and the greatest value of each number.
local limits = {
  warehouses = {0, 2 ^ 20},
}

-- Refuses values that no command can work with.  Each command calls it first.
function M.check()
  for name, limit in pairs(limits) do
    local value = sysbench.opt[name]
    if not (value >= limit[1] and value <= limit[2] and value % 1 == 0) then
      sysbench.cmdline.refuse(("--%s=%.15g: not a whole number from %d to %d")
                              :format(name:gsub("_", "-"), value, limit[1], limit[2]))
    end
  end
end

return M

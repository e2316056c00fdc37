-- SPDX-License-Identifier: GPL-2.0-or-later
-- All random numbers of sysbench.rand but unique(), which is the process's.

function thread_init()
  con = sysbench.sql.driver():connect()
end

function event(tid)
  local r = sysbench.rand
  local a = {r.default(1, 1000), r.uniform(-5, 5), r.gaussian(1, 1000), r.special(1, 1000),
    r.pareto(1, 1000), r.zipfian(1, 1000)}
  con:query("SELECT " .. table.concat(a, ", "))
  local text = r.varstring(1, 10):gsub("%W", "_")
  local b = {r.string("@#@#"), text, ("%.15g"):format(r.uniform_double()),
    tostring(r.uniform_uint64())}
  con:query("SELECT '" .. table.concat(b, "', '") .. "'")
  print(("[%d]"):format(tid), unpack(b))
end

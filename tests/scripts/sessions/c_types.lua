-- SPDX-License-Identifier: GPL-2.0-or-later
-- Types of C with methods, and functions of C that call the script back.

ffi.cdef[[
typedef struct { int id; double sum; } sessions_tally;
void qsort(void *, size_t, size_t, int (*)(const int *, const int *));
]]

local Tally
local methods = {}

function methods.add(tally, value)
  con:query(("SELECT %d, %.3f"):format(tally.id, value))
  tally.sum = tally.sum + value
  return tally
end

Tally = ffi.metatype("sessions_tally", {
  __index = methods,
  __add = methods.add,
  __len = function (tally) return tonumber(tally.sum) end,
  __tostring = function (tally) return ("<%d: %.3f>"):format(tally.id, tally.sum) end,
})

function thread_init(id)
  con = sysbench.sql.driver():connect()
  tally = Tally(id, 0)
end

function event(id)
  tally:add(sysbench.rand.uniform(1, 1000) / 8)
  local _ = tally + 0.125
  local numbers = ffi.new("int[5]")
  for i = 0, 4 do
    numbers[i] = sysbench.rand.uniform(1, 100)
  end
  local compare = ffi.cast("int (*)(const int *, const int *)", function (a, b)
    return a[0] - b[0]
  end)
  ffi.C.qsort(numbers, 5, ffi.sizeof("int"), compare)
  compare:free()
  print(("[%d]"):format(id), tostring(tally), #tally, numbers[0], numbers[4])
end

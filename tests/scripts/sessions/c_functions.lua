-- SPDX-License-Identifier: GPL-2.0-or-later
-- Functions of C: those of sysbench by their names, usleep, and a structure for each session.

ffi.cdef[[
int usleep(unsigned int);
struct sessions_point { int x, y; };
]]

local C = ffi.C

function thread_init(id)
  con = sysbench.sql.driver():connect()
  point = ffi.new("struct sessions_point", id, 0)
  points = ffi.new("struct sessions_point[4]")
  buffer = ffi.new("char[16]")
end

function event(id)
  point.y = point.y + C.sb_rand_uniform(1, 9)
  local at = points[point.y % 4]
  at.x, at.y = at.x + 1, point.y
  C.usleep(50)
  C.sb_rand_str("##-@@", buffer)
  con:query(("SELECT %d, %d, '%s'"):format(point.x, point.y, ffi.string(buffer, 5)))
  assert(point.x == id)
  C.usleep(50)
  print(("[%d]"):format(id), point.y, at.x, C.sb_rand_gaussian(1, 100), C.sb_rand_pareto(1, 100),
    C.sb_rand_default(1, 100), ("%.15g"):format(C.sb_rand_uniform_double()))
end

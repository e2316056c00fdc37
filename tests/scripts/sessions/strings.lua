-- SPDX-License-Identifier: GPL-2.0-or-later
-- Functions that scripts add to the libraries: string.split as a method, table.map, math.round.

local splits = 0

function string:split(separator)
  local parts = {}
  splits = splits + 1
  for part in self:gmatch("[^" .. separator .. "]+") do
    parts[#parts + 1] = part
  end
  parts.by = owner
  return parts
end

function table.map(list, f)
  local out = {}
  for i, value in ipairs(list) do
    out[i] = f(value)
  end
  return out
end

function math.round(x)
  return math.floor(x + 0.5)
end

function thread_init(tid)
  owner = tid
  con = sysbench.sql.driver():connect()
end

function event(tid)
  local text = sysbench.rand.string("@@,##,@@@")
  con:query("SELECT '" .. text .. "'")
  local parts = text:split(",")
  assert(#parts == 3 and table.concat(parts, ",") == text and parts.by == tid)
  local rows = table.map(parts, function (part)
    con:query(("SELECT '%s'"):format(part))
    return part:upper()
  end)
  print(("[%d]"):format(tid), splits, math.round(#text / 2), unpack(rows))
end

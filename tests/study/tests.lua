-- SPDX-License-Identifier: GPL-2.0-or-later
-- What unit tests of Lua say: each of these raises an error if it does not hold.

local tests = {}

local function shown(value)
  if type(value) == "string" then
    return string.format("%q", value)
  end
  if type(value) ~= "table" then
    return tostring(value)
  end
  local parts = {}
  for key, item in pairs(value) do
    parts[#parts + 1] = "[" .. shown(key) .. "] = " .. shown(item)
  end
  table.sort(parts)
  return "{" .. table.concat(parts, ", ") .. "}"
end

local function equal(a, b)
  if type(a) ~= "table" or type(b) ~= "table" then
    return a == b
  end
  for key, value in pairs(a) do
    if not equal(value, b[key]) then
      return false
    end
  end
  for key in pairs(b) do
    if a[key] == nil then
      return false
    end
  end
  return true
end

-- The values are the same; tables have the same members.
function tests.equal(got, want)
  if not equal(got, want) then
    error("got " .. shown(got) .. ", wanted " .. shown(want), 2)
  end
end

-- The numbers differ by at most that part of the wanted one, 1e-9 if it is nil.
function tests.close(got, want, relative)
  local bound = math.abs(want) * (relative or 1e-9)
  if type(got) ~= "number" or not (math.abs(got - want) <= bound) then
    error(string.format("got %s, wanted %.17g within %g", tostring(got), want, bound), 2)
  end
end

-- The function raises an error whose text has that part.
function tests.raises(fn, part)
  local ok, message = pcall(fn)
  if ok then
    error("it raised no error", 2)
  end
  if not tostring(message):find(part, 1, true) then
    error("it raised " .. shown(tostring(message)) .. ", wanted " .. shown(part), 2)
  end
end

function tests.ok(value, why)
  if not value then
    error(why or "it does not hold", 2)
  end
end

return tests

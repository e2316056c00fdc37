-- Module "sysbench.rand": random numbers and strings of the session whose code runs.
local internal = ...
internal.declare("rand")
local ffi = internal.ffi
local C = internal.C
local error, tostring, tonumber, type = error, tostring, tonumber, type
local to_string = ffi.string

local rand = {}

local function missing(n)
  error("bad argument #" .. n .. " to '?' (cannot convert 'nil' to 'unsigned int')", 0)
end

-- Returns a text as the number that it shows: values of undeclared options are texts.  sysbench
-- takes no texts.
local function number(value, n, name)
  local kind = type(value)
  if kind == "string" and not internal.dialect() then
    return tonumber(value) or
      error(("bad argument #%d to '%s' (a number expected, got '%s')"):format(n, name, value), 3)
  elseif kind == "string" or kind == "table" or kind == "function" then
    local text = "bad argument #%d to '%s' (cannot convert '%s' to 'unsigned int')"
    error(text:format(n, name, kind), 3)
  end
  return value
end

-- Distribution number and range are constants of the call site when it is compiled.
local function integers(distribution, name)
  return function (a, b)
    if a == nil then
      missing(1)
    elseif b == nil then
      missing(2)
    end
    if type(a) ~= "number" or type(b) ~= "number" then
      a, b = number(a, 1, name), number(b, 2, name)
    end
    return C.bn_ffi_rand(distribution, a, b)
  end
end

local names = {[0] = "default", "uniform", "gaussian", "special", "pareto", "zipfian"}

for distribution, name in pairs(names) do
  rand[name] = integers(distribution, name)
end

function rand.unique()
  return C.bn_ffi_rand_unique()
end

function rand.uniform_uint64()
  return C.bn_ffi_rand_uint64()
end

function rand.uniform_double()
  return C.bn_ffi_rand_double()
end

-- Every '#' of the template becomes a digit, every '@' a lower-case letter.
function rand.string(fmt)
  if type(fmt) ~= "string" then
    fmt = type(fmt) == "number" and fmt .. "" or
      error("bad argument #1 to 'string' (string expected, got " .. type(fmt) .. ")", 2)
  end
  local text = C.bn_ffi_rand_string(fmt, #fmt)
  if text == nil then
    error("not enough memory", 2)
  end
  return to_string(text, #fmt)
end

-- A string of min to max characters.
function rand.varstring(min, max)
  min, max = number(min, 1, "varstring"), number(max, 2, "varstring")
  if not (min <= max and max > 0) then
    error('[string "sysbench.rand.lua"]:74: assertion failed!', 0)
  end
  if min < 0 then
    error("varstring: the shortest length is " .. tostring(min) .. "; it must be at least 0", 2)
  end
  local len = C.bn_ffi_rand(1, min, max)
  local text = C.bn_ffi_rand_chars(len)
  if text == nil then
    error("not enough memory", 2)
  end
  return to_string(text, len)
end

-- A dialect has the functions of its version, so that a script can ask which one it runs under.
local absent = { ["1.0"] = { "zipfian", "varstring" }, ["1.1"] = { "special" } }
for _, name in ipairs(absent[internal.dialect()] or {}) do
  rand[name] = nil
end

-- Texts of other characters: functions that few scripts use.
if not internal.dialect() then
  setmetatable(rand, {
    __index = function (t, name)
      local draw = internal.module("sysbench.row").texts[name]
      rawset(t, name, draw)
      return draw
    end
  })
end

return rand

-- Module "sysbench.rand.more": the part of module sysbench.rand that is loaded when needed:
-- arguments that are no numbers, and strings of random length.
local internal = ...
internal.declare("more")
local C = internal.C
local error, tostring, tonumber, type = error, tostring, tonumber, type
local to_string = internal.ffi.string

-- The levels of error() that name the script's call: in a function that a method of sysbench.rand
-- calls, and in a helper of such a function.
local CALLER, CALLER_OF_HELPER = 3, 4

local M = {}

-- Returns a text as the number that it shows: values of undeclared options are texts.  sysbench
-- takes no texts.
local function number(value, n, name, level)
  local kind = type(value)
  if kind == "string" and not internal.dialect() then
    return tonumber(value) or
      error(("bad argument #%d to '%s' (a number expected, got '%s')"):format(n, name, value),
            level)
  elseif kind == "string" or kind == "table" or kind == "function" then
    local text = "bad argument #%d to '%s' (cannot convert '%s' to 'unsigned int')"
    error(text:format(n, name, kind), level)
  end
  return value
end

-- Raises an error if one of two arguments is missing.
local function expect_both(a, b)
  if a == nil or b == nil then
    error("bad argument #" .. (a == nil and 1 or 2) ..
          " to '?' (cannot convert 'nil' to 'unsigned int')", 0)
  end
end

-- Returns the bounds of a range, of which one is no number.
function M.numbers(a, b, name)
  expect_both(a, b)
  return number(a, 1, name, CALLER_OF_HELPER), number(b, 2, name, CALLER_OF_HELPER)
end

-- Returns a template that is no string as one.
function M.template(fmt)
  return type(fmt) == "number" and fmt .. "" or
    error("bad argument #1 to 'string' (string expected, got " .. type(fmt) .. ")", CALLER)
end

-- The body of sysbench.rand.varstring, whose tail call leaves no level of its own.
function M.varstring(min, max)
  expect_both(min, max)
  min, max = number(min, 1, "varstring", CALLER), number(max, 2, "varstring", CALLER)
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

return M

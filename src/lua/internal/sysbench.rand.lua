-- Module "sysbench.rand": random numbers and strings of the session whose code runs.  Code that few
-- scripts need is in sysbench.rand.more, which costs no memory until it is used.
local internal = ...
internal.declare("rand")
local C = internal.C
local type, to_string = type, internal.ffi.string

local rand, more = {}, nil

local function load_more()
  more = more or internal.module("sysbench.rand.more")
  return more
end

-- Distribution number and range are constants of the call site when it is compiled.
local function integers(distribution, name)
  return function (a, b)
    if type(a) ~= "number" or type(b) ~= "number" then
      a, b = load_more().numbers(a, b, name)
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
    fmt = load_more().template(fmt)
  end
  return to_string(C.bn_ffi_rand_string(fmt, #fmt), #fmt)
end

-- A string of min to max characters.
function rand.varstring(min, max)
  return load_more().varstring(min, max)
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

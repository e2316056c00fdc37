-- Module "sysbench.metrics": figures that a script measures besides its events, in the statistics
-- of the session whose code runs.  A handle belongs to the instance that asked for it.
local internal = ...
internal.declare("metrics")
local C = internal.C
local type, error, tostring, setmetatable = type, error, tostring, setmetatable

-- Numbers above this have no whole steps.
local MOST = 2^53
local INFINITE = 1 / 0

local function misused(self, kind, method)
  error(("%s: expected a %s, got %s; the call is %s:%s()")
        :format(method, kind, type(self), kind, method), 3)
end

local function complain(value, wanted)
  error(("add: expected %s, got %s (a %s)"):format(wanted, tostring(value), type(value)), 3)
end

local counter_methods = {}
local counter_metatable = { __index = counter_methods }

-- n: a whole number, 1 if it is left out
function counter_methods:add(n)
  local at = type(self) == "table" and self.at
  if not at then
    misused(self, "counter", "add")
  end
  if n == nil then
    n = 1
  elseif type(n) ~= "number" or not (n >= 0 and n <= MOST and n % 1 == 0) then
    complain(n, "a whole number of at least 0")
  end
  at[0] = at[0] + n
end

local histogram_methods = {}
local histogram_metatable = { __index = histogram_methods }

-- value: a time in the unit of the histogram
function histogram_methods:add(value)
  local index = type(self) == "table" and self.index
  if not index then
    misused(self, "histogram", "add")
  end
  if type(value) ~= "number" or not (value >= 0 and value < INFINITE) then
    complain(value, "a time of at least 0")
  end
  C.bn_ffi_metric_record(index, value * self.ns)
end

local NS = { s = 1e9, ms = 1e6, us = 1e3, ns = 1 }

-- Returns the number of a metric, or raises an error where the script has called the function that
-- calls this.
local function declare(kind, name, unit)
  if type(name) ~= "string" then
    error(("sysbench.metrics.%s: the name must be a string, not a %s"):format(kind, type(name)), 3)
  elseif type(unit) ~= "string" then
    error(("sysbench.metrics.%s: the unit must be a string, not a %s"):format(kind, type(unit)), 3)
  end
  local index, why = internal.declare_metric(kind, name, unit)
  if not index then
    error(("sysbench.metrics.%s: %s"):format(kind, why), 3)
  end
  return index
end

local metrics = {}

function metrics.counter(name, unit)
  local index = declare("counter", name, unit == nil and "1" or unit)
  return setmetatable({ at = C.bn_ffi_metric_counter(index) }, counter_metatable)
end

function metrics.histogram(name, unit)
  unit = unit == nil and "s" or unit
  local index = declare("histogram", name, unit)
  return setmetatable({ index = index, ns = NS[unit] }, histogram_metatable)
end

return metrics

-- Module "sysbench.kinds": the kinds of events that a script tells apart, which it names in
-- sysbench.kinds: sysbench.kind.NAME, which event() returns, and sysbench.event_kind().
local internal = ...
internal.declare("metrics")
local C = internal.C
local number_of = internal.kind_numbers
local type, error, tostring, setmetatable, rawget, rawset, ipairs, next, concat =
  type, error, tostring, setmetatable, rawget, rawset, ipairs, next, table.concat

-- What stands for a kind, by its name.  The instances of an interpreter share it.
local kinds = {}

local function kind_of(name, number)
  local kind = kinds[name]
  if not kind then
    kind = setmetatable({}, { __tostring = function () return name end })
    kinds[name] = kind
    number_of[kind] = number
  end
  return kind
end

local function refuse(what, name, level)
  local names = internal.kinds()
  error(("%s: no kind of events is called '%s'; %s"):format(what, tostring(name),
        #names > 0 and "sysbench.kinds has: " .. concat(names, ", ")
        or "name the kinds at the top level of the script: sysbench.kinds = {'NAME'}"), level + 1)
end

local M = {}

-- Takes the names that a script assigns to sysbench.kinds, besides those of before.
function M.declare(sysbench, names)
  if internal.mixed then
    error("sysbench.kinds: each of several workloads in one run is a kind of events itself and " ..
          "cannot name others; run this script alone", 3)
  end
  if type(names) ~= "table" or names[1] == nil and next(names) ~= nil then
    error(("sysbench.kinds: expected a list of names, got a %s%s"):format(type(names),
          type(names) == "table" and " with other keys" or ""), 3)
  end
  for _, name in ipairs(names) do
    if type(name) ~= "string" then
      error(("sysbench.kinds: a name must be a string, not a %s"):format(type(name)), 3)
    end
    local number, why = internal.declare_kind(name)
    if not number then
      error("sysbench.kinds: " .. why, 3)
    end
    local shown = rawget(sysbench, "kind")
    if shown then
      rawset(shown, name, kind_of(name, number))
    end
  end
end

local shown_metatable = {
  __index = function (_, name)
    refuse("sysbench.kind", name, 2)
  end
}

-- Returns the value of sysbench.kind for an instance; nil: the script has named no kinds.
function M.kind()
  local shown = {}
  for number, name in ipairs(internal.kinds()) do
    shown[name] = kind_of(name, number)
  end
  return next(shown) and setmetatable(shown, shown_metatable)
end

local function number_by_name(name)
  for number, known in ipairs(internal.kinds()) do
    if known == name then
      return number_of[kind_of(name, number)]
    end
  end
  refuse("sysbench.event_kind", name, 3)
end

local function event_kind(kind)
  local number = number_of[kind]
  if not number then
    number = number_of[kinds[kind]] or number_by_name(kind)
  end
  C.bn_ffi_event_is_of_kind(number)
end

-- Returns the function that says, within an event, of which kind it is: by name or as
-- sysbench.kind.NAME.
function M.event_kind()
  return event_kind
end

return M

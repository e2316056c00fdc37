-- Module "sysbench.kinds": the kinds of events that a script tells apart, which it names in
-- sysbench.kinds: sysbench.kind.NAME, which event() returns, and sysbench.event_kind().
local internal = ...
internal.declare("metrics")
local C = internal.C
local kind_of, said = internal.kind_of, internal.said
local type, error, tostring, setmetatable, rawget, rawset, ipairs, next, concat =
  type, error, tostring, setmetatable, rawget, rawset, ipairs, next, table.concat

-- The numbers of kinds that something stands for, by their names.  The instances of an interpreter
-- share them, as they share kind_of.  The table is made large, and emptied, so that hardly any two
-- names are in one chain of it: a processor predicts how long a look-up takes if all take as long.
local numbers = {}
for i = 1, 256 do
  numbers[tostring(i)] = i
end
for i = 1, 256 do
  numbers[tostring(i)] = nil
end

local function kind_with(name, number)
  local kind = kind_of[number]
  if not kind then
    kind = setmetatable({ number }, { __tostring = function () return name end })
    kind_of[number] = kind
    numbers[name] = number
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
  said.has_kinds = true
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
      rawset(shown, name, kind_with(name, number))
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
    shown[name] = kind_with(name, number)
  end
  return next(shown) and setmetatable(shown, shown_metatable)
end

-- Returns the number of a kind that event_kind() does not know yet, or refuses it.
local function find_number(name)
  for number, known in ipairs(internal.kinds()) do
    if known == name then
      return kind_with(name, number)[1]
    end
  end
  refuse("sysbench.event_kind", name, 3)
end

local function event_kind(kind)
  local number
  if type(kind) == "table" then
    number = rawget(kind, 1)
    if number and kind_of[number] ~= kind then
      number = nil
    end
  else
    number = numbers[kind]
  end
  number = number or find_number(kind)
  if said.in_loop then
    said.number = number
  else
    C.bn_ffi_event_is_of_kind(number)
  end
end

-- Returns the function that says, within an event, of which kind it is: by name or as
-- sysbench.kind.NAME.
function M.event_kind()
  return event_kind
end

-- Runs the events of a script that names kinds, after the first one has begun: as the loop in
-- module sysbench, which calls it.  restart(failure) goes on after a failure, as module
-- sysbench.restart.
function M.run(env, call, id, restart)
  local more
  said.number, said.in_loop = 0, true
  repeat
    local ok, result = call(env.event, id)
    if not ok then
      ok, result = restart(result)
      if not ok then
        break
      end
    end
    local number = said.number
    if result then
      number = type(result) == "table" and rawget(result, 1)
      if not number or kind_of[number] ~= result then
        C.bn_ffi_event_drop()
        break
      end
    end
    if number ~= 0 then
      said.number = 0
      more = C.bn_ffi_event_next_of_kind(number)
    else
      more = C.bn_ffi_event_next()
    end
  until not more
  said.in_loop = false
end

return M

-- Module "sysbench.kinds": the kinds of events that a script tells apart, which it names in
-- sysbench.kinds: sysbench.kind.NAME, which event() returns, and sysbench.event_kind().
local internal = ...
internal.declare("metrics")
local C = internal.C
local type, error, tostring, setmetatable, rawget, rawset, ipairs, next, concat =
  type, error, tostring, setmetatable, rawget, rawset, ipairs, next, table.concat

-- sysbench.kind.NAME is the number of the kind, which begins at 1, plus this: a number that no
-- event() returns by chance, and from which compiled code has the kind without a look-up.
local BASE = 0x6b696e640000

-- How many kinds there are; the kind that the event in flight has named by sysbench.event_kind(), 0
-- for none, as long as an event loop looks at it (in_loop), which takes less time than a call of C.
-- In C, since compiled code knows the address of a small struct.
local state = internal.ffi.new("struct { int32_t count, named; bool in_loop; }")

-- The numbers of kinds that sysbench.event_kind() has looked for, by their names.  The table is
-- made large, and emptied, so that hardly any two names are in one chain of it: a processor
-- predicts how long a look-up takes if all take as long.
local numbers = {}
for i = 1, 256 do
  numbers[tostring(i)] = i
end
for i = 1, 256 do
  numbers[tostring(i)] = nil
end

-- Refuses a name.  level: that of error(), as seen by the caller.
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
  internal.has_kinds = true -- for the event loops
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
    state.count = #internal.kinds()
    local shown = rawget(sysbench, "kind")
    if shown then
      rawset(shown, name, BASE + number)
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
    shown[name] = BASE + number
  end
  state.count = #internal.kinds() -- another instance may have named them
  return next(shown) and setmetatable(shown, shown_metatable)
end

-- Returns the number of the kind for which a value of sysbench.kind stands; nil: another value.
local function number_of(value)
  local number = type(value) == "number" and value - BASE or 0
  return number >= 1 and number <= state.count and number or nil
end

-- Returns the number of a kind that event_kind() does not know yet, or refuses it.
local function find_number(name)
  for number, known in ipairs(internal.kinds()) do
    if known == name then
      numbers[name] = number
      return number
    end
  end
  refuse("sysbench.event_kind", name, 3)
end

-- Says, within an event, of which kind it is: by name or as sysbench.kind.NAME.
function M.event_kind(kind)
  local number = number_of(kind) or numbers[kind] or find_number(kind)
  if state.in_loop then
    state.named = number
  else
    C.bn_ffi_event_set_kind(number)
  end
end

-- Ends an event, whose function has returned `result`, as module sysbench.loop does.
local function end_event(result)
  local number = state.named
  if result then
    number = number_of(result)
    if not number then
      C.bn_ffi_event_drop()
      return false
    end
  end
  if number == 0 then
    return C.bn_ffi_event_next()
  end
  state.named = 0
  return C.bn_ffi_event_next_of_kind(number)
end

-- Runs the events of a script that names kinds, in module sysbench.loop.  The kind of an event that
-- has failed is in C.  So is any kind where sessions share the interpreter and its `state`: others
-- run while an event waits.
function M.run(call, restart, env, id)
  local loop, is_alone = internal.module("sysbench.loop"), not rawget(internal, "is_shared")
  local function restart_of_kind(failure)
    state.in_loop = false
    if state.named ~= 0 then
      C.bn_ffi_event_set_kind(state.named)
      state.named = 0
    end
    local ok, result = restart(failure)
    state.in_loop = is_alone
    return ok, result
  end
  state.named, state.in_loop = 0, is_alone
  loop.run(call, restart_of_kind, loop.run_events, end_event, env, id)
  state.in_loop = false
end

return M

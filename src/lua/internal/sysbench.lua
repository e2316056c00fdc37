-- Module "sysbench": completes the `sysbench` table of one script instance, makes its thread_run.
-- Modules here are loaded once per interpreter and serve all its instances, so they keep no data of
-- a session; the data of an instance lives in its two tables, env and sysbench.
local internal = ...
local module = internal.module

-- Fields that an instance of this interpreter has touched, but cmdline, which is large.  Later ones
-- have them from the start: where a field appears at first use, compiled code leaves its trace once
-- in each of a thousand sessions.
local touched = {}

-- The fields that most workers touch.  Module sysbench.more has the others.
local common = { cmdline = true, rand = true, sql = true }

local more -- that module, once it is loaded

-- Returns the value of a field that is made when a script first touches it, or nil.  A script may
-- look for a field that is not there in each event, so that no function of C is called for it.
local function load(key)
  if key == "cmdline" then
    return internal.cmdline()
  elseif common[key] then
    return module("sysbench." .. key)
  end
  more = more or module("sysbench.more")
  return more.load(key)
end

-- Keeps a new field of a script.  That of `kinds` names kinds of events instead.
local function assign(t, key, value)
  if key == "kinds" then
    module("sysbench.kinds").declare(t, value)
  else
    rawset(t, key, value)
  end
end

local on_demand = {
  __index = function (t, key)
    local value = load(key)
    if value ~= nil then
      touched[key] = key ~= "cmdline" or nil
      rawset(t, key, value)
    end
    return value
  end,
  __newindex = not internal.dialect() and assign or nil,
  ["bn.complete"] = function (sysbench)
    module("sysbench.more").complete(sysbench, load, common)
  end
}

-- Completes a table that a worker fills on demand (sysbench, sysbench.opt, some libraries), so that
-- pairs() shows all of it.
local function complete(t)
  local metatable = getmetatable(t)
  local fill = type(metatable) == "table" and rawget(metatable, "bn.complete")
  if fill then
    fill(t)
  end
end

local walks = {
  pairs = function (t)
    complete(t)
    return pairs(t)
  end,
  next = function (t, key)
    if key == nil then
      complete(t)
    end
    return next(t, key)
  end,
  rawget = function (t, key)
    local value = rawget(t, key)
    if value == nil then
      complete(t)
      value = rawget(t, key)
    end
    return value
  end
}

-- Returns the preset thread_run().
local function new_thread_run(env, sysbench, call)
  return function (id)
    local attach_renewals = rawget(internal, "attach_renewals")
    if attach_renewals then
      attach_renewals(env, sysbench)
    end
    local function restart(failure)
      return module("sysbench.restart").restart(env, sysbench, call, id, failure)
    end
    if rawget(internal, "has_kinds") then
      module("sysbench.kinds").run(call, restart, env, id)
    else
      local loop = module("sysbench.loop")
      loop.run(call, restart, loop.run_plain, loop.end_event, env, id)
    end
  end
end

-- Calls a function of module sysbench.loop, one function below the caller of event().
-- error("…", 3) names this place, as it does in sysbench, and so the call is no tail call.
function internal.call_below(run, finish, env, id)
  run(finish, env, id)
  return true
end

-- The 0.5 interface, loaded when a script first reads a global that does not exist.
local function offer_old_names(env, sysbench)
  setmetatable(env, {
    __index = function (_, name)
      module("compat05").install_on_demand(env, sysbench)
      return env[name]
    end
  })
end

-- (environment, its sysbench table, load everything now?, show tracebacks?, old names: "now",
-- "on demand" or nil) -> the preset thread_run
return function (env, sysbench, complete_now, debugging, old_names)
  sysbench.error = { NONE = 0, RESTART_EVENT = 1 }
  setmetatable(sysbench, on_demand)
  if complete_now then
    complete(sysbench)
    if internal.dialect() then
      setmetatable(sysbench, nil) -- sysbench's has none
    end
  else
    for key in pairs(touched) do
      sysbench[key] = load(key)
    end
    for name, walk in pairs(walks) do
      env[name] = walk
    end
  end
  if old_names == "now" then
    module("compat05").install(env, sysbench)
  elseif old_names then
    offer_old_names(env, sysbench)
  end
  return new_thread_run(env, sysbench, debugging and module("sysbench.restart").traced or pcall)
end

-- Module "sysbench.mix": runs in place of a script where a run has several workloads.  Each is a
-- script with globals, a `sysbench` table and modules of its own, and a kind of events.
local internal = ...
internal.declare("metrics")
internal.mixed = true -- module sysbench.kinds refuses the kinds that a script names
local C = internal.C
local pcall, error, type, ipairs, pairs, rawget = pcall, error, type, ipairs, pairs, rawget

-- Completes the `ffi` of a script.  Where sessions share the interpreter, module sysbench.shared
-- does so.
internal.adopt_ffi = internal.adopt_ffi or function (own)
  own.cdef = internal.module("sysbench.cdef")
end

-- Returns the name of the kind: the file's name with nothing but letters, digits and underscores.
local function kind_name(name)
  local kind = name:match("[^/]*$"):gsub("%.lua$", ""):gsub("[^%w_]", "_")
  return kind:find("^%d") and "_" .. kind or kind
end

-- Returns a command of a script: the function, whether all threads call it, and whether `false`
-- means that it has failed; or nothing.
local function command_of(part, name)
  local cmdline = rawget(part.sysbench, "cmdline")
  local commands = type(cmdline) == "table" and cmdline.commands
  local row = type(commands) == "table" and commands[name]
  if type(row) == "table" and row[1] ~= nil then
    return row[1], row[2], true
  end
  local command = (name == "prepare" or name == "cleanup") and rawget(part.env, name)
  if type(command) == "function" then
    return command, false, false
  end
end

-- Returns whether the script works on the tables of oltp_common: it is a bundled one that loads it,
-- or has replaced neither that command nor create_table().
local function shares_tables(part, command)
  if not part.env.package.loaded.oltp_common then
    return false
  end
  local create = rawget(part.env, "create_table")
  local source = function (f) return debug.getinfo(f, "S").source end
  return part.bundled or type(create) == "function" and source(create) == source(command)
end

-- The scripts of an instance -----------------------------------------------------------------

-- An instance of the mix: the tables of the instance, the scripts, and the one whose code runs.
local Mix = {}
Mix.__index = Mix

-- Says what is wrong with the workloads.
function Mix:refuse(text, ...)
  self.sysbench.cmdline.refuse(text:format(...))
end

-- Makes the code of a script, or of the mix (nil), the code that runs.
function Mix:enter(part)
  if self.current ~= part then
    self.current = part
    if part then
      internal.enter(part.number, part.env, part.sysbench)
    else
      internal.enter(0, self.env, self.sysbench)
    end
  end
end

-- Calls a function of a script with one argument; returns its result.
function Mix:within(part, f, arg)
  self:enter(part)
  local ok, result = self.call(f, arg)
  self:enter(nil)
  if not ok then
    error(result, 0)
  end
  return result
end

-- Gives the scripts their sysbench.opt, once.
function Mix:settle()
  if not self.settled then
    self.settled = true
    for _, part in ipairs(self.parts) do
      self:within(part, internal.export_options, part.number)
    end
  end
end

-- Calls a global function of each script that has it.
function Mix:each(name, id)
  self:settle()
  for _, part in ipairs(self.parts) do
    local f = rawget(part.env, name)
    if type(f) == "function" then
      self:within(part, f, id)
    end
  end
end

-- As each, and calls the others after one has failed.
function Mix:each_to_the_end(name, id)
  local failed, why = false, nil
  for _, part in ipairs(self.parts) do
    local f = rawget(part.env, name)
    if type(f) == "function" then
      local ok, raised = pcall(self.within, self, part, f, id)
      if not ok and not failed then
        failed, why = true, raised
      end
    end
  end
  if failed then
    error(why, 0)
  end
end

-- Loading ------------------------------------------------------------------------------------

-- Makes a workload a kind of events.  Kinds and workloads have the same numbers.
function Mix:declare_kind(part)
  local number, why = internal.declare_kind(kind_name(part.name))
  if not number then
    self:refuse("%s: %s", part.name, why)
  elseif number ~= part.number then
    self:refuse("%s and %s: two workloads of one run cannot have the same name",
                self.parts[number].name, part.name)
  end
end

-- Loads the scripts.  A worker drops what they declare as options, because the main instance has
-- read it.
function Mix:load(is_worker)
  for number, part in ipairs(internal.workloads()) do
    local script
    part.number = number
    self:declare_kind(part)
    self.parts[number] = part
    part.env, part.sysbench, part.thread_run, script = internal.make_workload(number)
    self:within(part, script)
    local cmdline = is_worker and rawget(part.sysbench, "cmdline")
    if type(cmdline) == "table" then
      cmdline.options = nil
    end
  end
end

-- Declares the options of all scripts.  The first one that declares an option describes it.
function Mix:declare_options()
  local options, known = nil, {}
  for _, part in ipairs(self.parts) do
    self:within(part, internal.read_options, part.number)
    for name, row in pairs(part.sysbench.cmdline.options or {}) do
      local key = name:gsub("-", "_")
      options = options or {}
      if not known[key] then
        known[key], options[name] = true, row
      end
    end
  end
  self.sysbench.cmdline.options = options
end

-- Takes the hooks that print reports or add lines to them, the proof sheet among these.  There is
-- one report.
function Mix:take_hooks()
  local owner = {}
  for _, name in ipairs({ "report_intermediate", "report_cumulative", "add_to_intermediate",
                          "add_to_cumulative", "prove" }) do
    for _, part in ipairs(self.parts) do
      local hook = part.sysbench.hooks[name]
      if hook and owner[name] then
        self:refuse("sysbench.hooks.%s: only one of several workloads can have it; %s and %s do",
                    name, owner[name].name, part.name)
      elseif hook then
        owner[name] = part
        self.sysbench.hooks[name] = function (stat)
          self:settle()
          return self:within(part, hook, stat)
        end
      end
    end
  end
end

-- Commands -----------------------------------------------------------------------------------

-- Does the work of each script in turn, and that on shared tables once.
function Mix:run_command(name)
  local shared = false
  self:settle()
  for _, part in ipairs(self.parts) do
    local command, parallel, may_refuse = command_of(part, name)
    local shares = command and shares_tables(part, command)
    if command and not (shares and shared) and (parallel or self.sysbench.tid == 0) then
      if self:within(part, command) == false and may_refuse then
        return false
      end
    end
    shared = shared or shares
  end
end

-- Declares the commands of all scripts.  All threads call a command if any script wants that, and
-- run_command leaves the other scripts to the first thread.
function Mix:declare_commands()
  local commands, names = {}, { prepare = true, cleanup = true }
  for _, part in ipairs(self.parts) do
    for name in pairs(part.sysbench.cmdline.commands or {}) do
      names[name] = true
    end
  end
  for name in pairs(names) do
    for _, part in ipairs(self.parts) do
      local command, parallel = command_of(part, name)
      if command then
        commands[name] = commands[name] or { function () return self:run_command(name) end, false }
        commands[name][2] = commands[name][2] or parallel
      end
    end
  end
  self.sysbench.cmdline.commands = commands
end

-- Events -------------------------------------------------------------------------------------

-- Draws the workload of the event that has begun.
function Mix:draw()
  local part = self.parts[C.bn_ffi_choose_workload()]
  self:enter(part)
  return part
end

-- Repeats an event that has failed until it succeeds, as module sysbench.restart does.  Its failure
-- and its retries are those of its workload.  An event that takes its place is drawn.
function Mix:restart(id, failure)
  C.bn_ffi_event_set_kind(self.current.number)
  return internal.module("sysbench.restart").restart(self.current.env, self.current.sysbench,
                                                      self.call, id, failure, function ()
    local part = self:draw()
    C.bn_ffi_event_set_kind(part.number)
    return part.env, part.sysbench
  end)
end

-- Runs the events, as the preset thread_run() of module sysbench does.
function Mix:run(id)
  local attach_renewals = rawget(internal, "attach_renewals")
  if attach_renewals then
    for _, part in ipairs(self.parts) do
      attach_renewals(part.env, part.sysbench)
    end
  end
  -- What the loop takes for the globals of a script: its event() is that of the one drawn.
  local drawn = { event = function (of) return self:draw().env.event(of) end }
  local function restart(failure)
    return self:restart(id, failure)
  end
  local function end_event(result)
    if result then
      C.bn_ffi_event_drop()
      return false
    end
    return C.bn_ffi_event_next_of_kind(self.current.number)
  end
  local loop = internal.module("sysbench.loop")
  loop.run(self.call, restart, loop.run_events, end_event, drawn, id)
end

-- Checks that each script can be a part of the run, and calls its init().
function Mix:init()
  for _, part in ipairs(self.parts) do
    if rawget(part.env, "thread_run") ~= part.thread_run then
      self:refuse("%s: a script that replaces thread_run() cannot be one of several workloads",
                  part.name)
    elseif type(part.env.event) ~= "function" then
      error(("cannot find the event() function in %s"):format(part.name), 0)
    end
  end
  self:each("init")
end

-- (environment and sysbench table of the instance, is it a worker's?, the command, show
-- tracebacks?)
return function (env, sysbench, is_worker, command, debugging)
  local call = debugging and internal.module("sysbench.restart").traced or pcall
  local mix = setmetatable({ env = env, sysbench = sysbench, parts = {}, call = call }, Mix)
  mix:load(is_worker)
  mix:take_hooks()
  if not is_worker then
    mix:declare_options()
  end
  if not is_worker or command ~= "run" then
    mix:declare_commands()
  end
  function env.init() mix:init() end
  function env.thread_init(id) mix:each("thread_init", id) end
  function env.thread_done(id) mix:each_to_the_end("thread_done", id) end
  function env.done() mix:each_to_the_end("done") end
  function env.thread_run(id)
    local ok, failure = pcall(mix.run, mix, id)
    mix:enter(nil)
    if not ok then
      error(failure, 0)
    end
  end
end

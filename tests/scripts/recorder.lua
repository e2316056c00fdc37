-- SPDX-License-Identifier: GPL-2.0-or-later
-- Runs one step of a workload without program or server and prints the SQL as a server's log would.
--
-- Usage: luajit recorder.lua FOLDER-OF-SCRIPTS SCRIPT STEP [NAME=VALUE]...
-- A NAME is an option, or one of: driver, tid, version, dialect, events, max_id, rest
-- (now or later: when a session prepares the statements that it has not prepared yet),
-- fails_before (the barrier before which another thread fails), errors (one for each event that is
-- to be repeated before the others: ignored, lost with the connection, or own of the script).

local folder, script, step = arg[1], arg[2], arg[3]
local given = {}
for i = 4, #arg do
  local name, value = arg[i]:match("^([^=]+)=(.*)$")
  if value == "on" or value == "off" then
    value = value == "on"
  end
  given[name] = tonumber(value) or value
end
local driver, events = given.driver or "mysql", given.events or 1

local function log(what, text)
  io.write("[c1] ", what, text and " " .. text or "", "\n")
end

-- Connections, statements, parameters ----------------------------------------------------------

local function quoted(value)
  return type(value) == "string" and "'" .. value .. "'" or ("%d"):format(value)
end

local function new_statement(text)
  local statement, params, open = {}, {}, true
  function statement:bind_create(sql_type, length)
    assert(sql_type == "BIGINT" or length, "a text without a length")
    local param = {}
    function param:set(value) self.value = value end
    function param:set_rand_str(template) self.value = sysbench.rand.string(template) end
    return param
  end
  function statement:bind_param(...)
    params = {...}
    local _, wanted = text:gsub("%?", "")
    return #params == wanted and 0 or 1
  end
  function statement:execute()
    assert(open, "a closed statement was executed")
    local i = 0
    log("Execute", (text:gsub("%?", function() i = i + 1 return quoted(params[i].value) end)))
  end
  function statement:close()
    assert(open, "a statement was closed twice")
    open = false
    log("Close stmt")
  end
  return statement
end

local function new_connection()
  local con, rows = {}, nil
  function con:query(text) log("Query", text) end
  function con:query_row_uncounted(text) log("Query", text) return given.max_id end
  function con:prepare(text) log("Prepare", text) return new_statement(text) end
  function con:bulk_insert_init(text) rows = {text = text} end
  function con:bulk_insert_next(row) rows[#rows + 1] = row end
  function con:bulk_insert_done()
    if #rows > 0 then
      log("Query", rows.text .. table.concat(rows, ","))
    end
  end
  function con:reconnect() log("Quit") log("Connect") end
  function con:may_reconnect() end
  function con:disconnect() log("Quit") end
  log("Connect")
  return con
end

-- The program ----------------------------------------------------------------------------------

sysbench = {
  tid = given.tid or 0,
  version = given.version or "1.1.0",
  hooks = {},
  cmdline = {
    command = step,
    PARALLEL_COMMAND = true,
    ARG_STRING = "STRING",
    expect = function() return given.rest or "later" end,
    hold = function() end,
    prepare_held = function() return true end,
    dialect = function() return given.dialect end,
    refuse = function(text) error(text, 0) end,
    quiet = function() return false end,
    progress = function() end,
    loaded = function() end,
    indexing = function() end,
    check_room = function() end,
  },
  rand = {
    uniform = math.random,
    default = function(a, b) return math.random(a, math.max(a, b)) end,
    unique = function() return 2 ^ 32 - 1 end,
    string = function(template)
      return (template:gsub("#", function() return math.random(0, 9) end))
    end,
  },
  sql = {
    type = {BIGINT = "BIGINT", CHAR = "CHAR"},
    driver = function() return {name = function() return driver end, connect = new_connection} end,
  },
}
local failed = given.fails_before or 0
function sysbench.cmdline.barrier()
  log("Barrier")
  failed = failed - 1
  return failed ~= 0
end

package.path = folder .. "/?.lua;" .. package.path
dofile(script:find("/") and script or folder .. "/" .. script .. ".lua")

sysbench.opt = {threads = 1}
for name, declared in pairs(sysbench.cmdline.options or {}) do
  sysbench.opt[name] = declared[2] == nil and "" or declared[2]
end
for name, value in pairs(given) do
  sysbench.opt[name] = value
end

local function restart_with(kind)
  if kind == "own" then -- raised by a script, not by a statement
    return sysbench.hooks.before_restart_event({ errcode = 1 })
  end
  sysbench.hooks.before_restart_event({
    errcode = 1,
    sql_errno = 0,
    sql_state = "HY000",
    connection = { lost = kind == "lost" },
  })
end

if step == "run" then
  thread_init(sysbench.tid)
  for kind in (given.errors or ""):gmatch("[^,]+") do
    event(sysbench.tid)
    restart_with(kind)
  end
  for _ = 1, events do
    event(sysbench.tid)
  end
  thread_done(sysbench.tid)
elseif (sysbench.cmdline.commands or {})[step] then
  sysbench.cmdline.commands[step][1]()
else
  _G[step]()
end

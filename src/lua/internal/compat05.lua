-- Module "compat05": the global functions and variables of the 0.5 interface, on today's objects.
local internal = ...
internal.declare("more")
local C = internal.C
local error, pcall, type, tonumber, setmetatable = error, pcall, type, tonumber, setmetatable
local newproxy, unpack, pairs, rawset = newproxy, unpack, pairs, rawset

local RESTART_EVENT = 1

-- Returns whether a failure repeats the event.
local function is_restart(failure)
  return type(failure) == "table" and failure.errcode == RESTART_EVENT
end

-- Turns errors into a text with the position of the script's call.
local function checked(text, ok, ...)
  if ok then
    return ...
  end
  error(text, 3)
end

-- Returns a function that treats failed statements as scripts of that time expect: restart errors
-- pass, others become a text; in 0.5 they are the numbers 1 and 3.
local function new_queried(sysbench)
  local numbered = sysbench.version == "0.5"
  return function (text, ok, ...)
    if ok then
      return ...
    end
    local failure = ...
    if numbered then
      error(is_restart(failure) and 1 or 3, 0)
    elseif is_restart(failure) then
      error(failure, 0)
    end
    error(text, 3)
  end
end

-- in_old_dialect: in that of 0.5 or 1.0, where db_bulk_insert_done() raises nothing, whatever the
-- server says.
local function add_connection(env, sysbench, names, queried, in_old_dialect)
  local con

  -- Opens the connection, or raises an error.  level: that of error(), as seen by the caller.
  local function connect(level)
    local ok, driver = pcall(sysbench.sql.driver)
    if not ok then
      error("DB initialization failed", level + 1)
    end
    rawset(env, "db_driver", driver:name())
    ok, con = pcall(driver.connect, driver)
    if not ok then
      con = nil
      error("Failed to connect to the database", level + 1)
    end
  end

  -- Returns the connection, as no version of sysbench does, to workloads that read rows.
  function names.db_connect()
    connect(2)
    return con
  end

  function names.db_disconnect()
    if con then
      con:disconnect()
      con = nil
    end
  end

  -- Returns the connection.  It is opened at its first use, because db_connect() is optional.
  local function connection()
    if not con then
      connect(3)
    end
    return con
  end

  function names.db_query(sql)
    local c = connection()
    local result = queried("db_query() failed", pcall(c.query, c, sql))
    if result ~= nil then
      result:free()
    end
  end

  function names.db_bulk_insert_init(sql)
    local c = connection()
    checked("db_bulk_insert_init() failed", pcall(c.bulk_insert_init, c, sql))
  end

  -- Returns the connection, or raises an error if there is none.
  local function connected()
    return con or error("Uninitialized database connection", 3)
  end

  function names.db_bulk_insert_next(rows)
    local c = connected()
    checked("db_bulk_insert_next() failed", pcall(c.bulk_insert_next, c, rows))
  end

  function names.db_bulk_insert_done()
    local c = connected()
    if in_old_dialect then
      pcall(c.bulk_insert_done, c)
    else
      checked("db_bulk_insert_done() failed", pcall(c.bulk_insert_done, c))
    end
  end

  return connection
end

-- Returns the parameter for a value, which decides its type; the old one if it still fits.
local function param_for(sysbench, s, p, value)
  local types, kind = sysbench.sql.type, type(value)
  if kind ~= "number" and kind ~= "string" and kind ~= "nil" then
    error("Unsupported variable type: " .. kind, 4)
  end
  if p and (value == nil or p.kind == kind and (kind == "number" or #value <= p.max)) then
    return p
  elseif kind == "string" then
    local max = #value * 2 + 16
    return { kind = kind, max = max, param = s.stmt:bind_create(types.CHAR, max) }
  end
  return { kind = "number", param = s.stmt:bind_create(types.INT) }
end

-- Reads the bound table again at each execution.  false: there are too many or too few values.
local function bind(sysbench, s)
  local params, changed = s.params or {}, s.params == nil
  for i = 1, s.count do
    local value = s.values[i]
    local p = param_for(sysbench, s, params[i], value)
    changed = changed or p ~= params[i]
    params[i] = p
    p.param:set(value)
  end
  s.params = params
  if changed then
    local list = {}
    for i = 1, s.count do
      list[i] = params[i].param
    end
    return s.stmt:bind_param(unpack(list)) == 0
  end
  return true
end

-- In the dialect of 1.0, which has no numbers for errors, db_execute() ignores an error that
-- restarts nothing: its result is empty.
local function add_statements(sysbench, names, connection, queried, in_old_dialect)
  local passes = in_old_dialect and sysbench.version ~= "0.5"
  local objects = setmetatable({}, { __mode = "k" })

  -- Returns a userdata that stands for a statement or a result, as in sysbench.
  local function handle(object)
    local h = newproxy()
    objects[h] = object
    return h
  end

  function names.db_prepare(sql)
    local c = connection()
    return (handle({ stmt = checked("db_prepare() failed", pcall(c.prepare, c, sql)) }))
  end

  local function statement(h)
    local s = objects[h]
    return s and s.stmt and s or error("Uninitialized database connection", 3)
  end

  -- Binds a table, of which each db_execute() reads the values that it has then.
  function names.db_bind_param(h, values)
    if type(values) ~= "table" then
      error("table was expected", 2)
    elseif #values == 0 then
      error("table is empty", 2)
    end
    local s, new = statement(h), { values = values, count = #values }
    new.stmt = s.stmt
    -- 1.0 binds here, raises the number of values, and leaves the statement unchanged.
    if passes and not bind(sysbench, new) then
      error(new.count, 0)
    end
    s.values, s.count, s.params = values, new.count, new.params
  end

  function names.db_bind_result(h, values)
    statement(h)
    if type(values) ~= "table" then
      error("table was expected", 2)
    end
  end

  -- Returns a result for db_free_results(), also where there are no rows.
  function names.db_execute(h)
    local s = statement(h)
    if s.values and not bind(sysbench, s) then
      error("db_bind_param() failed", 2)
    end
    local ok, result = pcall(s.stmt.execute, s.stmt)
    if not ok and passes and not is_restart(result) and type(result) == "string" then
      return (handle({}))
    end
    return (handle({ result = queried("db_execute() failed", ok, result) }))
  end

  function names.db_store_results()
  end

  function names.db_free_results(h)
    local r = objects[h]
    if r and r.result ~= nil then
      r.result:free()
      r.result = nil
    end
  end

  function names.db_close(h)
    local s = objects[h]
    if s and s.stmt then
      s.stmt:close()
      objects[h] = nil
    end
  end
end

-- Bounds may be texts, because values of undeclared options are texts.
local function from_texts(draw)
  return function (a, b)
    if type(a) == "number" and type(b) == "number" then
      return draw(a, b)
    end
    return draw(tonumber(a), tonumber(b))
  end
end

-- Adds the functions for random numbers, whose ranges depend on the version.
local function add_random(sysbench, names)
  local rand = sysbench.rand

  names.sb_rand = from_texts(rand.default)
  names.sb_rand_uniform = from_texts(rand.uniform)
  names.sb_rand_gaussian = from_texts(rand.gaussian)
  -- The table of 1.1 has no `special`.
  names.sb_rand_special = from_texts(function (a, b) return C.bn_ffi_rand(3, a, b) end)
  names.sb_rand_str = rand.string

  local largest = sysbench.version == "0.5" and 2 ^ 30 - 1 or 2 ^ 32 - 1

  function names.sb_rnd()
    return C.bn_ffi_rand(1, 0, largest)
  end

  function names.sb_rand_uniq(a, b)
    return C.bn_ffi_rand_uniq(tonumber(a) or 0, tonumber(b) or 2 ^ 32 - 1)
  end
end

-- (environment, its sysbench table, in the dialect of 0.5 or 1.0?) -> table of the old names
local function new_names(env, sysbench, in_old_dialect)
  local names = {
    DB_ERROR_NONE = 0, DB_ERROR_RESTART_TRANSACTION = 1,
    DB_ERROR_FAILED = sysbench.version == "0.5" and 3 or 2,
    thread_id = sysbench.tid, test = sysbench.cmdline.script_path,
    mysql_table_engine = "innodb", myisam_max_rows = 1000000
  }
  local queried = new_queried(sysbench)
  local connection = add_connection(env, sysbench, names, queried, in_old_dialect)
  add_statements(sysbench, names, connection, queried, in_old_dialect)
  add_random(sysbench, names)
  if sysbench.version == "0.5" then
    names.thread_id = nil
  end
  return names
end

local M = {}

-- Dialects up to 1.0 get plain globals, and sysbench.db.
function M.install(env, sysbench)
  local db = {}
  for name, value in pairs(new_names(env, sysbench, true)) do
    env[name] = value
    local short = name:match("^db_(.*)") or name:match("^DB_ERROR.*")
    if short then
      db[short] = value
    end
  end
  sysbench.db = db
end

-- Otherwise names appear when a script uses them, and so do options unless it declares them: then
-- it has only functions, since its own globals may have the names of the variables.
function M.install_on_demand(env, sysbench)
  local names, absent
  setmetatable(env, {
    -- Returns an old name or an option; nil: the script has no such global.  As long as there is no
    -- sysbench.opt, a name may become an option later, so that nothing is kept.
    __index = function (t, name)
      names = names or new_names(env, sysbench, false)
      local value = names[name]
      if internal.declares_options() then
        return type(value) == "function" and value or nil
      end
      if absent == nil and sysbench.opt then
        absent = {}
      end
      -- db_prepare is a function of these names, whatever the option is.
      if absent and not absent[name] and type(value) ~= "function" then
        local option = internal.option(name)
        if option == nil then
          absent[name] = true
        else
          value = option
        end
      end
      if absent and value ~= nil then
        rawset(t, name, value)
      end
      return value
    end
  })
end

return M

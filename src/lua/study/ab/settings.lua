-- SPDX-License-Identifier: GPL-2.0-or-later
-- The settings of a side are the statements of --a-set or --b-set, which are executed before each
-- of its runs.  This module knows which variables of the server they set, and writes the scripts
-- that execute them and that ask for the values of before.

local native = require("study.native")

local settings = {}

-- What follows SET and lasts longer than the connection, or is for the statements after it.
local lasting = {global = true, persist = true, persist_only = true, password = true,
                 default = true, statement = true, resource = true, role = true}

-- Returns a statement without a password, which it may set without an option's form.
function settings.masked(statement)
  return statement:lower():find("identified", 1, true) and "***" or native.mask_text(statement)
end

-- Returns the position after the character at `at`, or after the quoted text that begins there.
local function skip(text, at)
  local quote = text:match("^['\"`]", at) or text:match("^%$[%a_]*%$", at)
  if not quote then return at + 1 end
  local _, last = text:find(quote, at + #quote, true)
  return (last or #text) + 1
end

-- Adds the statements of a text, which have a ';' between them.
local function add_statements(list, text)
  local begin, at = 1, 1
  while at <= #text + 1 do
    local char = text:sub(at, at)
    if char == ";" or char == "" then
      local statement = text:sub(begin, at - 1):match("^%s*(.-)%s*$")
      if statement ~= "" then list[#list + 1] = statement end
      begin = at + 1
    end
    at = skip(text, at)
  end
end

-- Returns the statements of the texts of the option --NAME.
function settings.read(name, texts)
  local list = {}
  for _, text in ipairs(texts or {}) do add_statements(list, text) end
  for _, statement in ipairs(list) do
    local word = statement:lower():match("^set%s+@*([%w_]+)")
    if word and not lasting[word] then
      native.fail("--%s: the effect of \"%s\" ends with its connection, and a run makes others; "
        .. "use SET GLOBAL or ALTER SYSTEM, or --%s=\"--db-init-sql='SQL'\"", name,
        native.escape(settings.masked(statement)), name:sub(1, 1))
    end
  end
  return list
end

-- Returns the name of the only variable that a statement sets for the server, and whether the
-- statement is one of PostgreSQL; nil: it does something else.
function settings.variable(statement)
  local text = statement:lower():gsub("'[^']*'", "''"):gsub('"[^"]*"', '""'):gsub("%b()", "()")
  local name = text:match("^alter%s+system%s+set%s+([%w_.]+)%s*=")
    or text:match("^alter%s+system%s+set%s+([%w_.]+)%s+to%s")
    or text:match("^alter%s+system%s+reset%s+([%w_.]+)$")
  if name then return name ~= "all" and name or nil, true end
  return text:match("^set%s+global%s+([%w_.]+)%s*:?=[^,]*$")
    or text:match("^set%s+@@global%.([%w_.]+)%s*:?=[^,]*$"), false
end

-- Returns whether the effect of a statement lasts when variables have their values of before again,
-- which are those of `before` by their names.
function settings.lasts(statement, before)
  return not before[settings.variable(statement)]
    and not statement:lower():find("^select%s+pg_reload_conf%s*%(")
end

-- Returns the variables that lists of statements set, each once: {name =, is_system =}.
function settings.variables(...)
  local list, known = {}, {}
  for _, statements in ipairs{...} do
    for _, statement in ipairs(statements) do
      local name, is_system = settings.variable(statement)
      if name and not known[name] then
        known[name] = true
        list[#list + 1] = {name = name, is_system = is_system}
      end
    end
  end
  return list
end

-- The rest of a script that begins with a list: of statements, or of variables.  It prints each
-- statement before it executes it.
local execution = [[
function prepare()
  local driver, reloads, names = sysbench.sql.driver(), false, {}
  local connection = driver:connect()
  for _, sql in ipairs(list) do
    io.write("\0", sql, "\0")
    connection:query(sql)
    local name = sql:lower():match("^alter%s+system%s+%a+%s+([%w_.]+)")
    if name then names[#names + 1] = "'" .. name .. "'" end
  end
  if #names == 0 then return end
  connection:query("SELECT pg_reload_conf()")
  if restarts then return end
  -- The session that has asked for it may not know the new values yet.
  connection = driver:connect()
  local waiting = connection:query_row("SELECT string_agg(name, ', ') FROM pg_settings WHERE "
    .. "pending_restart AND lower(name) IN (" .. table.concat(names, ", ") .. ")")
  if waiting then
    error(waiting .. " takes effect when the server restarts; let --a-exec and --b-exec restart it",
      0)
  end
end
]]

-- The question prints an empty text where a value is not known, or could not be set again as it is:
-- lists of names that PostgreSQL quotes one by one.
local question = [[
function prepare()
  local connection = sysbench.sql.driver():connect()
  local function value_of(sql)
    return pcall(connection.query_row, connection, sql)
  end
  for _, variable in ipairs(list) do
    local name, sql, ok, value = variable.name, ""
    if variable.is_system then
      ok, value = value_of("SELECT setting FROM pg_file_settings WHERE lower(name) = '" .. name
        .. "' AND sourcefile LIKE '%/postgresql.auto.conf' ORDER BY seqno DESC LIMIT 1")
      if ok and not value then
        sql = "ALTER SYSTEM RESET " .. name
      elseif ok and value ~= "" and not value:find('[,"]') then
        sql = "ALTER SYSTEM SET " .. name .. " = '" .. value:gsub("'", "''") .. "'"
      end
    else
      ok, value = value_of("SELECT @@GLOBAL." .. name)
      if ok and value and not tostring(value):find("^-?%d+%.?%d*$") then
        value = connection:query_row("SELECT QUOTE(@@GLOBAL." .. name .. ")")
      end
      if ok then sql = "SET GLOBAL " .. name .. " = " .. tostring(value or "NULL") end
    end
    io.write("\0", sql, "\0")
  end
end
]]

-- Returns the script that executes statements.  restarts: a command restarts the server then.
function settings.execution(statements, restarts)
  local list = {}
  for i, statement in ipairs(statements) do list[i] = ("%q"):format(statement) end
  return ("local list, restarts = {%s}, %s\n"):format(table.concat(list, ", "), restarts)
    .. execution
end

-- Returns the script that asks for the values of variables.
function settings.question(variables)
  local list = {}
  for i, one in ipairs(variables) do
    list[i] = ("{name = %q, is_system = %s}"):format(one.name, one.is_system)
  end
  return ("local list = {%s}\n"):format(table.concat(list, ", ")) .. question
end

-- Returns the statements that give variables their values of before again, by their names, from
-- what the script has printed.
function settings.answer(variables, printed)
  local before, next_sql = {}, printed:gmatch("%z([^%z]*)%z")
  for _, one in ipairs(variables) do
    local sql = next_sql()
    if sql and sql ~= "" then before[one.name] = sql end
  end
  return before
end

return settings

-- SPDX-License-Identifier: GPL-2.0-or-later
-- This module makes tables for people: aligned text, or Markdown.

local native = require("study.native")

local columns = {}
columns.__index = columns

-- Returns an empty table; align has 'l' or 'r' for each column.
function columns.new(align)
  return setmetatable({align = align}, columns)
end

-- Adds the next cells, which may quote a file.  Cells come row by row; the first row has the
-- headings.
function columns:add(...)
  for _, cell in ipairs{...} do self[#self + 1] = native.escape(cell) end
end

-- Returns the number of characters of a text that is UTF-8.
function columns.width(text)
  local _, n = text:gsub("[^\128-\191]", "")
  return n
end

-- Returns the cells in columns that are as wide as their widest cell.  No line ends with blanks.
local function aligned(self)
  local n, widest, parts = #self.align, {}, {}
  for i, cell in ipairs(self) do
    local column = (i - 1) % n + 1
    widest[column] = math.max(widest[column] or 0, columns.width(cell))
  end
  for i, cell in ipairs(self) do
    local column = (i - 1) % n + 1
    local room = (" "):rep(widest[column] - columns.width(cell))
    if self.align:sub(column, column) == "r" then
      cell = room .. cell
    elseif column < n then
      cell = cell .. room
    end
    parts[i] = "  " .. cell .. (column == n and "\n" or "")
  end
  return table.concat(parts)
end

-- Returns the cells as a table of Markdown, in which the second line sets the alignment.
local function marked_down(self)
  local n, parts = #self.align, {}
  for i, cell in ipairs(self) do
    parts[#parts + 1] = "| " .. native.escape_markdown(cell) .. (i % n == 0 and " |\n" or " ")
    if i == n then
      parts[#parts + 1] = self.align:gsub(".", {l = "|---", r = "|---:"}) .. "|\n"
    end
  end
  return table.concat(parts)
end

-- Returns the table: lines indented by two blanks, or a table of Markdown.
function columns:text(markdown)
  return (markdown and marked_down or aligned)(self)
end

local quote_size = 1024

-- Returns a text that others have written, escaped for a terminal or for Markdown; a long one is
-- cut.
function columns.quote(text, markdown)
  return (markdown and native.escape_markdown or native.escape)(text, quote_size)
end

-- Returns four significant digits of a number, without an exponent where that is short.
function columns.number(value)
  local size = math.abs(value)
  if size >= 1e12 or size > 0 and size < 1e-6 then return ("%.3e"):format(value) end
  local decimals = size > 0 and math.max(0, 3 - math.floor(math.log10(size))) or 0
  return ("%." .. decimals .. "f"):format(value)
end

-- Returns nanoseconds since 1970 as "2026-03-01 12:00" in UTC.
function columns.time(ns)
  return os.date("!%Y-%m-%d %H:%M", tonumber(ns / 1000000000LL))
end

return columns

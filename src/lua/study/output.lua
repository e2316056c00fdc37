-- SPDX-License-Identifier: GPL-2.0-or-later
-- This module writes the report of a study to the file of --output, or to standard output.

local document = require("study.document")
local native = require("study.native")

local output = {}

local function is_stdout(path)
  return path == nil or path == "-"
end

-- Checks before the work that the file can be written.
function output.check(path)
  local fault = not is_stdout(path) and native.fault(path)
  if fault then native.fail("--output=%s: %s", path, fault) end
end

-- Refuses a folder of --out whose files cannot stand in --report=json:FILE, because a ',' begins
-- another report there.
function output.check_folder(path)
  if path:find(",", 1, true) then
    native.fail("--out=%s: the name must not contain a comma", path)
  end
end

-- Replaces the file as a whole, so that it has the old text or the new one.
function output.write_text(text, path)
  if is_stdout(path) then
    local ok, why = io.stdout:write(text)
    if not ok then native.fail("cannot write to standard output: %s", why) end
  else
    native.check(native.replace(path, text))
  end
end

-- Writes a value of study.document, as write_text writes a text.
function output.write_document(value, path)
  local text = document.print(value, 1)
  if is_stdout(path) then
    local ok, why = io.stdout:write(text)
    if ok then ok, why = io.stdout:flush() end
    if not ok then native.fail("cannot write the result: %s", why) end
  else
    local ok, why = native.replace(path, text)
    if not ok then native.fail("%s", (why:gsub("^cannot write ", "%0the result to "))) end
  end
end

-- Writes a report in the form of --format: report.text(...), .markdown(...) or .document(...).
function output.write(given, report, ...)
  if given.format == "json" then
    output.write_document(report.document(...), given.output)
  elseif given.format == "markdown" then
    output.write_text(report.markdown(...), given.output)
  else
    output.write_text(report.text(...), given.output)
  end
end

return output

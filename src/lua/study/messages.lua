-- SPDX-License-Identifier: GPL-2.0-or-later
-- This module knows what runs of a study print on standard error.

local native = require("study.native")

local messages = {}

-- A longer line of a file is cut.
local quote_most = 500

-- Returns what the standard error of a run that failed says: the first FATAL line, or else the last
-- line, for a terminal; "": it says nothing.
function messages.quote(path)
  local file, said = io.open(path), ""
  if not file then return said end
  for line in file:lines() do
    local fatal = line:match("^FATAL: (.*)")
    if line ~= "" then said = fatal or line end
    if fatal then break end
  end
  file:close()
  return native.escape(said:sub(1, quote_most))
end

return messages

-- SPDX-License-Identifier: GPL-2.0-or-later
-- This module declares options that several studies have, each with its own words.

local options = {int_max = 2 ^ 31 - 1, int64_max = 9223372036854775807LL}

-- Returns a function that declares an option: what is common, with what a study adds or replaces.
local function shared(common)
  return function(own)
    local option = {}
    for _, members in ipairs{common, own} do
      for name, value in pairs(members) do option[name] = value end
    end
    return option
  end
end

options.cooldown = shared{name = "cooldown", type = "seconds", min = 0, max = options.int_max}
options.fail_undecided = shared{name = "fail-undecided", type = "bool", def = "off"}
options.format = shared{name = "format", type = "choice", def = "text", choices = {"text", "json"}}
options.max_document_size = {
  name = "max-document-size", type = "size", def = "64M", min = 2 ^ 20, max = 2 ^ 33,
  help = "largest document that is read"}
options.metric = shared{name = "metric", type = "string", def = "rate", form = "=NAME"}
options.out = shared{name = "out", type = "path", form = "=DIR"}
options.output = shared{name = "output", type = "path", letter = "o", form = "=FILE"}
options.same = shared{
  name = "same", type = "string", def = "5%", form = "=PERCENT",
  help = "difference up to which the sides are called the same"}
options.seed = shared{name = "seed", type = "int", min = 0, max = options.int64_max}

return options

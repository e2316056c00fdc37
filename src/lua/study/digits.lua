-- SPDX-License-Identifier: GPL-2.0-or-later
-- This module prints numbers for tables.

local native = require("study.native")

local digits = {}

-- Returns a number as a cell of CSV, where a real number is never a whole one, so that a column has
-- one type.
function digits.real(number)
  local text = native.shortest(number)
  return text:find("[.e]") and text or text .. ".0"
end

function digits.fixed(number, decimals)
  return ("%." .. decimals .. "f"):format(number)
end

-- Returns how many decimals show three significant digits of a number: `least` to 9.
function digits.decimals(number, least)
  local decimals = least
  local shown = number * 10 ^ least
  while number > 0 and decimals < 9 and shown < 100 do
    decimals, shown = decimals + 1, shown * 10
  end
  return decimals
end

return digits

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

-- Returns a number with so many decimals that three significant digits show: `least` to 9.
function digits.significant(number, least)
  local decimals = least
  local shown = number * 10 ^ least
  while number > 0 and decimals < 9 and shown < 100 do
    decimals, shown = decimals + 1, shown * 10
  end
  return digits.fixed(number, decimals)
end

return digits

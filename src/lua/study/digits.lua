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

-- Returns "927 times", which says more than a percentage of five digits; nil: less than ten times.
function digits.factor(ratio)
  return ratio >= 10 and (ratio < 1e6 and "%.0f times" or "%.3g times"):format(ratio) or nil
end

-- Returns "4 min 10 s".
function digits.duration(seconds)
  local all = math.floor(seconds + 0.5)
  if all >= 3600 then return ("%d h %d min"):format(all / 3600, all % 3600 / 60) end
  if all >= 60 then return ("%d min %d s"):format(all / 60, all % 60) end
  return ("%d s"):format(all)
end

return digits

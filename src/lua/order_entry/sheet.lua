-- SPDX-License-Identifier: GPL-2.0-or-later
-- A proof sheet: lines with a measured value, its bound and a verdict, and the tests that give
-- verdicts.  A test needs a sample in which a right generator fails with a probability of 0.1 %.

local M = {}
M.__index = M

local HOLDS, VIOLATED = "✓", "✗"

-- The sum of squares that a right generator exceeds in one of 1000 runs, by degrees of freedom.
local chi_limits = {10.83, 13.82, 16.27, 18.47, 20.52, 22.46, 24.32, 26.12, 27.88, 29.59}

-- Returns an empty sheet.
function M.new(title)
  return setmetatable({lines = {title}, n = {lines = 0, violated = 0, unchecked = 0,
                                             undecided = 0}}, M)
end

-- Counts lines by their verdict: "holds", "violated", "unchecked" or "undecided".
function M:count(verdict, lines)
  self.n.lines = self.n.lines + (lines or 1)
  if verdict ~= "holds" then
    self.n[verdict] = self.n[verdict] + (lines or 1)
  end
end

-- Adds a line of text.
function M:say(text, ...)
  self.lines[#self.lines + 1] = "    " .. text:format(...)
end

local function add(sheet, name, value, bound, mark)
  sheet:say("%-40s %-18s %-16s %s", name, value, bound, mark)
end

-- Adds a line whose value could not be told from its bound, and why.
function M:undecided(name, value, bound, why)
  add(self, name, value, bound, why)
  self:count("undecided")
end

-- Adds a line whose value is within its bound or not, if the sample is as large as needed.
function M:decide(name, value, bound, holds, have, need)
  if have < need then
    self:undecided(name, value, bound, ("too short (%d of %d)"):format(have, need))
  else
    add(self, name, value, bound, holds and HOLDS or VIOLATED)
    self:count(holds and "holds" or "violated")
  end
end

-- Adds a line about a part of a whole.  low and high: its bounds, in percent.
function M:share(name, part, whole, low, high, need)
  local percent = whole > 0 and part / whole * 100 or 0
  local bound = high and ("%g to %g %%"):format(low, high) or ("at least %g %%"):format(low)
  self:decide(name, ("%.2f %%"):format(percent), bound,
              percent >= low and percent <= (high or 100), whole, need)
end

-- Adds a line about the mean of numbers.
function M:mean(name, sum, n, low, high, need)
  local mean = n > 0 and sum / n or 0
  self:decide(name, ("%.2f"):format(mean), ("%g to %g"):format(low, high),
              mean >= low and mean <= high, n, need)
end

-- Adds a line about a distribution.  expected: the share of each count; one of 0 is left out.
function M:distribution(name, counts, expected, need)
  local sum, chi, degrees = 0, 0, -1
  for i = 1, #counts do
    sum = sum + counts[i]
  end
  for i = 1, #counts do
    local e = expected[i] * sum
    if expected[i] > 0 then
      chi, degrees = chi + (e > 0 and (counts[i] - e) ^ 2 / e or 0), degrees + 1
    end
  end
  if degrees > 0 then
    self:decide(name, ("chi-square %.1f"):format(chi), ("at most %.1f"):format(chi_limits[degrees]),
                chi <= chi_limits[degrees], sum, need)
  end
end

-- Ends the sheet with its sums, and returns its lines with them, for sysbench.hooks.prove.
function M:close()
  local n = self.n
  self:say("%d lines: %d hold, %d violated, %d not checked, %d undecided", n.lines,
           n.lines - n.violated - n.unchecked - n.undecided, n.violated, n.unchecked, n.undecided)
  for verdict, lines in pairs(n) do
    self.lines[verdict] = lines
  end
  return self.lines
end

return M

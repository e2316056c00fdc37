-- SPDX-License-Identifier: GPL-2.0-or-later
-- This module fits the Universal Scalability Law to points that differ in threads alone.

local invocation = require("study.invocation")
local native = require("study.native")
local usl = require("study.stats.usl")

local fits = {}

-- Returns a list of {point =, threads = {…}, rate = {…}, law =}, and the axis of threads.
function fits.find(tally)
  local grid, found, axis = tally.grid, {}, nil
  for i = #grid, 1, -1 do
    if invocation.present_name(grid[i].name) == "threads" then axis = i end
  end
  if not axis then return found end
  for point = 0, grid.points - 1 do
    if grid:index(point, axis) == 1 then
      local fit = {point = point, threads = {}, rate = {}}
      for other = 0, grid.points - 1 do
        local spread = grid:agree(point, other, axis) and tally:spread(other, "rate")
        local threads = native.number(grid:value(other, axis))
        if spread and spread.median > 0 and threads then
          table.insert(fit.threads, threads)
          table.insert(fit.rate, spread.median)
        end
      end
      fit.law = usl.fit(fit.threads, fit.rate)
      if fit.law then found[#found + 1] = fit end
    end
  end
  return found, axis
end

return fits

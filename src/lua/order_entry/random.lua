-- SPDX-License-Identifier: GPL-2.0-or-later
-- The random numbers and names of the order-entry workload that are not uniform.

local bor = require("bit").bor
local skewed = require("order_entry.cardinality").skewed
local floor = math.floor

local M = {}

-- Returns a number of x..y, some of which come much more often than others.  A is one less than a
-- power of two; C, from 0 to A, rotates the numbers and is the same for all sessions of a run.
-- `uniform` draws from a closed range; nil: from the session's stream.
function M.nurand(A, x, y, C, uniform)
  uniform = uniform or sysbench.rand.uniform
  return (bor(uniform(0, A), uniform(x, y)) + C) % (y - x + 1) + x
end

-- Returns a number of item, customer or name.
function M.skewed(of, C, uniform)
  local skew = skewed[of]
  return M.nurand(skew.A, skew.low, skew.high, C, uniform)
end

local syllables = {[0] = "BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION",
                   "EING"}

-- Returns the last name of a number from 0 to 999, one syllable for each of its three digits.
function M.last_name(n)
  return syllables[floor(n / 100)] .. syllables[floor(n / 10) % 10] .. syllables[n % 10]
end

-- Returns whether the C of last names of a run may differ so much from that of the load.
function M.is_delta(delta)
  return delta >= 65 and delta <= 119 and delta ~= 96 and delta ~= 112
end

-- Returns a C of last names for a run on rows that were loaded with c_load.  Each number that the
-- rule allows is equally likely.
function M.c_last_of_run(c_load, uniform)
  local allowed = {}
  for c = 0, skewed.name.A do
    if M.is_delta(math.abs(c - c_load)) then
      allowed[#allowed + 1] = c
    end
  end
  return allowed[(uniform or sysbench.rand.uniform)(1, #allowed)]
end

return M

-- SPDX-License-Identifier: GPL-2.0-or-later
-- The deck of cards of a terminal, which decides the kinds of its transactions.  Cards are drawn
-- without replacement; a deck that is used up is shuffled again.

local uniform = sysbench.rand.uniform

local M = {}

M.kinds = {"new_order", "payment", "order_status", "delivery", "stock_level"}

-- The least share of each kind but the first, in percent.
M.least = {payment = 43, order_status = 4, delivery = 4, stock_level = 4}

-- Returns the numbers of cards in the order of the kinds, or nil and what is wrong.
function M.parse(list)
  local counts, sum = {}, 0
  for i, text in ipairs(list) do
    local n = tonumber(text)
    if not n or n < 0 or n > 10000 or n % 1 ~= 0 then
      return nil, ("'%s' is not a number of cards from 0 to 10000"):format(text)
    end
    counts[i], sum = n, sum + n
  end
  if #counts ~= #M.kinds or sum == 0 then
    return nil, "it needs five numbers of cards, not all 0: " .. table.concat(M.kinds, ",")
  end
  return counts
end

-- Returns whether each kind has at least its share of the cards.
function M.keeps_shares(counts)
  local sum = 0
  for _, n in ipairs(counts) do
    sum = sum + n
  end
  for i, kind in ipairs(M.kinds) do
    if counts[i] * 100 < (M.least[kind] or 0) * sum then
      return false
    end
  end
  return true
end

-- Returns a function that draws the kind of the next transaction.
function M.new(counts)
  local cards, left = {}, 0
  for i, kind in ipairs(M.kinds) do
    for _ = 1, counts[i] do
      cards[#cards + 1] = kind
    end
  end
  return function()
    left = left > 0 and left or #cards
    local at = uniform(1, left)
    local kind = cards[at]
    cards[at], cards[left] = cards[left], kind
    left = left - 1
    return kind
  end
end

return M

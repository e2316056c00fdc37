-- SPDX-License-Identifier: GPL-2.0-or-later
-- How many rows the tables of the order-entry workload have when they are loaded, and which numbers
-- are skewed.  The texts of conditions.lua have the numbers of orders written out, so that they can
-- be pasted into a client.

local M = {}

-- Items; rows of stock of each warehouse.
M.ITEMS = 100000
-- Districts of a warehouse; customers and orders of a district.
M.DISTRICTS, M.CUSTOMERS, M.ORDERS = 10, 3000, 3000
-- The first order of a district that is not delivered; it and those after it are in new_order.
M.FIRST_OPEN = 2101

-- The A, the least and the greatest number of NURand (random.lua) for each skewed number.  The C of
-- a run is from 0 to A.
M.skewed = {
  item = {A = 8191, low = 1, high = M.ITEMS},
  customer = {A = 1023, low = 1, high = M.CUSTOMERS},
  name = {A = 255, low = 0, high = 999},
}

return M

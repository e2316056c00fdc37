-- SPDX-License-Identifier: GPL-2.0-or-later
-- Points of a study: which options make them, in which order they are, and which do not.

local match = require("study.match")
local t = require("tests")

-- Makes results of {test, threads, size, new = {value, origin}} each.
local function results(list)
  local made = {}
  for i, row in ipairs(list) do
    made[i] = {workload = row[1], options = {
      {name = "threads", value = row[2], origin = "command line", traits = {}},
      {name = "table-size", value = row[3], origin = "command line", traits = {}},
      {name = "rand-seed", value = tostring(i % 2), origin = "default",
        traits = {repeat_only = true}},
      {name = "mysql-password", value = tostring(i % 2), origin = "file", secret = true,
        traits = {}},
      row.new and {name = "new", value = row.new[1], origin = row.new[2], traits = {}}}}
  end
  return made
end

return {
  ["points are in the order of their numbers"] = function()
    local found = match.find(results{
      {"oltp", "16", "1K"}, {"oltp", "2", "1000"}, {"oltp", "2", "1K"}, {"oltp", "2", "1000"},
      {"oltp", "16", "auto"}})
    t.equal(found.n, 4)
    t.equal(found.options, {"table-size", "threads"})
    t.equal(found.name(1), "table-size=1000 threads=2")
    t.equal(found.name(2), "table-size=1K threads=2")
    t.equal(found.name(4), "table-size=auto threads=16")
    t.equal(found.value(4, 1), "auto")
    t.equal(found.of, {3, 1, 2, 1, 4})
  end,
  ["repeats are one point without a name"] = function()
    local found = match.find(results{{"cpu", "1"}, {"cpu", "1"}})
    t.equal(found.n, 1)
    t.equal(found.options, {})
    t.equal(found.name(1), "")
    t.equal(match.find({}).n, 0)
  end,
  ["the name of the test makes points"] = function()
    local found = match.find(results{{"mutex", "1", ""}, {"cpu\n", "1"}})
    t.equal(found.name(1), "test=cpu\\x0a")
    t.equal(found.name(2), "test=mutex")
  end,
  -- The sides differ in table-size, and each has runs with 1 and with 2 threads.
  ["what differs between sides alone makes none"] = function()
    local found = match.find(results{
      {"oltp", "1", "10"}, {"oltp", "1", "20"}, {"oltp", "2", "10"}, {"oltp", "2", "20"}},
      {1, 2, 1, 2})
    t.equal(found.n, 2)
    t.equal(found.name(1), "threads=1")
    t.equal(found.of, {1, 1, 2, 2})
  end,
  -- One text holds all groups; a study varies an option of one of them.
  ["options of groups make points"] = function()
    local rows = {}
    for i, rate in ipairs{"10", "20", "5", "5"} do
      rows[i] = {workload = "pay, rep", options = {{
        name = "group", origin = "command line", traits = {},
        value = ("pay: ./a.lua --rate=1 --rand-seed=%d --rate=%s; rep: ./%s.lua@2 ./c.lua"):format(
          i, rate, i == 4 and "b" or "a")}}}
    end
    local found = match.find(rows)
    t.equal(found.options, {"group:rep", "pay.rate"})
    t.equal(found.of, {2, 3, 1, 4})
    t.equal(found.name(4), "group:rep=./b.lua@2 ./c.lua pay.rate=5")
    rows[4] = nil
    rows[1].options[1].value = "pay:--rate=10 ./a.lua;rep : './a.lua@2' ./c.lua"
    found = match.find(rows)
    t.equal(found.options, {"pay.rate"})
    t.equal(found.of, {2, 3, 1})
  end,
  -- This is so after an update of the program.
  ["an unknown option counts as its default"] = function()
    local rows = {{"oltp", "16", "1K"}, {"oltp", "16", "1K", new = {"5", "default"}}}
    t.equal(match.find(results(rows)).n, 1)
    rows[3] = {"oltp", "16", "1K", new = {"7", "file"}}
    local found = match.find(results(rows))
    t.equal(found.n, 2)
    t.equal(found.of, {1, 1, 2})
    t.equal(found.name(1), "new=5")
  end,
}

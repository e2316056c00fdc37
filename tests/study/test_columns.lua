-- SPDX-License-Identifier: GPL-2.0-or-later
-- Tables of studies: widths, text that comes from files, Markdown, digits.

local columns = require("study.columns")
local digits = require("study.digits")
local t = require("tests")

return {
  ["cells stand below each other"] = function()
    local c = columns.new("lr")
    c:add("file", "rate", "günstig", "12345", "a|b\27[")
    c:add("7")
    t.equal(c:text(false), "  file       rate\n  günstig   12345\n  a|b\\x1b[      7\n")
    t.equal(c:text(true),
      "| file | rate |\n|---|---:|\n| günstig | 12345 |\n| a\\|b\\\\x1b\\[ | 7 |\n")
  end,
  ["a long text is cut between characters"] = function()
    t.equal(columns.quote(("ä"):rep(600)), ("ä"):rep(511))
    t.equal(columns.quote(("|"):rep(600), true), ("\\|"):rep(511))
  end,
  ["ten times and more are a factor"] = function()
    for ratio, want in pairs{
      [10] = "10 times", [927.19] = "927 times", [48271.4] = "48271 times",
      [3e7] = "3e+07 times"} do
      t.equal(digits.factor(ratio), want)
    end
    t.equal(digits.factor(9.99), nil)
    t.equal(digits.factor(0), nil)
  end,
  ["numbers have four digits"] = function()
    for value, want in pairs{
      [0] = "0", [1234567] = "1234567", [1234.4] = "1234", [99.876] = "99.88", [-5.5] = "-5.500",
      [0.000123456] = "0.0001235", [1.23456e-8] = "1.235e-08", [1e15] = "1.000e+15"} do
      t.equal(columns.number(value), want)
    end
  end,
  ["times are of UTC"] = function()
    t.equal(columns.time(1772323259999999999LL), "2026-03-01 00:00")
    t.equal(columns.time(0), "1970-01-01 00:00")
  end,
}

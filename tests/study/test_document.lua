-- SPDX-License-Identifier: GPL-2.0-or-later
-- Documents keep what they have when they are read and printed again.

local document = require("study.document")
local native = require("study.native")
local t = require("tests")

local function again(text)
  return document.print(document.parse(text))
end

local function keys(map)
  local all = {}
  for key in document.pairs(map) do
    all[#all + 1] = key
  end
  return table.concat(all, " ")
end

return {
  ["the order of keys is kept"] = function()
    t.equal(again('{"b":1,"a":{"z":1,"y":2}}'), '{"b":1,"a":{"z":1,"y":2}}')
    t.equal(keys(document.parse('{"b":1,"c":3,"a":2}')), "b c a")
  end,
  ["empty lists and maps stay what they are"] = function()
    t.equal(again('{"a":[],"b":{},"c":[[]]}'), '{"a":[],"b":{},"c":[[]]}')
  end,
  ["null is a value"] = function()
    local value = document.parse('{"a":null,"b":[null,1]}')
    t.ok(value.a == document.null and value.b[1] == document.null)
    t.equal(document.print(value), '{"a":null,"b":[null,1]}')
  end,
  ["whole numbers of 64 bits are exact"] = function()
    local text = '{"a":9007199254740993,"b":-9223372036854775808,"c":9007199254740991}'
    local value = document.parse(text)
    t.equal(tostring(value.a), "9007199254740993LL")
    t.equal(type(value.c), "number")
    t.equal(document.print(value), text)
  end,
  ["reals may be whole"] = function()
    t.equal(document.print({document.real(5), 5, 2.5}), "[5.0,5,2.5]")
    t.equal(document.print(5) .. document.print("x") .. document.print(document.null), '5"x"null')
    t.equal(document.print({document.real(0 / 0), document.real(1 / 0)}), "[null,null]")
    t.equal(document.print({document.real(nil), document.real(false)}), "[null,null]")
    t.raises(function() document.real("x") end, "number expected")
  end,
  ["keys are added in order"] = function()
    local map = document.map{{"z", 1}, {"y", document.list{}}}
    document.set(map, "x", true)
    document.set(map, "z", 2)
    map.b, map.a = "late", "later"
    t.equal(document.print(map), '{"z":2,"y":[],"x":true,"a":"later","b":"late"}')
    t.equal(keys(map), "z y x a b")
    map.y = nil
    t.equal(keys(map), "z x a b")
    document.set(map, "y", 3)
    t.equal(keys(map), "z y x a b")
    t.equal(document.print(map), '{"z":2,"y":3,"x":true,"a":"later","b":"late"}')
  end,
  ["an indent makes lines"] = function()
    t.equal(document.print({a = {1, 2}}, 1), '{\n "a": [1,2]\n}\n')
  end,
  ["what is wrong is said"] = function()
    local value, why = document.parse('{"a":1')
    t.ok(value == nil and why:find("line 1", 1, true))
    value, why = document.read("/nonexistent/x")
    t.ok(value == nil and why == "cannot read '/nonexistent/x': No such file or directory", why)
    local path = native.temp_folder() .. "/x"
    assert(native.replace(path, '{"a":1'))
    value, why = document.read(path)
    t.ok(value == nil and why:find("cannot read '" .. path .. "': line 1: ", 1, true) == 1, why)
    t.raises(function() document.print({print}) end, "this is another value")
    t.raises(function() document.print({}, -1) end, "0 to 31 blanks")
    t.raises(function() document.print({}, 32) end, "0 to 31 blanks")
    local circle = {}
    circle[1] = circle
    t.raises(function() document.print(circle) end, "too deep")
  end,
}

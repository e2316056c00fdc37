-- SPDX-License-Identifier: GPL-2.0-or-later
-- The files that an operand of a study names.

local native = require("study.native")
local results = require("study.results")
local t = require("tests")

return {
  ["a folder has documents of its own and of runs/"] = function()
    local folder = native.temp_folder() .. "/results"
    for _, name in ipairs{"", "/runs", "/other", "/folder.json"} do
      t.ok(native.mkdir(folder .. name))
    end
    for _, name in ipairs{"a.json", ".b.json", "c.txt", ".json", "runs/10.json", "runs/9.json",
      "other/d.json"} do
      t.ok(native.replace(folder .. "/" .. name, ""))
    end
    local list, is_folder = results.find(folder)
    t.equal(list, {folder .. "/a.json", folder .. "/runs/9.json", folder .. "/runs/10.json"})
    t.equal(is_folder, true)
    t.equal(results.find(folder .. "/")[1], folder .. "/a.json")
    t.equal(results.find(folder .. "/other/")[1], folder .. "/other/d.json")
    t.equal(results.find(folder .. "/folder.json"), {})
  end,
  ["all else is the name of a file"] = function()
    local list, is_folder = results.find("/nonexistent/x")
    t.equal(list, {"/nonexistent/x"})
    t.equal(is_folder, false)
  end,
}

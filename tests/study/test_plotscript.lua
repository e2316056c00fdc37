-- SPDX-License-Identifier: GPL-2.0-or-later
-- Commands for gnuplot: texts that end no string, points, gaps and bars.

local script = require("study.plot.script")
local t = require("tests")

local function write(chart, form)
  return script.write(chart, {form = form, columns = 79, rows = script.rows(chart)})
end

local function expect(commands, part)
  t.ok(commands:find(part, 1, true), ("no '%s' in:\n%s"):format(part, commands))
end

-- In each line every quote is closed, and none begins inside of a text.
local function expect_closed(commands)
  t.ok(not commands:find("[^\n\32-\255]"), "a control character")
  for line in commands:gmatch("[^\n]*") do
    local _, quotes = line:gsub("'", "")
    t.ok(quotes % 2 == 0, line)
    t.ok(not line:gsub("'[^']*'", "_"):find("__", 1, true), line)
  end
end

local function make_chart(text)
  return {
    title = text, note = text, x = "number", x_title = text,
    marks = {{at = 1, text = text}, {at = 2, text = text}, {at = 3, text = text}},
    panels = {{title = "Rate", y = "rate", series = {{
      name = text, look = "bars", colour = 0,
      {x = 1, y = 10, low = 9, high = 12}, {x = 2, y = 0 / 0}, {x = 3, y = 30, low = 30, high = 30},
    }}}},
  }
end

local texts = {
  "'", "''; !x; ''", "a\nb", "a\r\nsystem 'x'", "\\", "end", "`x`", "$(x)", "%s%n%", "\27[1m",
  "\255\254'", "\"'\"'",
}

return {
  ["no text ends its string"] = function()
    for _, text in ipairs(texts) do
      for _, form in ipairs{"text", "svg", "png"} do
        expect_closed(write(make_chart(text), form))
      end
    end
  end,
  ["long names lose their middle"] = function()
    local chart = make_chart(("ä"):rep(40) .. "end")
    expect(write(chart, "svg"), "title 'ääääääääääääää...ääääääääääääend'\n")
    chart.marks[3].text = ("v"):rep(60) .. "end"
    expect(write(chart, "svg"), "'vvvvvvvvvvvvvv...vvvvvvvvvvvvend' 3)\n")
  end,
  ["points, bars and gaps"] = function()
    local commands = write(make_chart("50 %"), "svg")
    expect(commands, "$data0_0 << end\n1 10 9 12\n2 NaN NaN NaN\n3 30 30 30\nend\n")
    expect(commands, "using 1:2:3:4 with yerrorbars")
    expect(commands, "set xtics ('50 %%' 1, ")
    expect(commands, "set yrange [0:30]\n")
  end,
  ["bars stand beside each other"] = function()
    local chart = make_chart("x")
    chart.panels[1].series[2] = {
      name = "y", look = "bars", colour = 1, {x = 1, y = 5, low = 5, high = 5}}
    local commands = write(chart, "svg")
    -- The axis goes from 0.94 to 3.06, of which 0.01 are shared by two.
    expect(commands, "$data0_0 << end\n0.9947 10 9 12\n")
    expect(commands, "$data0_1 << end\n1.0053 5 5 5\n")
    expect(write(chart, "text"), "$data0_1 << end\n1 5 5 5\n")
  end,
}

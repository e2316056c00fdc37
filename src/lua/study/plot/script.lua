-- SPDX-License-Identifier: GPL-2.0-or-later
-- This module writes the commands by which gnuplot draws a chart, with the data.
--
-- A chart is a picture as a value: panels one above the other, over one x axis.  Its texts may come
-- from anybody.
--
--   {title =, note =,            the headings
--    x = what the axis has: "time" (seconds, from 0 on), "rank" (1 / (1 - q) of the quantile q),
--        "number" (of an option; the marks are the values) or "name" (1, 2, … with a mark each),
--    x_title =, marks = {{at =, text =}, …},
--    panels = {{title = what the y axis has, with its unit,
--               y = "rate" (the axis begins with 0) or "seconds" (latencies),
--               series = {{name = "" is not in the legend, look =,
--                          colour = 0, 1, …: the same number is the same colour in all panels,
--                          [i] = {x =, y = not finite is a gap, low =, high =}}, …}}, …}}
--
-- look: "line", "steps" (a value holds up to the next point), "bars" (a line, and at each point a
-- bar from low to high), "spots" (the same without the line), "fit" (a line without spots).
--
-- Texts of the chart stand in single quotes, in which gnuplot substitutes nothing, without single
-- quotes and control characters of their own, so that no text can be a command.  Colours are those
-- of Okabe and Ito (M. Okabe, K. Ito: Color Universal Design, 2008), which colour-blind people tell
-- apart.

local axis = require("study.plot.axis")
local native = require("study.native")

local script = {}

local legend_max = 32   -- characters of a name
local dots_max = 60     -- points of a line that are marked
local crowd = 600       -- points of a line, beyond which it is thinner
local text_left = 9     -- columns before the plot
local text_panel = 13   -- rows of each, with its heading and the row of marks
local width, height = 1280, 720  -- of the picture; a bitmap has half as many again
-- The size of a point that another one covers.  It is not 0, because not all programs show a
-- picture with such points.
local hidden = "0.2"

-- Blue, vermillion, bluish green, orange, reddish purple, sky blue, black.
local colours = {"#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7", "#56B4E9", "#000000"}

-- Texts -----------------------------------------------------------------------------------------

-- Returns the text in single quotes, with nothing that gnuplot or a terminal acts on.  A text of
-- more than `most` characters loses its middle, because names of files often differ at their ends.
-- An apostrophe becomes the typographic one, because gnuplot does not read a doubled one at the
-- start.
local function quoted(text, most)
  local characters = {}
  for character in native.escape(text):gmatch("[^\128-\191][\128-\191]*") do
    characters[#characters + 1] = character == "'" and "’" or character
  end
  if #characters > most then
    local head = math.floor((most - 3) / 2)
    local tail = #characters - (most - 3 - head) + 1
    return "'" .. table.concat(characters, "", 1, head) .. "..."
      .. table.concat(characters, "", tail) .. "'"
  end
  return "'" .. table.concat(characters) .. "'"
end

-- Returns the command for the marks of an axis.  A mark is a format, in which a percent sign is
-- doubled.
local function tics(name, marks)
  local parts = {}
  for i, mark in ipairs(marks) do
    parts[i] = ("%s %.9g"):format(quoted(mark.text:gsub("%%", "%%%%"), legend_max), mark.at)
  end
  return ("set %stics (%s)\n"):format(name, table.concat(parts, ", "))
end

-- The legend ------------------------------------------------------------------------------------

-- Returns whether the series of two panels have the same names in the same order.
local function same_names(a, b)
  for i = 1, math.max(#a.series, #b.series) do
    local one, other = a.series[i], b.series[i]
    if (one and one.name or "") ~= (other and other.name or "") then return false end
  end
  return true
end

-- Returns whether the panel has a legend; that of the panel above serves the same names too.
local function has_legend(chart, number)
  local panel, any = chart.panels[number], false
  for _, series in ipairs(panel.series) do any = any or series.name ~= "" end
  return any and (number == 1 or not same_names(panel, chart.panels[number - 1]))
end

-- Returns how many characters the longest name that is shown takes.
local function legend_width(chart)
  local most = 0
  for number, panel in ipairs(chart.panels) do
    if has_legend(chart, number) then
      for _, series in ipairs(panel.series) do
        most = math.max(most, #native.escape(series.name))
      end
    end
  end
  return math.min(most, legend_max)
end

-- The whole picture -----------------------------------------------------------------------------

local writer = {}
writer.__index = writer

function writer:put(form, ...)
  self[#self + 1] = form:format(...)
end

-- Returns how many rows a text of this chart should have.
function script.rows(chart)
  local n = #chart.panels
  return 4 + text_panel * n + (n == 1 and math.floor(text_panel / 2) or 0)
end

-- Puts the form of the picture.  Markup is off (noenhanced), so that names of files are shown as
-- they are.
function writer:put_terminal()
  local canvas = self.canvas
  if canvas.form == "text" then
    self:put("set terminal dumb mono noenhanced size %d,%d\n", canvas.columns, canvas.rows)
  elseif canvas.form == "svg" then
    self:put("set terminal svg noenhanced name 'bench' size %d,%d font 'sans-serif,17' "
      .. "background rgb 'white'\n", width, height)
  else
    self:put("set terminal pngcairo noenhanced size %d,%d font 'sans-serif,13' fontscale 1.5 "
      .. "linewidth 1.5 pointscale 1.5\n", width * 3 / 2, height * 3 / 2)
  end
end

-- Puts how axes and grids look.  A picture in text has the axes alone.
function writer:put_style()
  if self.is_text then
    self:put("set border 3\nset tics nomirror\nset bars 0\n")
    return
  end
  self:put("set border 1 lc rgb '#666666' lw 1\n"
    .. "set tics nomirror textcolor rgb '#444444'\n"
    .. "set xtics out scale 0.6\nset ytics scale 0\n"
    .. "set grid ytics lt 1 lc rgb '#dddddd' lw 1 back\n"
    .. "set bars 0.6\nset pointintervalbox " .. hidden .. "\n")
end

-- Puts a line above the panels, which belongs to none of them.
function writer:put_heading(number, text)
  local canvas, first = self.canvas, number == 1
  local most = self.is_text and canvas.columns or first and 80 or 150
  self:put("set label %d %s", number, quoted(text, most))
  if self.is_text then
    self:put(" at character 0, character %d\n", canvas.rows - number)
    return
  end
  -- gnuplot's SVG has a bold face with its markup only, which texts of others could be read as.
  local face = first and canvas.form == "png" and ":Bold" or ""
  -- The size is in pixels of the SVG; the other form counts in points.
  local size = (first and 26 or 15) * (canvas.form == "png" and 0.75 or 1)
  self:put(" at screen 0.02, screen %s textcolor rgb '%s' font 'sans-serif%s,%.1f'\n",
    first and "0.945" or "0.895", first and "#222222" or "#666666", face, size)
end

function writer:put_x()
  self:put("set xrange [%.9g:%.9g]\n", self.x.low, self.x.high)
  if self.x.log then self:put("set logscale x\n") end
  if #self.x.marks > 0 then self:put("%s", tics("x", self.x.marks)) end
end

-- Puts where the panels begin and end.  The legend stands on their right, as wide as its longest
-- name.
function writer:put_left_right()
  local legend, columns = legend_width(self.chart), self.canvas.columns
  local left, right = 0.085, legend > 0 and 1 - 0.055 - 0.0085 * legend or 0.97
  if self.is_text then
    left, right = text_left / columns, 1 - (legend > 0 and legend + 6 or 2) / columns
  end
  self:put("set lmargin at screen %.4f\nset rmargin at screen %.4f\n", left, right)
end

-- Panels ----------------------------------------------------------------------------------------

local function has_bars(series)
  return series.look == "bars" or series.look == "spots"
end

-- Returns how to move the points of a series: bars of several stand beside each other, so that none
-- covers another.
function writer:beside(panel, number)
  local n, x = 0, self.x
  for _, series in ipairs(panel.series) do n = n + (has_bars(series) and 1 or 0) end
  if self.is_text or not has_bars(panel.series[number]) then
    return function(at) return at end
  end
  local part = (n > 3 and 0.015 or 0.005 * n) * ((number - 0.5) / n - 0.5)
  if x.log then
    local factor = (x.high / x.low) ^ part
    return function(at) return at * factor end
  end
  return function(at) return at + part * (x.high - x.low) end
end

-- Puts the points of each series as a data block of gnuplot, "$data0_0" for the first of the first
-- panel.  NaN leaves a gap where a value cannot be drawn.
function writer:put_data(panel, number, y)
  for i, series in ipairs(panel.series) do
    local moved = self:beside(panel, i)
    self:put("$data%d_%d << end\n", number - 1, i - 1)
    for _, point in ipairs(series) do
      local x = moved(point.x / self.x.unit)
      if math.abs(point.y) < math.huge and not (y.log and point.y <= 0) then
        self:put("%.9g %.9g %.9g %.9g\n", x, point.y, point.low or 0, point.high or 0)
      else
        self:put("%.9g NaN NaN NaN\n", x)
      end
    end
    self:put("end\n")
  end
end

-- Puts where the panel stands, and returns its top, as a part of the picture.
function writer:put_place(number)
  local n, rows = #self.chart.panels, self.canvas.rows
  local top, tall
  if self.is_text then
    local step = (rows - 4) / n / rows
    top, tall = 1 - 4.5 / rows - (number - 1) * step, step - 2.5 / rows
  else
    local step = 0.815 / n
    top, tall = 0.80 - (number - 1) * step, step - 0.125
  end
  self:put("set tmargin at screen %.4f\nset bmargin at screen %.4f\n", top, top - tall)
  return top
end

-- Puts the y axis and its heading.  y: of study.plot.axis; top: what put_place has returned.
function writer:put_y(panel, y, top)
  self:put(y.log and "set logscale y\n" or "unset logscale y\n")
  self:put("set yrange [%.9g:%.9g]\n", y.low, y.high)
  self:put("%s", tics("y", y.marks))
  self:put("set label 3 %s", quoted(panel.title, 90))
  if self.is_text then
    self:put(" at graph 0, graph 1 offset 0,1\n")
  else
    self:put(" at screen 0.02, screen %.4f textcolor rgb '#222222'\n", top + 0.04)
  end
end

-- The marks are the last panel's, as is the heading of the x axis.
function writer:put_x_of(number)
  local chart, has_marks = self.chart, #self.x.marks > 0
  if number < #chart.panels then
    if not has_marks then self:put("set format x ''\n") end
    return
  end
  local title = chart.x_title
  if chart.x == "time" then title = ("%s (%s)"):format(title, self.x.suffix) end
  if not has_marks then self:put("set format x '%%g'\n") end
  self:put("set xlabel %s%s", quoted(title, 90),
    self.is_text and "\n" or " offset 0,0.3 textcolor rgb '#222222'\n")
end

-- Puts how a series looks; size: of its points.
function writer:put_look(series, size)
  if self.is_text then
    self:put(" lt %d", series.colour + 1)
    return
  end
  self:put(" lc rgb '%s' lw %s dt %d pt 7 ps %s", colours[series.colour % #colours + 1],
    series.look == "line" and #series > crowd and "1" or "2",
    1 + math.floor(series.colour / #colours), size)
end

-- Returns gnuplot's name for a look.  Points are marked where they are few; without a mark, one
-- alone could not be seen.
function writer:style_of(series)
  if series.look == "steps" then return "steps" end
  if series.look == "spots" then return "points" end
  if series.look == "fit" then return self.is_text and "dots" or "lines" end
  return (#series == 1 or #series <= dots_max and not self.is_text) and "linespoints" or "lines"
end

-- Puts the part of the plot command that draws a series; data: the name of its data block.  Bars
-- are drawn first, below the line and its points.
function writer:put_series(series, data, legend)
  if has_bars(series) then
    self:put("%s using 1:2:3:4 with yerrorbars", data)
    self:put_look(series, hidden)
    self:put(" notitle, ")
  end
  self:put("%s using 1:2 with %s", data, self:style_of(series))
  self:put_look(series, series.look == "spots" and "0.8" or "0.6")
  if not legend or series.name == "" then
    self:put(" notitle")
  elseif self.is_text then
    -- The name would touch its sample.
    self:put(" title %s", quoted(" " .. series.name, legend_max + 1))
  else
    self:put(" title %s", quoted(series.name, legend_max))
  end
end

-- Puts the command that draws the series.  Fits are behind what they were fitted to.
function writer:put_plot(panel, number, legend)
  local separator = ""
  self:put("plot ")
  for _, fits in ipairs{true, false} do
    for i, series in ipairs(panel.series) do
      if (series.look == "fit") == fits then
        self:put(separator)
        self:put_series(series, ("$data%d_%d"):format(number - 1, i - 1), legend)
        separator = ", "
      end
    end
  end
  self:put("\nunset label\n")
end

-- Puts a panel.  The settings of a panel hold until another one changes them, so each puts all of
-- them.
function writer:put_panel(panel, number)
  local legend, y = has_legend(self.chart, number), axis.y(panel, self.is_text)
  self:put_data(panel, number, y)
  self:put_y(panel, y, self:put_place(number))
  self:put_x_of(number)
  if legend then
    self:put("set key at graph 1, graph 1 left top Left reverse noenhanced samplen %s\n",
      self.is_text and "2" or "1.5 spacing 1.25 textcolor rgb '#222222'")
  else
    self:put("unset key\n")
  end
  self:put_plot(panel, number, legend)
end

-- Returns the commands; canvas: {form = "text", "svg" or "png", columns =, rows =}, of text.
function script.write(chart, canvas)
  local is_text = canvas.form == "text"
  local self = setmetatable({
    chart = chart, canvas = canvas, is_text = is_text,
    x = axis.x(chart, is_text and math.floor(canvas.columns / 10) or axis.marks_max),
  }, writer)
  self:put("set encoding utf8\n")
  self:put_terminal()
  self:put_style()
  self:put("set multiplot\n")
  self:put_left_right()
  self:put_x()
  self:put_heading(1, chart.title)
  self:put_heading(2, chart.note)
  for number, panel in ipairs(chart.panels) do self:put_panel(panel, number) end
  self:put("unset multiplot\n")
  local text = table.concat(self)
  if canvas.form ~= "svg" then return text end
  -- gnuplot leaves these as they are, of which XML allows none in a text; it takes references.
  return (text:gsub("&#", "&#x26;#"):gsub("%]%]>", "]]&#x3e;")
    :gsub("\239\191[\190\191]", "\239\191\189"))
end

return script

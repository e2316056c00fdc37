-- SPDX-License-Identifier: GPL-2.0-or-later
-- This module makes pictures of results: it reads them, has a chart made of them and drawn by
-- gnuplot, and writes the picture.

local gnuplot = require("study.plot.gnuplot")
local native = require("study.native")
local results = require("study.results")
local run = require("study.plot.run")
local runs = require("study.plot.runs")
local script = require("study.plot.script")
local sweep = require("study.plot.sweep")

local runs_max = 28  -- that colours and dashes tell apart

-- Files -----------------------------------------------------------------------------------------

-- Returns the paths of the results that were named, or of those of a folder, and whether it is one;
-- or nil and a message.
local function find_files(operands)
  for _, operand in ipairs(operands) do
    if native.kind(operand) == "folder" and #operands > 1 then
      return nil, ("'%s' is a folder; name it alone, or name its files"):format(operand)
    end
  end
  if native.kind(operands[1]) ~= "folder" then return operands, false end
  return results.find(operands[1])
end

-- Calls use(path, result) with each result of a list of files, of which `part` is read, as
-- native.result has it.  A folder also has other documents.  Returns true; or nil and a message,
-- which is that of `use` if it returned one.
local function read_results(files, is_folder, part, use)
  for _, path in ipairs(files) do
    local result, why = native.result(path, part)
    if not result and not (result == false and is_folder) then return nil, why end
    local fault = result and use(path, result)
    if fault then return nil, fault end
  end
  return true
end

-- Charts ----------------------------------------------------------------------------------------

-- Returns the kind of picture that suits runs: over time it needs more than one interval of each.
local function choose_kind(all)
  for _, one in ipairs(all) do
    if one.n_intervals < 2 then return "latency" end
  end
  return "time"
end

-- Returns the chart of single runs; nil and a message if there is none.  Each result is read with
-- its intervals and closed again, because many of them are large.
local function chart_of_runs(kind, files, is_folder, operand)
  local all = {}
  local ok, why = read_results(files, is_folder, "all", function(path, result)
    if #all == runs_max then
      return ("such a picture has at most %d results; name fewer files"):format(runs_max)
    end
    result:warn_skipped(path)
    all[#all + 1] = run.read(path, result)
    result:close()
  end)
  if not ok then return nil, why end
  if #all == 0 then return nil, results.none(operand) end
  if kind == "auto" then kind = choose_kind(all) end
  return (kind == "time" and runs.over_time or runs.over_quantiles)(all)
end

-- Returns the chart of a sweep; nil and a message if there is none.  Runs that did not end normally
-- are left out.  Results stay open, because the chart takes its figures from them.
local function chart_of_sweep(files, is_folder, operand)
  local n, whole, heads = 0, {}, {}
  local ok, why = read_results(files, is_folder, "totals", function(path, result)
    n = n + 1
    if not results.fault(result, true) then
      whole[#whole + 1], heads[#heads + 1] = result, run.head(path, result)
    end
  end)
  if not ok then return nil, why end
  if n == 0 then return nil, results.none(operand) end
  if #whole == 0 then
    return nil, ("none of the %d runs ended normally; run them again"):format(n)
  end
  if #whole < n then
    native.log("bench plot: %d of %d runs did not end normally and are left out", n - #whole, n)
  end
  local chart
  chart, why = sweep.chart(whole)
  if chart then run.set_headings(chart, heads) end
  return chart, why
end

-- Returns the chart of results; nil and a message if there is none.  With the kind "auto", a folder
-- is a sweep, and files are single runs.
local function make_chart(kind, operands)
  local files, is_folder = find_files(operands)
  if not files then return nil, is_folder end
  if kind == "sweep" or kind == "auto" and is_folder then
    return chart_of_sweep(files, is_folder, operands[1])
  end
  return chart_of_runs(kind, files, is_folder, operands[1])
end

-- The destination -------------------------------------------------------------------------------

local forms = {svg = "svg", png = "png"}

local picture = {}

-- Returns the form of a picture by the end of its file's name.  Fails if there is no such form, or
-- the file cannot be written.
function picture.form(option, path)
  if not path then return "text" end
  local form = forms[(path:match("%.([^.]*)$") or ""):lower()]
  local fault, code = "the name of the file must end in .svg or .png", nil
  if form then fault, code = native.fault(path) end
  if fault then
    native.fail("--%s=%s: %s%s", option, path, code and "cannot write the file: " or "", fault)
  end
  return form
end

-- Returns the width of a picture in text: that of the terminal, else COLUMNS, else 79; from 40 to
-- 400.
local function terminal_columns()
  local typed = (os.getenv("COLUMNS") or ""):match("^%s*([+-]?%d+)$")
  local columns = native.width() or tonumber(typed) or 79
  return math.min(math.max(columns, 40), 400)
end

-- Prints a picture without the blanks at the ends of lines, and without what gnuplot begins a page
-- with.
local function print_text(drawn)
  local text = (drawn .. "\n"):gsub("^[\f \n]+", ""):gsub(" +\n", "\n"):gsub("\n\n$", "\n")
  io.stdout:write(text)
end

-- Finds out at the beginning of a study whether --OPTION=FILE can be drawn: the name, the folder it
-- is in, gnuplot.  Fails if not.
function picture.check(option, path)
  picture.form(option, path)
  native.check(gnuplot.check())
end

-- Draws results in a form: files, or a folder alone.  kind: "auto", "time", "latency" or "sweep";
-- path: the file, nil for the terminal.  native.child_begin() was called.  Returns true, or nil and
-- a message, which is escaped.
function picture.draw(kind, operands, form, path)
  local chart, drawn, ok, why
  chart, why = make_chart(kind, operands)
  if chart then
    local canvas = {form = form, columns = terminal_columns(), rows = script.rows(chart)}
    drawn, why = gnuplot.draw(chart, canvas)
  end
  if drawn == "" then drawn, why = nil, "gnuplot wrote no picture" end
  if drawn and path then
    ok, why = native.replace(path, drawn)
  elseif drawn then
    print_text(drawn)
    ok = true
  end
  return ok, why and native.escape(why)
end

-- Draws the folder of a study into the file, after native.child_begin(), or fails.
function picture.draw_folder(folder, path)
  native.check(picture.draw("sweep", {folder}, picture.form("plot", path), path))
end

return picture

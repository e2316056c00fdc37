-- SPDX-License-Identifier: GPL-2.0-or-later
-- This module has a chart drawn by gnuplot, as a child process, on files in a private folder.

local native = require("study.native")
local script = require("study.plot.script")

local gnuplot = {}

local limit_s = 120
local picture_max, errors_max = 2 ^ 30, 2 ^ 16  -- bytes

local missing = "the program gnuplot, which draws the picture, is not in PATH; install it (Debian, "
  .. "Ubuntu: apt-get install gnuplot-nox; Fedora: dnf install gnuplot)"

-- Returns true, or nil and a message: gnuplot is not in PATH.
function gnuplot.check()
  for folder in ((os.getenv("PATH") or "") .. ":"):gmatch("([^:]*):") do
    if native.executable(folder .. "/gnuplot") then return true end
  end
  return nil, missing
end

-- Returns the line that says what is wrong: gnuplot first repeats the command, with a mark below
-- it.
local function complaint_of(errors)
  local best
  for line in (errors .. "\n"):gmatch("([^\n]*)\n") do
    if not line:find(": warning: ", 1, true) then
      if line:find(" line ", 1, true) and line:find(": ", 1, true) then return line end
      best = best or line:find("[^ \t^]") and line
    end
  end
  return best or "it does not say why"
end

-- Returns the message about a signal, if one came.
local function interruption()
  return native.signalled() and ("interrupted by signal %d"):format(native.signalled())
end

-- Returns why there is no picture; nil: there is one.
local function fault_of(ended, errors)
  if ended.timed_out then
    return ("gnuplot did not draw the picture within %d s"):format(limit_s)
  end
  if ended.status == 0 then return nil end
  local file = io.open(errors)
  local complaint = native.escape(complaint_of(file and file:read(errors_max) or ""))
  if file then file:close() end
  if ended.signal then
    return ("gnuplot was ended by signal %d (%s): %s"):format(
      ended.signal, native.signal_text(ended.signal), complaint)
  end
  return "gnuplot cannot draw the picture: " .. complaint
end

-- Returns the picture of a chart (study.plot.script), or nil and a message.  native.signalled()
-- tells whether a signal came.
function gnuplot.draw(chart, canvas)
  local folder, why = native.temp_folder()
  if not folder then return nil, why end
  local commands, picture, errors = folder .. "/script", folder .. "/picture", folder .. "/errors"
  local written, ended
  written, why = native.replace(commands, script.write(chart, canvas))
  if not written or interruption() then return nil, why or interruption() end
  ended, why = native.child{
    argv = {"gnuplot", "-d", commands}, out = picture, errors = errors, limit_s = limit_s}
  if not ended then return nil, select(2, gnuplot.check()) or why end
  local fault = interruption() or fault_of(ended, errors)
  if fault then return nil, fault end
  return native.read(picture, picture_max)
end

return gnuplot

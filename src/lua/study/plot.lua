-- SPDX-License-Identifier: GPL-2.0-or-later
-- The subcommand `plot` draws results as a picture, or on the terminal.

local native = require("study.native")
local picture = require("study.plot.picture")
local shared = require("study.options")

return {
  name = "plot",
  title = "draw results as a picture",
  operands = "RESULT...",
  min_operands = 1,
  options = {
    shared.output{help = "file for the picture, .svg or .png, instead of the terminal"},
    shared.max_document_size,
    {name = "kind", type = "choice", def = "auto", choices = {"auto", "time", "latency", "sweep"},
     help = "picture: time, latency, sweep, or auto (depends on the results)"},
  },
  -- Returns the exit status after a signal, and nil, which is status 0, when the picture is drawn.
  run = function(options, operands)
    local form = picture.form("output", options.output)
    native.read_at_most(options.max_document_size)
    native.child_begin()
    local ok, why = picture.draw(options.kind, operands, form, options.output)
    local signal = native.signalled()
    if signal then
      if why then native.log("bench plot: %s", why) end
      return 128 + signal
    end
    if not ok then native.fail("%s", why) end
  end,
}

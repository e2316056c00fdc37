-- SPDX-License-Identifier: GPL-2.0-or-later
-- This module reads percentages and the items of --fail-on: how much worse a figure may be, such
-- as "p99:5%:50us".

local native = require("study.native")

local limit = {}

-- Returns the share that "5%", "5 %" or "5" is, 0.05; or nil.
function limit.share(text)
  local number, rest = text:match("^([^%%]*)(.*)$")
  local percent = #number < 32 and (rest == "" or rest == "%")
    and native.real((number:gsub(" +$", "")))
  return percent and percent >= 0 and percent / 100 or nil
end

-- Returns the share of --same, or fails.
function limit.same(text)
  local same = limit.share(text)
  if not same or same <= 0 or same >= 1 then
    native.fail("--same=%s: not a percentage between 0 and 100", text)
  end
  return same
end

-- Returns "--fail-on=p99:5%".
function limit.option(name, value)
  return ("--%s=%s"):format(name, value):sub(1, 255)
end

-- Fails for the second item of --fail-on that names a figure.
function limit.refuse_again(item, name)
  native.fail("%s: %s has a limit already; give each metric one", limit.option("fail-on", item),
    name)
end

-- Returns the figure of that name; it fails for a figure that cannot be better or worse.  kinds:
-- the kinds of figures that the option may name.
function limit.figure(option, name, kinds)
  local figure, why = native.figure(name)
  if not figure then native.fail("%s: %s", option, why) end
  if figure.better == "neither" then
    native.fail("%s: neither a larger nor a smaller value is better; name %s", option,
      kinds or "a rate, a latency or errors")
  end
  return figure
end

-- Returns the end of a sentence about a figure that is worse, by more than its limit of limit.read.
function limit.exceeded(one)
  return one.text ~= "" and " by more than " .. one.text or ""
end

-- Returns why it is undecided whether a figure that is worse exceeds its limit, of limit.read.
function limit.undecided(one)
  return one.text ~= "" and "worse, perhaps by more than " .. one.text
    or "worse, but not if the metrics of --fail-on are tested together"
end

-- Returns seconds, as --assert reads them; nil: it is no time.
local function read_time(text)
  local parsed = text:find("^[%d.]") and native.assertion("avg<" .. text)
  return parsed and parsed.limit / parsed.scale
end

-- Splits "NAME[:PERCENT[:AMOUNT]]" into the name and the rest.  The names of kinds of events, of
-- groups and of phases have a colon too: "p99@event:payment:5%".
local function split(item)
  for _, part in ipairs{"event", "group", "phase"} do
    local name, rest = item:match("^([^:]*@" .. part .. ":[^:]*)(.*)$")
    if name then return name, rest end
  end
  return item:match("^([^:]*)(.*)$")
end

-- Reads an item "NAME[:PERCENT[:AMOUNT]]".  `find` takes the option and the name, and returns the
-- figure (native.figure).  Returns {figure =, share =, amount = in the unit of the figure, text =
-- "5 % and 50us"}; both have to be exceeded.
function limit.read(item, find)
  local option = limit.option("fail-on", item)
  local name, rest = split(item)
  local percent, amount = rest:match("^:?([^:]*):?(.*)$")
  local figure = find(option, name:sub(1, 127))
  local share, least, words = 0, 0, {}
  if rest ~= "" then
    share = limit.share(percent)
    if not share then
      native.fail("%s: write a percentage after the colon, such as 5%%", option)
    end
  end
  if rest:find(":.*:") then
    local is_time = figure.unit == "s"
    least = is_time and read_time(amount) or not is_time and native.real(amount)
    if not least or not (least >= 0 and least < math.huge) then
      native.fail("%s: write %s after the second colon", option,
        is_time and "a time with its unit, such as 50us," or "a number")
    end
  end
  if share >= 1 and figure.better == "more" then
    native.fail("%s: a rate cannot get lower by 100 %% or more", option)
  end
  if share > 0 then words[1] = ("%.4g %%"):format(100 * share) end
  if least > 0 then words[#words + 1] = amount end
  return {figure = figure, share = share, amount = least, text = table.concat(words, " and ")}
end

return limit

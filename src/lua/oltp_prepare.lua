-- SPDX-License-Identifier: GPL-2.0-or-later
-- Prepares the statements of all tables but the first one, for oltp_common.lua, which loads it if
-- there are several.

-- Shows the progress of the first thread on a terminal; without numbers it clears the line.
local function show(done, all)
  if sysbench.tid == 0 then
    sysbench.cmdline.progress(done and ("preparing statements: %d/%d"):format(done, all))
  end
end

-- Prepares one kind for all tables but the first one that do not have it.
local function prepare_kind(kind, prepare, done, all)
  for table_num = 2, sysbench.opt.tables do
    if not rawget(stmt[table_num], kind) then
      prepare(table_num, kind)
    end
    done = done + 1
    if done % 100 == 0 then
      show(done, all)
    end
  end
end

-- Prepares the first `count` of the kinds by prepare(table_num, kind); many statements in one
-- exchange if `together` and the driver can do that.
return function (kinds, count, together, prepare)
  local others = sysbench.opt.tables - 1
  for i = 1, count do
    if together then
      sysbench.cmdline.hold()
    end
    prepare_kind(kinds[i], prepare, others * (i - 1), others * count)
    if together and not sysbench.cmdline.prepare_held() then
      error("SQL API error")
    end
  end
  if others * count >= 100 then
    show()
  end
end

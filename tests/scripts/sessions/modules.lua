-- SPDX-License-Identifier: GPL-2.0-or-later
-- Modules that the script requires: they keep a connection and counters in their tables.

local shelf = require("shelf")

function thread_init(id)
  shelf.open(id)
end

function event(id)
  require("shelf").put(sysbench.rand.string("@@@"))
  assert(package.loaded.shelf == shelf and shelf.owner == id)
  if shelf.count % 5 == 0 then
    shelf.take()
  end
  print(("[%d]"):format(id), shelf.count, shelf.taken, shelf_global)
end

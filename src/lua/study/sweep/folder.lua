-- SPDX-License-Identifier: GPL-2.0-or-later
-- This module knows the folder of a sweep, and which of its runs are done.
--
--   DIR/study.json      what is varied and run, and in which order; written before the first run
--   DIR/runs/0001.json  the result of run 1; .txt: its standard output; .err: its standard error
--   DIR/data.json       which data are prepared; with --prepare
--   DIR/table.json, DIR/table.csv
--
-- Each file is complete or absent.  A run is done if its result can be read and says that the run
-- ended with exit status 0.

local document = require("study.document")
local native = require("study.native")
local output = require("study.output")

local folder = {}
folder.__index = folder

-- A document of a sweep is a few bytes for each run.
local document_most = 16 * 2 ^ 20
local path_most, name_room = 4096, 32

-- Refuses a path that is no name of a folder.
function folder.check(path)
  if path == "" or #path + name_room > path_most then
    native.fail("--out=%s: the name is empty or too long; name a folder", path:sub(1, 64))
  end
  output.check_folder(path)
end

-- Makes a folder unless it is there.
function folder.make(path)
  local ok, why = native.mkdir(path)
  if ok then return end
  local kind = native.kind(path)
  if kind and kind ~= "folder" then native.fail("--out=%s: this is a file; name a folder", path) end
  native.fail("--out=%s: cannot make the folder: %s", path, why:match("': (.*)$") or why)
end

-- Makes the folder unless it is there, and locks it.  folder.check has accepted the path.
function folder.open(path)
  local self = setmetatable({path = path}, folder)
  folder.make(path)
  folder.make(self:file("runs"))
  self.lock = native.check(native.lock(path))
  return self
end

function folder:close()
  self.lock:release()
end

function folder:file(name)
  return self.path .. "/" .. name
end

-- Returns "runs/0007.json"; runs are counted from 1.
function folder.run_name(run, suffix)
  return ("runs/%04d.%s"):format(run, suffix)
end

-- Returns the path of a file of a run.
function folder:run(run, suffix)
  return self:file(folder.run_name(run, suffix))
end

-- Returns a document, or nil: there is none.
function folder:read(name)
  local path = self:file(name)
  if not native.kind(path) then return nil end
  local value, fault = document.parse((native.check(native.read(path, document_most))))
  if not value then native.fail("cannot read '%s': %s", path, fault:sub(1, 200)) end
  return value
end

function folder:write(name, value)
  output.write_document(value, self:file(name))
end

function folder:remove(name)
  native.remove(self:file(name))
end

-- Removes a file of standard error if it is empty.
function folder.drop_empty(path)
  if native.size(path) == 0 then native.remove(path) end
end

return folder

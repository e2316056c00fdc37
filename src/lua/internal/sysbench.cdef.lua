-- Module "sysbench.cdef": ffi.cdef for scripts that share an interpreter, whose declarations of C
-- are common to all of them.  Returns the function, for which a text that is known is no error.
local internal = ...
local cdef = internal.ffi.cdef
local pcall, error = pcall, error

local declared = {}

return function (text, ...)
  if declared[text] then
    return
  end
  local ok, failure = pcall(cdef, text, ...)
  if not ok then
    error(failure, 2)
  end
  declared[text] = true
end

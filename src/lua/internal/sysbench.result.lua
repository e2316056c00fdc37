-- Module "sysbench.result": the metatable by which `sysbench` has what the run has measured, made
-- when done() asks for it.
local internal = ...

return {
  __index = function (t, key)
    local result = key == "result" and internal.result() or nil
    if result then
      rawset(t, key, result)
    end
    return result
  end
}

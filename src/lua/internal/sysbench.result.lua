-- Module "sysbench.result": the metatable that adds think() to `sysbench`, and the measured result,
-- made when done() asks for it.
local internal = ...

return {
  __index = function (t, key)
    if key == "think" then
      return internal.think
    end
    local result = key == "result" and internal.result() or nil
    if result then
      rawset(t, key, result)
    end
    return result
  end
}

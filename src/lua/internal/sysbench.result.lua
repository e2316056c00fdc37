-- Module "sysbench.result": the metatable that adds the measured result to `sysbench`, made when
-- done() asks for it.
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

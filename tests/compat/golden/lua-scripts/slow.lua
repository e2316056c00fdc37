-- initialises more slowly than any --thread-init-timeout of the tests
function thread_init() os.execute("exec sleep 20") end
function event() end

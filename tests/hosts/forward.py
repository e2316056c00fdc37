# SPDX-License-Identifier: GPL-2.0-or-later
"""Hands connections to a port of its network namespace on to a Unix socket.

Usage: forward.py ADDRESS PORT SOCKET
"""

import asyncio
import sys


async def copy(reader, writer):
    while data := await reader.read(1 << 16):
        writer.write(data)
        await writer.drain()
    writer.close()


async def main(address, port, path):
    async def serve(reader, writer):
        there_reader, there_writer = await asyncio.open_unix_connection(path)
        await asyncio.gather(copy(reader, there_writer), copy(there_reader, writer),
                             return_exceptions=True)

    server = await asyncio.start_server(serve, address, int(port))
    print("ready", flush=True)
    await server.serve_forever()


asyncio.run(main(*sys.argv[1:]))

#!/usr/bin/env python3
"""WebSockets by Python's websockets, with its own C code, on asyncio.

Opens a socket for each caller and has messages echoed, or with --job open opens a socket for each request, has two
messages echoed, and keeps the socket. Nothing is compressed.
"""
import argparse
import asyncio
import ctypes
import json
import os
import pathlib
import resource
import ssl
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / ".build" / "peers" / "python"))

import websockets.speedups  # noqa: E402, F401  (without it masks are applied in Python)
from websockets.asyncio.client import connect  # noqa: E402


class Memory(ctypes.Structure):
    """glibc's `struct mallinfo2`."""
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")]


def heap():
    """Bytes that were allocated and not freed."""
    function = ctypes.CDLL(None).mallinfo2
    function.restype = Memory
    memory = function()
    return memory.uordblks + memory.hblkhd


def kilobytes(name):
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1])
    return 0


async def echo(socket, message):
    await socket.send(message)
    if len(await socket.recv()) != len(message):
        raise ValueError("a message of another length")


async def run(concurrency, requests, send):
    """Nanoseconds of each request, of callers that send an equal share each."""
    times = []

    async def call(caller):
        for _ in range(requests * caller // concurrency, requests * (caller + 1) // concurrency):
            begun = time.monotonic_ns()
            await send(caller)
            times.append(time.monotonic_ns() - begun)

    await asyncio.gather(*(call(caller) for caller in range(concurrency)))
    return times


async def measure(concurrency, requests, send):
    start, start_heap = kilobytes("VmRSS"), heap()
    before, begun = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()
    times = sorted(await run(concurrency, requests, send))
    seconds, after = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({
        "requests": requests, "seconds": seconds, "user_us": (after.ru_utime - before.ru_utime) * 1e6 / requests,
        "sys_us": (after.ru_stime - before.ru_stime) * 1e6 / requests, "p50_us": times[requests // 2] / 1e3,
        "p99_us": times[requests * 99 // 100] / 1e3, "rss_kb": kilobytes("VmHWM"), "start_kb": start,
        "end_kb": kilobytes("VmRSS"), "heap_grown": heap() - start_heap}))


async def main():
    parser = argparse.ArgumentParser()
    for name, default in (("host", "127.0.0.1"), ("port", 80), ("path", "/"), ("concurrency", 1), ("requests", 1000),
                          ("warmup", 100), ("length", 1024), ("job", "echo"), ("ca", "")):
        parser.add_argument("--" + name, type=type(default), default=default)
    chosen = parser.parse_args()
    tls = ssl.create_default_context(cafile=chosen.ca) if chosen.ca else None
    url = f"{'wss' if tls else 'ws'}://{chosen.host}:{chosen.port}{chosen.path}"
    message = bytes(chosen.length)
    sockets = []

    async def opened():
        return await connect(url, ssl=tls, compression=None, ping_interval=30, proxy=None)

    async def open_one(_):
        socket = await opened()
        for _ in range(2):
            await echo(socket, message)
        sockets.append(socket)

    if chosen.job == "open":
        await measure(chosen.concurrency, chosen.requests, open_one)
    else:
        sockets += [await opened() for _ in range(chosen.concurrency)]
        await run(chosen.concurrency, chosen.warmup, lambda caller: echo(sockets[caller], message))
        await measure(chosen.concurrency, chosen.requests, lambda caller: echo(sockets[caller], message))
    # Nobody waits for so many closing handshakes.
    sys.stdout.flush()
    os._exit(0)


asyncio.run(main())

"""Checks what does not depend on the machine: allocations and system calls per request, heap per idle connection, and
instructions on demand.

A count over its threshold is taken again, and the lowest stands: a thread that wakes at an odd moment adds a call once,
which is likely on a busy machine; a regression adds it every time.
"""
import argparse
import functools
import json
import sys

import clients
import measure

ATTEMPTS = 8
# By the name of the thresholds.
SERVERS = {"get": measure.server, "tls": lambda: measure.tls_server(1024)}


def settled(limit, count):
    lowest = count()
    for _ in range(ATTEMPTS - 1):
        if lowest <= limit:
            break
        lowest = min(lowest, count())
    return lowest


def counts(thresholds, paths, server):
    """Every check as (client, what, limit, how to count)."""
    probe = clients.malloc_probe()
    for name, limits in thresholds.items():
        for concurrency, limit in limits["syscalls"].items():
            target = paths[name], server, int(concurrency)
            yield (name, f"mallocs at C={concurrency}", limits["mallocs"],
                   functools.partial(measure.mallocs, *target, probe))
            yield name, f"syscalls at C={concurrency}", limit, functools.partial(measure.syscalls, *target)
        if "idle_syscalls" in limits:
            yield (name, "syscalls idle, watched", limits["idle_syscalls"],
                   functools.partial(measure.idle_syscalls, paths[name], server))
        yield name, "KB idle", limits["idle_kb"], functools.partial(measure.idle_heap, paths[name], server)


def instructions(thresholds, paths, server):
    for name, limits in thresholds.items():
        for concurrency in limits["syscalls"]:
            yield (name, f"instructions at C={concurrency}", limits["instructions"],
                   functools.partial(measure.instructions, paths[name], server, int(concurrency)))
        if "real" in limits:
            yield (name, "instructions, real", limits["real"], functools.partial(
                measure.instructions, paths[name], server, 1, options=measure.REAL))
        if "resilient" in limits:
            yield (name, "more, resilient", limits["resilient"],
                   functools.partial(measure.more_instructions_resilient, paths[name], server))
        # Where requests take turns on one loop, how they meet changes more than watching does.
        if "watched" in limits:
            yield (name, "more, watched, at C=1", limits["watched"],
                   functools.partial(measure.more_instructions_watched, paths[name], server, 1))


def build(builders, names):
    paths, failures, _ = clients.build_all({name: builders[name] for name in names})
    if failures:
        sys.exit("\n".join(f"{name} could not be built:\n{reason}" for name, reason in failures.items()))
    return paths


def check(name, what, limit, count):
    """Whether the count is within its limit."""
    try:
        value = settled(limit, count)
    except measure.RunFailed as reason:
        print(f"{name:12} {what:24} FAILED: {reason}", flush=True)
        return False
    verdict = "ok" if value <= limit else "EXCEEDED"
    print(f"{name:12} {what:24} {value:10.2f}   at most {limit:<8} {verdict}", flush=True)
    return value <= limit


def checked(name, starting, has_instructions):
    """Whether each count is within its limit in Thresholds/NAME.json."""
    thresholds = json.loads((measure.FOLDER / "Thresholds" / f"{name}.json").read_text())
    paths = build(clients.STATIC_BUILDERS, thresholds)
    print(f"{name}:", flush=True)
    with starting() as server:
        for each in counts(thresholds, paths, server):
            yield check(*each)
        if has_instructions:
            for each in instructions(thresholds, paths, server):
                yield check(*each)


def main():
    parser = argparse.ArgumentParser(description="Counts per request against Thresholds/*.json.")
    parser.add_argument("--instructions", action="store_true", help="user instructions too, under valgrind")
    options = parser.parse_args()
    measure.exit_on_signals()
    kept = [each for name, starting in SERVERS.items() for each in checked(name, starting, options.instructions)]
    sys.exit(0 if all(kept) else 1)


if __name__ == "__main__":
    main()

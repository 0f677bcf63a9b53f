"""Measures all clients in one go and writes the tables.

SCENARIO names one scenario; without it QUICK measures `get` and a full run everything.

Rounds are interleaved and each starts with another client, so that a slow minute of the machine falls on all of them;
every figure is the median over the rounds.
"""
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys

import clients
import codec
import measure
import scenarios

GET = "get"
OURS = ("dunlin", "dunlin-fast", "dunlin-trip")
FREE = ("raw", "libcurl")
UNCOUNTED = ("go",)  # has an allocator of its own, which no preloaded library sees
SLOW = {"urlsession": 20}


class Plan:
    """How much of everything: `quick` fits into a minute."""

    def __init__(self, quick):
        self.rounds = 5 if quick else 7
        self.concurrencies = [1, 16, 128] if quick else [1, 16, 128, 1000]
        self.requests = {1: 3000, 16: 12000, 128: 12000} if quick else {1: 8000, 16: 40000, 128: 40000, 1000: 40000}
        self.counted = [1, 16] if quick else [1, 16, 128]
        self.counted_clients = OURS + FREE + (() if quick else ("go", "urlsession", "asynchttpclient"))

    def requests_for(self, client, concurrency):
        share = self.requests[concurrency] // SLOW.get(client, 1)
        return max(share, 800, 2 * concurrency)


def measure_times(plan, paths, server, problems):
    """Reports by (client, concurrency)."""
    reports = {}
    names = list(paths)
    for turn in range(plan.rounds):
        order = names[turn % len(names):] + names[:turn % len(names)]
        for concurrency in plan.concurrencies:
            for name in order:
                try:
                    report = measure.times(paths[name], server, concurrency, plan.requests_for(name, concurrency))
                except measure.RunFailed as reason:
                    problems.append(f"{name} at C={concurrency}, round {turn + 1}: {reason}")
                    continue
                reports.setdefault((name, concurrency), []).append(report)
        print(f"round {turn + 1} of {plan.rounds} done", file=sys.stderr)
    return reports


def measure_counts(plan, paths, server, problems):
    """(mallocs, syscalls) by (client, concurrency)."""
    probe = clients.malloc_probe()
    counts = {}
    for name in plan.counted_clients:
        if name not in paths:
            continue
        for concurrency in plan.counted:
            # Some 50 calls per request, each stopped twice: a few requests tell as much as many.
            traced = 1000 // SLOW.get(name, 1)
            try:
                mallocs = None if name in UNCOUNTED else measure.mallocs(paths[name], server, concurrency, probe)
                counts[name, concurrency] = mallocs, measure.syscalls(paths[name], server, concurrency, traced)
            except measure.RunFailed as reason:
                problems.append(f"counting {name} at C={concurrency}: {reason}")
    return counts


def row(client, concurrency, reports, counts):
    def median(value):
        return statistics.median(value(report) for report in reports)
    mallocs, syscalls = counts.get((client, concurrency), (None, None))
    return {
        "client": client, "scenario": GET, "concurrency": concurrency,
        "cpu_us": round(median(lambda report: report["user_us"] + report["sys_us"]), 2),
        "user_us": round(median(lambda report: report["user_us"]), 2),
        "sys_us": round(median(lambda report: report["sys_us"]), 2),
        "rps": round(median(lambda report: report["requests"] / report["seconds"])),
        "p50_us": round(median(lambda report: report["p50_us"]), 1),
        "p99_us": round(median(lambda report: report["p99_us"]), 1),
        "rss_kb": round(median(lambda report: report["rss_kb"])),
        "mallocs": None if mallocs is None else round(mallocs, 2),
        "syscalls": None if syscalls is None else round(syscalls, 2),
    }


def table(rows):
    def ratio(row, base):
        other = next((each for each in rows
                      if each["client"] == base and each["concurrency"] == row["concurrency"]), None)
        return f"{row['cpu_us'] / other['cpu_us']:.2f}" if other and other["cpu_us"] else ""

    def count(value):
        return "" if value is None else f"{value:.2f}"

    lines = [
        "| C | client | CPU µs | user | system | × raw | × libcurl | requests/s | p50 µs | p99 µs | RSS MB | mallocs "
        "| syscalls |",
        "|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for each in rows:
        lines.append(
            f"| {each['concurrency']} | {each['client']} | {each['cpu_us']:.1f} | {each['user_us']:.1f} "
            f"| {each['sys_us']:.1f} | {ratio(each, 'raw')} | {ratio(each, 'libcurl')} | {each['rps']} "
            f"| {each['p50_us']:.0f} | {each['p99_us']:.0f} | {each['rss_kb'] / 1024:.1f} "
            f"| {count(each['mallocs'])} | {count(each['syscalls'])} |")
    return "\n".join(lines)


def trips(rows):
    """What an ordinary caller pays more than one on the loop who makes the way to the loop and back beside."""
    cpu = {(each["client"], each["concurrency"]): each["cpu_us"] for each in rows}
    lines = ["| C | dunlin | dunlin-fast | dunlin-trip | the rest |", "|--:|--:|--:|--:|--:|"]
    for concurrency in sorted({each["concurrency"] for each in rows}):
        costs = [cpu.get((client, concurrency)) for client in OURS]
        if None in costs:
            continue
        ordinary, fast, trip = costs
        lines.append(f"| {concurrency} | {ordinary:.1f} | {fast:.1f} | {trip:.1f} | {ordinary - fast - trip:.1f} |")
    return "\n".join(lines)


def output(*command):
    """The first line a version command prints, wherever it prints it."""
    try:
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"unknown ({error})"
    return (result.stdout.splitlines() or ["unknown"])[0]


def machine():
    information = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.split(":", 1)[1].strip() for line in information if line.startswith("model name")), "unknown")
    server_core, client_core = measure.cores()
    pinning = "server and client share one core" if client_core is None else \
        f"server on core {server_core}, client on core {client_core}"
    load = f"load average before the run {os.getloadavg()[0]:.2f}"
    return f"{os.cpu_count()} × {model}, Linux {platform.release()}; {pinning}; {load}"


def versions():
    os.environ["PATH"] = os.environ.get("PATH", "") + ":/usr/sbin"
    return "; ".join([
        "dunlin " + output("git", "-C", str(measure.FOLDER), "describe", "--always", "--dirty"),
        output("nginx", "-v"),
        output("curl-config", "--version"),
        output("go", "version"),
        output("openssl", "version"),
        "URLSession of " + output("swift", "--version"),
        "raw by " + output(clients.compiler(), "--version").split(" (")[0],
    ])


def banner(title, lines):
    mark = "!" * 100
    print("\n".join([mark, title, *lines, mark]), file=sys.stderr)


def chosen(quick):
    """The scenarios to measure."""
    named = os.environ.get("SCENARIO", "")
    known = [GET, *scenarios.SCENARIOS, codec.NAME]
    if not named:
        return [GET] if quick else known
    return [named] if named in known else sys.exit(f"SCENARIO={named}: one of {', '.join(known)}")


def get_section(plan, paths, problems):
    """The rows of `get`, and their table."""
    with measure.server() as server:
        reports = measure_times(plan, paths, server, problems)
        counts = measure_counts(plan, paths, server, problems)
    rows = [row(name, concurrency, reports[name, concurrency], counts)
            for concurrency in plan.concurrencies for name in clients.BUILDERS if (name, concurrency) in reports]
    return rows, "\n".join([
        "## get: 1 KiB keep-alive GETs", "", f"Per request; median of {plan.rounds} interleaved rounds.", "",
        table(rows), "", "CPU µs of an ordinary caller: those of one on the loop, of the way there and back, and the rest.",
        "", trips(rows)])


def document(machine_line, sections, problems):
    return "\n\n".join([
        "# Benchmarks", f"Machine: {machine_line}.", f"Versions: {versions()}.", *sections,
        *(f"- **{problem}**" for problem in problems)])


def main():
    measure.exit_on_signals()
    quick = os.environ.get("QUICK", "") not in ("", "0")
    names = chosen(quick)
    machine_line = machine()
    others = [name for name in names if name in scenarios.SCENARIOS]
    wanted = scenarios.needed_clients(others) | (clients.BUILDERS if GET in names else {})
    paths, failures, absent = clients.build_all(wanted)
    for name, reason in failures.items():
        banner(f"SKIPPED: {name} could not be built", reason.splitlines())
    problems = [f"skipped, could not be built: {name}" for name in failures]
    rows, sections = [], []
    if GET in names:
        plain = {name: paths[name] for name in clients.BUILDERS if name in paths}
        rows, section = get_section(Plan(quick), plain, problems)
        sections.append(section)
    is_bare = any(not scenarios.SCENARIOS[name].has_tls for name in others)
    server = clients.bare_server() if is_bare else None
    for name in others:
        measured = scenarios.rows(name, paths, server, problems)
        rows += measured
        sections.append(scenarios.table(name, measured))
    if codec.NAME in names:
        measured = codec.rows()
        rows += measured
        sections.append(codec.table(measured))
    missing = [f"NOT RUN: {name}: {reason}" for name, reason in absent.items()]
    text = document(machine_line, sections, problems + missing)
    (measure.FOLDER / "latest.md").write_text(text + "\n")
    (measure.FOLDER / "latest.json").write_text(json.dumps({"rows": rows}, indent=1) + "\n")
    print(text)
    if missing:
        banner("WITHOUT SOME PEERS", missing)
    if problems:
        banner("NOT A COMPLETE RUN", problems)
        sys.exit(1)


if __name__ == "__main__":
    main()

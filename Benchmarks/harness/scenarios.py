"""What is measured beside `get`: long bodies, many connections, and connections of one request.

Every run has a server of its own (Peers/server.c), so that no client meets the closed connections of another.
"""
import dataclasses
import os
import resource
import statistics
import sys

import clients
import measure

GIB = 1 << 30
ALL = ("raw", "libcurl", "go", "dunlin", "dunlin-fast")
WITH_URLSESSION = ("raw", "libcurl", "go", "urlsession", "dunlin", "dunlin-fast")
SPARE_DESCRIPTORS = 100


@dataclasses.dataclass(frozen=True)
class Scenario:
    title: str
    path: str
    requests: int = 1
    concurrency: int = 1
    warmup: int = 0
    options: tuple = ()
    clients: tuple = ALL
    rounds: int = 5
    is_bulk: bool = False

    @property
    def is_held(self):
        """Every request has a connection of its own, all at the same time."""
        return not self.is_bulk and self.requests == self.concurrency

    def arguments(self, size):
        return ["--path", self.path.format(size=size), "--requests", str(self.requests),
                "--concurrency", str(self.concurrency), "--warmup", str(self.warmup),
                *(option.format(size=size) for option in self.options)]


SCENARIOS = {
    "download": Scenario("one body received", "/bytes/{size}", options=("--length", "{size}"),
                         clients=WITH_URLSESSION, is_bulk=True),
    "upload": Scenario("one body sent", "/sink", options=("--upload", "{size}"), clients=WITH_URLSESSION, is_bulk=True),
    "many": Scenario("1 KiB keep-alive GETs, 4,000 at once", "/bytes/1024", requests=80_000, concurrency=4_000,
                     warmup=8_000),
    "connect": Scenario("10,000 connections opened and held by one session", "/hold/10000", requests=10_000,
                        concurrency=10_000),
    "fresh": Scenario("1 KiB GETs, a new connection for each", "/bytes/1024", requests=8_000, concurrency=16,
                      warmup=1_000, options=("--fresh", "1")),
}


def raise_descriptor_limit(needed):
    """Raises the limit of open descriptors for everything started from here; the reason if that is not allowed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft >= needed:
        return None
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, max(hard, needed)))
    except (ValueError, OSError) as error:
        return f"needs {needed} descriptors, the limit is {hard} and cannot be raised ({error}): ulimit -n {needed}"
    return None


def row(name, scenario, client, size, reports):
    def median(value):
        return statistics.median(value(report) for report in reports)
    cpu = median(lambda report: report["user_us"] + report["sys_us"])
    seconds = median(lambda report: report["seconds"])
    over_start = round(median(lambda report: report["rss_kb"] - report["start_kb"]))
    result = {"client": client, "scenario": name, "concurrency": scenario.concurrency, "seconds": round(seconds, 4),
              "over_start_kb": over_start}
    if scenario.is_bulk:
        return result | {"bytes": size, "mb_per_s": round(size / 1e6 / seconds),
                         "cpu_ms_per_gib": round(cpu / 1000 * GIB / size, 1)}
    result |= {"requests": scenario.requests, "cpu_us": round(cpu, 2), "rps": round(scenario.requests / seconds)}
    return result | ({"kb_each": round(over_start / scenario.requests, 2)} if scenario.is_held else {})


def rows(name, paths, server, problems):
    """Measures one scenario: rounds interleaved, each starting with another client."""
    scenario = SCENARIOS[name]
    size = int(os.environ.get("SIZE") or GIB)
    refusal = raise_descriptor_limit(scenario.concurrency + SPARE_DESCRIPTORS)
    if refusal:
        problems.append(f"skipped, {name}: {refusal}")
        return []
    names = [client for client in scenario.clients if client in paths]
    reports = {}
    for turn in range(scenario.rounds):
        for client in names[turn % len(names):] + names[:turn % len(names)]:
            try:
                with measure.bare_server(server) as port:
                    report = measure.report(paths[client], port, scenario.arguments(size), scenario.requests)
            except measure.RunFailed as reason:
                problems.append(f"{client} in {name}, round {turn + 1}: {reason}")
                continue
            reports.setdefault(client, []).append(report)
        print(f"{name}: round {turn + 1} of {scenario.rounds} done", file=sys.stderr)
    return [row(name, scenario, client, size, reports[client]) for client in names if client in reports]


def needed_clients(names):
    wanted = {client for name in names for client in SCENARIOS[name].clients}
    return {client: builder for client, builder in clients.BUILDERS.items() if client in wanted}


def table(name, rows):
    """One scenario's rows as Markdown, with the ratios of CPU that can be compared between machines."""
    bulk, held = SCENARIOS[name].is_bulk, SCENARIOS[name].is_held
    cpu = "cpu_ms_per_gib" if bulk else "cpu_us"

    def ratio(row, base):
        other = next((each[cpu] for each in rows if each["client"] == base), 0)
        return f"{row[cpu] / other:.2f}" if other else ""

    heads = ["client", "CPU ms per GiB" if bulk else "CPU µs", "× raw", "× libcurl", "seconds",
             "MB/s" if bulk else "requests/s", "RSS over start MB", *(["KB each"] if held else [])]
    lines = ["| " + " | ".join(heads) + " |", "|---|" + "--:|" * (len(heads) - 1)]
    for row in rows:
        cells = [row["client"], f"{row[cpu]:.1f}", ratio(row, "raw"), ratio(row, "libcurl"), f"{row['seconds']:.3f}",
                 str(row["mb_per_s"] if bulk else row["rps"]), f"{row['over_start_kb'] / 1024:.1f}",
                 *([f"{row['kb_each']:.2f}"] if held else [])]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([f"## {name}: {SCENARIOS[name].title}", "", *lines])

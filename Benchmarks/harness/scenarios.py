"""What is measured beside `get`: long bodies, many connections, and connections of one request.

Every run has a server of its own (Peers/server.c, nginx for TLS), so that no client meets the closed connections of
another.
"""
import contextlib
import dataclasses
import functools
import hashlib
import json
import os
import pathlib
import resource
import statistics
import sys
import tempfile

import clients
import measure

GIB = 1 << 30
ALL = ("raw", "libcurl", "go", "dunlin", "dunlin-fast")
WITH_SWIFT_PEERS = ("raw", "libcurl", "go", "urlsession", "asynchttpclient", "dunlin", "dunlin-fast")
TLS_PEERS = ("raw-tls", "libcurl", "go", "dunlin", "dunlin-fast")
TLS_PEERS_AND_SWIFT = ("raw-tls", "libcurl", "go", "urlsession", "asynchttpclient", "dunlin", "dunlin-fast")
FILE_PEERS = ("libcurl", "go", "urlsession", "dunlin", "dunlin-fast")
# What a client is told beside what its scenario says.
RECORDED = {"dunlin-record": ("--record", "1"), "dunlin-digest": ("--record", "1", "--digest", "{digest}"),
            "dunlin-segments": ("--record", "1", "--segments", "4")}
# What a client is told of a proxy: its URL.
PROXIED = {"dunlin-http-proxy": "http://127.0.0.1:{port}", "dunlin-socks5": "socks5://127.0.0.1:{port}"}
CACHED = {f"dunlin-{each}": each for each in ("anew", "memory-hit", "disk-hit", "memory-store", "disk-store")}
STREAMED = {f"{client}-{job}": ("--job", job) for client in ("dunlin", "dunlin-fast") for job in ("lines", "deltas")}
REAL_PEERS = ("libcurl", "go", "dunlin", "dunlin-fast")
REAL = {f"{client}-real": measure.REAL for client in REAL_PEERS}
VARIANTS = RECORDED | {client: ("--cache", each) for client, each in CACHED.items()} | STREAMED | REAL
SOCKET_PEERS = ("go-socket", "python-socket", "dunlin", "dunlin-fast")
PROXY_PEERS = ("dunlin", *PROXIED)
# URLSession takes no authority of one's own on Linux.
SYSTEM_TRUST = ("urlsession",)
# Has no decoder: all of its work is around one.
UNDECODING = ("libcurl",)
SPARE_DESCRIPTORS = 100
# A client that is this much slower gets as many requests fewer.
SLOW = {"urlsession": 10}


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
    has_tls: bool = False
    # Measured with each of these numbers of requests in flight.
    concurrencies: tuple = ()
    # What its connections hold when nothing happens is what counts.
    is_idle: bool = False
    # Bytes of the body, unless one is asked for.
    size: int = GIB
    # Some clients go through a proxy, and are compared with those that do not.
    has_proxy: bool = False
    # The same with a cache.
    has_cache: bool = False
    # Some clients have what most sessions have, and are compared with themselves and with each other.
    has_real: bool = False
    # Its response is so many records in JSON, and how much of the work is the decoder's is measured too.
    records: int = 0
    # Its response is so many server-sent events, for each of which the figures are.
    events: int = 0
    # It is about WebSockets.
    has_sockets: bool = False

    @property
    def each(self):
        """The scenario at every concurrency."""
        return [dataclasses.replace(self, concurrency=count, warmup=max(self.warmup, 2 * count), concurrencies=())
                for count in self.concurrencies] or [self]

    @property
    def is_compared(self):
        """With the same client, and what it is spared."""
        return self.has_proxy or self.has_cache or self.has_real

    @property
    def given(self):
        """What the server is given to serve; empty for nothing."""
        return records(self.records) if self.records else events(self.events) if self.events else b""

    @property
    def connections(self):
        """How many are idle: a socket is kept, and a pooled connection used again."""
        return self.requests if self.has_sockets and self.is_idle else self.concurrency

    @property
    def bases(self):
        """The clients with which others are compared; empty for a client itself without `-real`."""
        if self.has_real:
            return {"": "× plain", "libcurl": "× libcurl", "go": "× Go"}
        if self.is_compared:
            return {"dunlin": "× direct"}
        if self.events:
            return {"dunlin-lines": "× lines"}
        return {"go": "× Go"} if self.has_sockets else {"raw": "× raw", "libcurl": "× libcurl"}

    def requests_for(self, client):
        return self.requests if self.is_held or self.is_bulk or self.is_idle else self.requests // SLOW.get(client, 1)

    @property
    def timing(self):
        """The same with a decoder whose time is taken, in place: alone, its caches would be warmer."""
        return dataclasses.replace(self, title=f"{self.title}, timed", options=("--job", "timed"))

    @property
    def is_held(self):
        """Every request has a connection of its own, all at the same time."""
        return not self.is_bulk and not self.events and self.requests == self.concurrency

    @property
    def needs_file(self):
        return "--file" in self.options

    def arguments(self, client, size, file):
        return ["--path", self.path.format(size=size), "--requests", str(self.requests_for(client)),
                "--concurrency", str(self.concurrency), "--warmup", str(self.warmup),
                *(option.format(size=size, file=file) for option in self.options),
                *(("--records", str(self.records), "--length", str(len(self.given))) if self.records else ()),
                *(("--length", str(self.events)) if self.events else ()),
                *(digest_of_zeros(size) if option == "{digest}" else option for option in VARIANTS.get(client, ()))]


@functools.cache
def records(count):
    """So many records in JSON, as a server would send them."""
    return json.dumps([
        {"id": at, "name": f"Ada Lovelace {at}", "email": f"ada{at}@example.com", "score": at * 1.5 + 0.25,
         "isActive": at % 2 == 0, "tags": ["reader", "Zürich", f"group-{at % 7}"],
         "address": {"street": f"Rämistrasse {at}", "city": "Zürich", "zip": 8000 + at % 100}}
        for at in range(count)], ensure_ascii=False, separators=(",", ":")).encode()


@functools.cache
def events(count):
    """So many server-sent events, each with 40 bytes of JSON as its data, and the sentinel."""
    return b"".join(b'data: {"id":%07d,"text":"of course a word"}\n\n' % (10**6 + at) for at in range(count)) \
        + b"data: [DONE]\n\n"


@functools.cache
def digest_of_zeros(size):
    """What the server's bodies come to."""
    digest, block = hashlib.sha256(), bytes(1 << 20)
    for start in range(0, size, len(block)):
        digest.update(block[:size - start])
    return digest.hexdigest()


SCENARIOS = {
    "download": Scenario("one body received", "/bytes/{size}", options=("--length", "{size}"),
                         clients=WITH_SWIFT_PEERS, is_bulk=True),
    "progress": Scenario("one body received, with somebody who looks at its progress", "/bytes/{size}",
                         options=("--length", "{size}", "--progress", "1"),
                         clients=("libcurl", "dunlin", "dunlin-fast"), is_bulk=True),
    "upload": Scenario("one body sent", "/sink", options=("--upload", "{size}"), clients=WITH_SWIFT_PEERS,
                       is_bulk=True),
    "download-file": Scenario("one body received into a file", "/file/{size}",
                              options=("--length", "{size}", "--output", "{file}.part"),
                              clients=(*FILE_PEERS, *RECORDED), is_bulk=True),
    "upload-file": Scenario("one body sent from a file", "/sink", options=("--upload", "{size}", "--file", "{file}"),
                            clients=FILE_PEERS, is_bulk=True),
    "json": Scenario("2 KB of JSON received and decoded", "/given", requests=10_000, warmup=1_000, concurrency=16,
                     options=("--job", "json"), clients=FILE_PEERS, records=11),
    "json-large": Scenario("1 MB of JSON received and decoded", "/given", requests=60, warmup=10, concurrency=1,
                           options=("--job", "json"), clients=FILE_PEERS, records=5_300),
    "form": Scenario("a form of 10 pairs encoded and posted", "/form", requests=20_000, warmup=2_000, concurrency=16,
                     options=("--job", "form"), clients=FILE_PEERS),
    "multipart": Scenario("two fields and a file posted as parts", "/parts", requests=16, warmup=2,
                          options=("--job", "multipart", "--file", "{file}"), clients=FILE_PEERS, is_bulk=True,
                          size=64 << 20),
    "many": Scenario("1 KiB keep-alive GETs, 4,000 at once", "/bytes/1024", requests=80_000, concurrency=4_000,
                     warmup=8_000),
    "connect": Scenario("10,000 connections opened and held by one session", "/hold/10000", requests=10_000,
                        concurrency=10_000),
    "fresh": Scenario("1 KiB GETs, a new connection for each", "/bytes/1024", requests=8_000, concurrency=16,
                      warmup=1_000, options=("--fresh", "1")),
    "idle": Scenario("1,000 idle connections", "/bytes/1024", requests=2_000, concurrency=1_000, is_idle=True),
    "tls": Scenario("1 KiB keep-alive GETs over TLS 1.3", "/1k", requests=20_000, warmup=2_000,
                    clients=TLS_PEERS_AND_SWIFT, has_tls=True, concurrencies=(1, 16, 128)),
    "tls-fresh": Scenario("1 KiB GETs, a new connection and a full handshake for each", "/1k", requests=2_000,
                          concurrency=16, warmup=200, options=("--fresh", "1"), clients=TLS_PEERS_AND_SWIFT,
                          has_tls=True),
    "tls-resumed": Scenario("1 KiB GETs, a new connection and a resumed session for each", "/1k", requests=4_000,
                            concurrency=16, warmup=400, options=("--fresh", "1", "--resumed", "1"), clients=TLS_PEERS,
                            has_tls=True),
    "tls-download": Scenario("one body received over TLS 1.3", "/bytes/{size}", options=("--length", "{size}"),
                             clients=TLS_PEERS_AND_SWIFT, is_bulk=True, has_tls=True),
    "proxy": Scenario("1 KiB keep-alive GETs as to a proxy that reads and forwards them, or straight", "/1k",
                      requests=20_000, warmup=2_000, clients=PROXY_PEERS[:2], has_proxy=True, concurrencies=(1, 16)),
    "proxy-tls": Scenario("1 KiB keep-alive GETs over TLS 1.3 in a tunnel, or straight", "/1k", requests=20_000,
                          warmup=2_000, clients=PROXY_PEERS, has_proxy=True, has_tls=True, concurrencies=(1, 16)),
    "cache": Scenario("1 KiB keep-alive GETs that a cache answers or stores, or straight", "/1k", requests=20_000,
                      warmup=2_000, clients=("dunlin", *CACHED), has_cache=True, concurrencies=(1, 16)),
    "real": Scenario("1 KiB keep-alive GETs of a session with retries, cookies, redirects and a token, or without",
                     "/1k", requests=20_000, warmup=2_000, clients=(*REAL_PEERS, *REAL), has_real=True,
                     concurrencies=(1, 16, 128)),
    "tls-idle": Scenario("1,000 idle connections over TLS 1.3", "/1k", requests=2_000, concurrency=1_000,
                         clients=TLS_PEERS, has_tls=True, is_idle=True),
    "events": Scenario("a million server-sent events of 40 bytes each", "/events", options=("--job", "events"),
                       clients=("dunlin", "dunlin-fast", *STREAMED), events=1_000_000),
    "websocket": Scenario("1 KiB echoed over WebSockets", "/", requests=20_000, warmup=2_000,
                          options=("--job", "echo"), clients=SOCKET_PEERS, has_sockets=True, concurrencies=(1, 64)),
    "websocket-idle": Scenario("10,000 idle WebSockets", "/", requests=10_000, concurrency=64,
                               options=("--job", "open"), clients=SOCKET_PEERS, has_sockets=True, is_idle=True,
                               rounds=3),
    "websocket-tls-idle": Scenario("1,000 idle WebSockets over TLS 1.3", "/", requests=1_000, concurrency=64,
                                   options=("--job", "open"), clients=SOCKET_PEERS, has_sockets=True, has_tls=True,
                                   is_idle=True),
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


def processor(reports):
    """Microseconds per request."""
    return statistics.median(report["user_us"] + report["sys_us"] for report in reports)


def row(name, scenario, client, size, reports, timed):
    def median(value):
        return statistics.median(value(report) for report in reports)
    cpu = processor(reports)
    seconds = median(lambda report: report["seconds"])
    over_start = round(median(lambda report: report["rss_kb"] - report["start_kb"]))
    result = {"client": client.removesuffix("-tls").removesuffix("-socket"), "scenario": name, "concurrency": scenario.concurrency,
              "seconds": round(seconds, 4), "over_start_kb": over_start}
    if scenario.is_bulk:
        return result | {"bytes": size, "mb_per_s": round(size * scenario.requests / 1e6 / seconds),
                         "cpu_ms_per_gib": round(cpu / 1000 * GIB / size, 1)}
    requests = scenario.requests_for(client) * max(scenario.events, 1)
    result |= {"requests": requests, "cpu_us": round(cpu / max(scenario.events, 1), 3), "rps": round(requests / seconds)}
    if scenario.records:
        decoder = statistics.median(report["decoder_us"] for report in timed) if timed else 0
        around = processor(timed) - decoder if timed else cpu
        return result | {"decoder_us": round(decoder, 2), "around_us": round(around, 2)}
    if scenario.is_idle:
        idle = median(lambda report: report["end_kb"] - report["start_kb"])
        heap = median(lambda report: report["heap_grown"]) / 1024
        return result | {"kb_each": round(idle / scenario.connections, 2),
                         "heap_kb_each": round(heap / scenario.connections, 2)}
    return result | ({"kb_each": round(over_start / scenario.requests, 2)} if scenario.is_held else {})


def starting(scenario, server, size, file):
    """The server that the scenario is about."""
    if scenario.has_sockets:
        return measure.socket_server(clients.socket_server(), scenario.has_tls)
    if scenario.has_tls:
        return measure.tls_server(size)
    return measure.server() if scenario.is_compared else measure.bare_server(server, scenario.given and file)


def run(scenario, client, path, server, size, file):
    """One client's report."""
    try:
        with contextlib.ExitStack() as stack:
            running = stack.enter_context(starting(scenario, server, size, file))
            arguments = scenario.arguments(client, size, file)
            if client in PROXIED:
                # The server reads the absolute form by itself: so nothing but the client differs from the direct way.
                port = stack.enter_context(
                    measure.peer([str(clients.proxy_peer())])) if scenario.has_tls else running.port
                arguments += ["--proxy", PROXIED[client].format(port=port)]
            return measure.report(path, running, arguments, scenario.requests_for(client),
                                  system_trusts=client in SYSTEM_TRUST)
    finally:
        # What a download has left. To let go of a file's memory costs as much as to fill it, and is nobody's merit.
        pathlib.Path(f"{file}.part").unlink(missing_ok=True)


def rows(name, paths, server, problems):
    """Measures one scenario at each of its concurrencies."""
    return [row for scenario in SCENARIOS[name].each for row in case(name, scenario, paths, server, problems)]


def case(name, scenario, paths, server, problems):
    """Measures one scenario at one concurrency."""
    size = int(os.environ.get("SIZE") or scenario.size)
    refusal = raise_descriptor_limit(max(scenario.concurrency, scenario.connections) + SPARE_DESCRIPTORS)
    if refusal:
        problems.append(f"skipped, {name}: {refusal}")
        return []
    names = [client for client in scenario.clients if client in paths]
    with tempfile.NamedTemporaryFile(prefix="dunlin-body-") as file:
        if scenario.needs_file:
            file.truncate(size)  # a file with nothing but a hole: read like any other, and fills no disk
        if scenario.given:
            file.write(scenario.given)
            file.flush()
        reports = measured(scenario, names, paths, server, size, file.name, problems)
        timed = {}
        if scenario.records:
            decoders = [client for client in names if client not in UNDECODING]
            timed = measured(scenario.timing, decoders, paths, server, size, file.name, problems)
    return [row(name, scenario, client, size, reports[client], timed.get(client))
            for client in names if client in reports]


def measured(scenario, names, paths, server, size, file, problems):
    """The reports of each client, of rounds that are interleaved and each start with another client."""
    reports = {}
    for turn in range(scenario.rounds):
        for client in names[turn % len(names):] + names[:turn % len(names)]:
            try:
                report = run(scenario, client, paths[client], server, size, file)
            except measure.RunFailed as reason:
                problems.append(f"{client}, {scenario.title}, round {turn + 1}: {reason}")
                continue
            reports.setdefault(client, []).append(report)
        print(f"{scenario.title}: round {turn + 1} of {scenario.rounds} done", file=sys.stderr)
    return reports


def needed_clients(names):
    wanted = {client for name in names for client in SCENARIOS[name].clients}
    known = clients.BUILDERS | clients.TLS_BUILDERS | clients.SOCKET_BUILDERS | clients.VARIANT_BUILDERS
    return {client: builder for client, builder in known.items() if client in wanted}


def table(name, rows):
    """One scenario's rows as Markdown, with the ratios of CPU that can be compared between machines."""
    scenario = SCENARIOS[name]
    bulk, held, many = scenario.is_bulk, scenario.is_held or scenario.is_idle, bool(scenario.concurrencies)
    cpu = "cpu_ms_per_gib" if bulk else "cpu_us"

    def ratio(row, base):
        # A client with what most sessions have is compared with one that has the same.
        client, real, _ = row["client"].partition("-real")
        wanted = (base + real if base else client, row["concurrency"])
        other = next((each[cpu] for each in rows if (each["client"], each["concurrency"]) == wanted), 0)
        return f"{row[cpu] / other:.2f}" if other else ""

    bases, digits = scenario.bases, 3 if scenario.events else 1
    heads = [*(["C"] if many else []), "client", "CPU ms per GiB" if bulk else "CPU µs", *bases.values(),
             "seconds", "MB/s" if bulk else "events/s" if scenario.events else "requests/s", "RSS over start MB", *(["KB each"] if held else []),
             *(["heap KB each"] if scenario.is_idle else []),
             *(["decoder", "around it"] if scenario.records else [])]
    aligned = ["---" if head == "client" else "--:" for head in heads]
    lines = ["| " + " | ".join(heads) + " |", "|" + "|".join(aligned) + "|"]
    for row in rows:
        cells = [*([str(row["concurrency"])] if many else []), row["client"], f"{row[cpu]:.{digits}f}",
                 *(ratio(row, base) for base in bases), f"{row['seconds']:.3f}",
                 str(row["mb_per_s"] if bulk else row["rps"]), f"{row['over_start_kb'] / 1024:.1f}",
                 *([f"{row['kb_each']:.2f}"] if held else []),
                 *([f"{row['heap_kb_each']:.2f}"] if scenario.is_idle else []),
                 *([f"{row['decoder_us']:.1f}", f"{row['around_us']:.1f}"] if scenario.records else [])]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([f"## {name}: {SCENARIOS[name].title}", "", *lines])

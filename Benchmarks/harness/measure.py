"""Running one client against one server: for its times, or for what it does per request.

Counts are differences. A run of 2N requests does N requests more than a run of N and nothing else, so start-up,
connecting, warm-up and the probe itself cancel out, and no client has to cooperate.
"""
import contextlib
import dataclasses
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent.parent


class RunFailed(Exception):
    pass


@dataclasses.dataclass(frozen=True)
class Server:
    port: int
    # The file of the authority that vouches for it; None in clear text.
    authority: str = None

    @property
    def address(self):
        return ["--host", "127.0.0.1", "--port", str(self.port), *(["--ca", self.authority] if self.authority else [])]


def cores():
    """One core for the server and one for the client; (None, None) where there is only one to share."""
    allowed = sorted(os.sched_getaffinity(0))
    return (allowed[0], allowed[1]) if len(allowed) > 1 else (None, None)


@contextlib.contextmanager
def nginx(*options):
    """What a running nginx said of itself: its port, its process, and with TLS its authority's file."""
    core, _ = cores()
    script = str(FOLDER / "nginx")
    pinned = [] if core is None else ["--core", str(core)]
    started = subprocess.run([script, "start", *pinned, *options], stdout=subprocess.PIPE, text=True, timeout=30,
                             check=True)
    words = started.stdout.split()
    try:
        yield words
    finally:
        subprocess.run([script, "stop", words[1]], timeout=30, check=True)


@contextlib.contextmanager
def server():
    """A running nginx."""
    with nginx() as (port, _):
        yield Server(int(port))


@contextlib.contextmanager
def tls_server(size):
    """A running nginx with TLS. `/bytes/SIZE` is there."""
    with nginx("--tls", "--bytes", str(size)) as (port, _, authority):
        yield Server(int(port), authority)


@contextlib.contextmanager
def bare_server(program, given=None):
    """A running Peers/server.c. Serves the given file too, if there is one."""
    with peer([str(program), *([given] if given else [])]) as port:
        yield Server(port)


@contextlib.contextmanager
def socket_server(program, has_tls):
    """A running Peers/websocket.go."""
    with tempfile.NamedTemporaryFile(prefix="dunlin-authority-") as authority:
        options = ["--ca", authority.name] if has_tls else []
        with peer([str(program), "--serve", *options]) as port:
            yield Server(port, authority.name if has_tls else None)


@contextlib.contextmanager
def peer(command):
    """The port that a program prints, on the server's core, which ends with its standard input."""
    core, _ = cores()
    pinned = command if core is None else ["taskset", "-c", str(core), *command]
    child = subprocess.Popen(pinned, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield int(child.stdout.readline())
    finally:
        child.stdin.close()
        child.stdout.close()
        child.wait(timeout=30)


def execute(command, timeout, environment=None):
    """What the command printed; its whole process group is gone when this returns or throws."""
    _, core = cores()
    pinned = command if core is None else ["taskset", "-c", str(core), *command]
    child = subprocess.Popen(
        pinned, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True, env={**os.environ, **(environment or {})})
    try:
        output, errors = child.communicate(timeout=timeout)
    except BaseException as error:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        if isinstance(error, subprocess.TimeoutExpired):
            raise RunFailed(f"no answer within {timeout} s") from error
        raise
    if child.returncode != 0:
        raise RunFailed(f"exit {child.returncode}: {errors.strip()[-500:]}")
    return output, errors


def load(concurrency, requests, warmup):
    return ["--path", "/1k", "--concurrency", str(concurrency), "--requests", str(requests), "--warmup", str(warmup)]


def arguments(path, server, concurrency, requests, warmup):
    return [str(path), *server.address, *load(concurrency, requests, warmup)]


# A session with retries, cookies and a token. The server refuses a request without them.
REAL = ("--real", "1", "--path", "/real")
# The same, with breakers, limits and the limit of an attempt, none of which ever binds.
RESILIENT = (*REAL, "--resilient", "1")
# A client that trusts the system's authorities and nobody else, for which they are exchanged in a world of its own.
TRUSTED = "/etc/ssl/certs/ca-certificates.crt"
EXCHANGE = ["unshare", "--map-root-user", "--mount", "sh", "-c", f'mount --bind "$0" {TRUSTED} && exec "$@"']


def report(path, server, options, requests, timeout=300, system_trusts=False):
    """The client's own report of one run with these options."""
    prefix = [*EXCHANGE, server.authority] if system_trusts and server.authority else []
    output, _ = execute([*prefix, str(path), *server.address, *options], timeout)
    report = json.loads(output)
    if report["requests"] != requests:
        raise RunFailed(f"{report['requests']} requests instead of {requests}")
    return report


def times(path, server, concurrency, requests, timeout=120):
    """The client's own report of one run."""
    warmup = max(2 * concurrency, requests // 10)
    return report(path, server, load(concurrency, requests, warmup), requests, timeout)


def per_request(count, concurrency, requests):
    """`count(requests, warmup)` per request, by difference. Shares stay whole so that every caller does the same."""
    requests = max(requests // concurrency, 1) * concurrency
    warmup = max(200 // concurrency, 10) * concurrency
    return (count(2 * requests, warmup) - count(requests, warmup)) / requests


def mallocs(path, server, concurrency, probe, requests=2000):
    def count(requests, warmup):
        with tempfile.TemporaryDirectory(prefix="dunlin-count-") as folder:
            file = pathlib.Path(folder, "count")
            execute(arguments(path, server, concurrency, requests, warmup), 60,
                    {"LD_PRELOAD": str(probe), "MALLOC_COUNT_FILE": str(file)})
            return int(file.read_text())
    return per_request(count, concurrency, requests)


def syscalls(path, server, concurrency, requests=1000):
    """Under strace. It slows the client, so the server is always done with a whole batch: fewer waits per request than
    at full speed, and the same number every time."""
    def count(requests, warmup):
        with tempfile.TemporaryDirectory(prefix="dunlin-count-") as folder:
            file = pathlib.Path(folder, "count")
            execute(["strace", "-f", "-c", "-o", str(file),
                     *arguments(path, server, concurrency, requests, warmup)], 120)
            total = next(line.split() for line in file.read_text().splitlines() if line.endswith(" total"))
            return int(total[3])
    return per_request(count, concurrency, requests)


def instructions(path, server, concurrency, requests=500, options=()):
    """User instructions, the same on every machine; of a statically linked client."""
    def count(requests, warmup):
        _, errors = execute(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                             *arguments(path, server, concurrency, requests, warmup), *options], 300)
        return int(re.search(r"Collected : (\d+)", errors).group(1))
    return per_request(count, concurrency, requests)


# Valgrind makes a client about as much slower as this.
WATCHED = ["--watch", "activity", "--slowness", "50"]


def more_instructions_resilient(path, server):
    """How many more there are in a session that has retries, cookies and a token if it has breakers and limits, too."""
    return (instructions(path, server, 1, 1000, RESILIENT) - instructions(path, server, 1, 1000, REAL))


def more_instructions_watched(path, server, concurrency):
    """How many more there are while an activity monitor follows the session. By function they are 600: 500 of them are
    retains of an object that has a weak reference then. By difference of runs 500 to 620, since a run without a monitor
    may have a hundred more or fewer."""
    return instructions(path, server, concurrency, 1000, WATCHED) - instructions(path, server, concurrency, 1000)


# libdispatch's manager looks after the runtime's threads once a second in every program. Whatever is to run when a
# timer of a program's own fires runs on another thread.
DISPATCH_MANAGER = "overcommit"


def idle_syscalls(path, server):
    """How many there are in three seconds in which nothing happens, while the network and the session's activity are
    watched. Threads that found work before have gone to sleep, or have left, by then."""
    with tempfile.TemporaryDirectory(prefix="dunlin-count-") as folder:
        file = pathlib.Path(folder, "calls")
        execute(["strace", "-f", "-ttt", "-o", str(file), *arguments(path, server, 4, 400, 40),
                 "--watch", "all", "--rest", "12"], 60)
        calls = [line.split(maxsplit=2) for line in file.read_text().splitlines()]
    begin, end = float(calls[0][1]), float(calls[-1][1])
    if end - begin < 12:
        raise RunFailed("it did not rest")
    managers = {thread for thread, _, call in calls if "PR_SET_NAME" in call and DISPATCH_MANAGER in call}
    return sum(end - 3.5 < float(time) < end - 0.5 and thread not in managers for thread, time, _ in calls)


def idle_heap(path, server, connections=200):
    """KB of live heap for each connection that is idle after one response."""
    grown = report(path, server, load(connections, connections, 0), connections, 60)["heap_grown"]
    return grown / 1024 / connections


def exit_on_signals():
    """A terminated run unwinds like any other, so the server is stopped and folders are removed."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda received, _: sys.exit(128 + received))

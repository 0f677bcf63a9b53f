"""The programs that are compared, and how each is built."""
import functools
import os
import pathlib
import shutil
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent.parent
BUILT = FOLDER / ".build" / "peers"
C_FLAGS = ["-std=gnu17", "-O2", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE"]
BUILD_TIMEOUT = 1500


class BuildFailed(Exception):
    pass


class Absent(Exception):
    """Not to be had here, which is nobody's mistake."""


def compiler():
    found = shutil.which("clang") or shutil.which("cc")
    if not found:
        raise BuildFailed("no C compiler")
    return found


def build(command, environment=None):
    try:
        result = subprocess.run(
            command, cwd=FOLDER, env={**os.environ, **(environment or {})}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=BUILD_TIMEOUT)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BuildFailed(str(error)) from error
    if result.returncode != 0:
        raise BuildFailed("\n".join(result.stdout.splitlines()[-40:]))


def c(source, name, *options):
    BUILT.mkdir(parents=True, exist_ok=True)
    build([compiler(), *C_FLAGS, "-o", str(BUILT / name), source, *options])
    return BUILT / name


def go(source, name):
    """Its packages are Debian's."""
    BUILT.mkdir(parents=True, exist_ok=True)
    cache = str(FOLDER / ".build" / "go-cache")
    build(["go", "build", "-o", str(BUILT / name), source, "Peers/report.go"],
          {"GO111MODULE": "off", "GOPATH": "/usr/share/gocode", "GOCACHE": cache})
    return BUILT / name


def python(source, package):
    """With the newest version of a package: Debian's websockets has no C code."""
    packages = BUILT / "python"
    if not (packages / package).exists():
        build([sys.executable, "-m", "pip", "install", "--quiet", "--target", str(packages), package])
    return FOLDER / source


def swift(product):
    """Built as `swift build -c release` builds it for anyone: no unsafe flags, the standard library shared."""
    return released(product, ".build")


def swift_static(product):
    """With the standard library linked in: valgrind crashes on the shared one, and a program is weighed with it."""
    return released(product, ".build/static", "--static-swift-stdlib")


def installed(product):
    """As `make install` builds the commands: without names for others to find, which no program looks for."""
    return released(product, ".build/static", "--static-swift-stdlib", "-Xlinker", "--no-export-dynamic")


def released(product, scratch, *options):
    """It shows by the way that product Dunlin is built, and gets a response, where no library for pictures is installed:
    headers of those libraries are found that cannot be compiled."""
    built = FOLDER / scratch / "release" / product
    touch_stale(built)
    # Without the option SwiftPM does not see that files of Dunlin, a package beside this one, have come or gone.
    build(["swift", "build", "-c", "release", "--scratch-path", scratch, "--disable-build-manifest-caching", *options,
           "-Xcc", f"-I{FOLDER / 'Absent'}", "--product", product])
    return built


def touch_stale(built):
    """SwiftPM compiles a program again when the module that it imports has changed, and not when the size of a type has
    changed in one below that. Dunlin is in several modules, so whatever was built before its newest source counts as
    changed."""
    if not built.exists():
        return
    newest = max(file.stat().st_mtime for file in (FOLDER.parent / "Sources").rglob("*.swift"))
    if newest > built.stat().st_mtime:
        for file in (FOLDER / "Sources").rglob("*.swift"):
            file.touch()


def given(variable, source):
    """A program that whoever measures has, since it needs outside packages: its path is in the environment."""
    path = os.environ.get(variable, "")
    if not path:
        raise Absent(f"{variable} names no program made from {source}")
    if not os.access(path, os.X_OK) or os.path.isdir(path):
        raise BuildFailed(f"{variable}={path}: no program")
    return pathlib.Path(path).resolve()


def malloc_probe():
    return c("Probes/mallocs.c", "mallocs.so", "-shared", "-fPIC")


def bare_server():
    """The server of every scenario but `get`."""
    return c("Peers/server.c", "server")


@functools.cache
def proxy_peer():
    """The proxy of the scenarios that have one."""
    return swift("ProxyPeer")


BUILDERS = {
    "raw": lambda: c("Peers/raw.c", "raw"),
    "libcurl": lambda: c("Peers/libcurl.c", "libcurl", "-lcurl"),
    "go": lambda: go("Peers/http.go", "go"),
    "urlsession": lambda: swift("URLSessionClient"),
    "asynchttpclient": lambda: given("ASYNCHTTPCLIENT", "Peers/AsyncHTTPClient.swift"),
    "dunlin": lambda: swift("DunlinClient"),
    "dunlin-fast": lambda: swift("DunlinFastClient"),
    "dunlin-trip": lambda: swift("DunlinTripClient"),
}

@functools.cache
def socket_server():
    """The server of the scenarios with WebSockets, which is the Go client too."""
    return go("Peers/websocket.go", "websocket")


# The others speak both.
TLS_BUILDERS = {
    "raw-tls": lambda: c("Peers/raw_tls.c", "raw-tls", "-lssl", "-lcrypto"),
}

SOCKET_BUILDERS = {
    "go-socket": socket_server,
    "python-socket": lambda: python("Peers/websocket.py", "websockets"),
}

# The same program, told to do more.
VARIANT_BUILDERS = {
    "dunlin-record": lambda: swift("DunlinClient"),
    "dunlin-digest": lambda: swift("DunlinClient"),
    "dunlin-segments": lambda: swift("DunlinClient"),
    "dunlin-http-proxy": lambda: swift("DunlinClient"),
    "dunlin-socks5": lambda: swift("DunlinClient"),
    "dunlin-anew": lambda: swift("DunlinClient"),
    "dunlin-memory-hit": lambda: swift("DunlinClient"),
    "dunlin-disk-hit": lambda: swift("DunlinClient"),
    "dunlin-memory-store": lambda: swift("DunlinClient"),
    "dunlin-disk-store": lambda: swift("DunlinClient"),
    "dunlin-lines": lambda: swift("DunlinClient"),
    "dunlin-deltas": lambda: swift("DunlinClient"),
    "dunlin-fast-lines": lambda: swift("DunlinFastClient"),
    "dunlin-fast-deltas": lambda: swift("DunlinFastClient"),
}

VARIANT_BUILDERS |= {f"{client}-real": builder for client, builder in BUILDERS.items()}

STATIC_BUILDERS = {
    "dunlin": lambda: swift_static("DunlinClient"),
    "dunlin-fast": lambda: swift_static("DunlinFastClient"),
}


def build_all(builders):
    """Paths by name, and the reasons by name of those that could not be built and of those that are not here."""
    paths, failures, absent = {}, {}, {}
    for name, builder in builders.items():
        try:
            paths[name] = builder()
        except BuildFailed as reason:
            failures[name] = str(reason)
        except Absent as reason:
            absent[name] = str(reason)
    return paths, failures, absent

import DunlinTesting
import Folders
import Foundation
import Testing

/// A server by Python's websockets. The path says what it does: `/echo`, `/cut` (an echo in fragments), `/pieces`,
/// `/close`, `/silent`.
final class PythonWebSockets {
    private let daemon: Daemon

    /// nil where Debian's Python or its websockets is not installed.
    static let program: String? = {
        let files = FileManager.default
        let isThere = files.fileExists(atPath: "/usr/lib/python3/dist-packages/websockets")
        return isThere ? Daemon.program("/usr/bin/python3") : nil
    }()

    /// `deflate` has the parameters of compression that the server wants, such as `server_max_window_bits=9`; nil for
    /// what websockets does by itself.
    static func with(deflate: [String]? = nil, _ play: (String) async throws -> Void) async throws {
        try await withPort(deflate: deflate) { port in try await play("ws://127.0.0.1:\(port)") }
    }

    /// The same, for those who lead to it in another way.
    static func withPort(deflate: [String]? = nil, _ play: (UInt16) async throws -> Void) async throws {
        let server = try await PythonWebSockets(deflate)
        defer { server.daemon.end() }
        try await play(server.daemon.port)
    }

    private init(_ deflate: [String]?) async throws {
        let folder = try Folder()
        try Self.script.write(toFile: "\(folder.path)/server.py", atomically: true, encoding: .utf8)
        daemon = try await Daemon(Self.program, in: folder) {
            ["\(folder.path)/server.py", "\($0[0])"] + (deflate.map { ["deflate"] + $0 } ?? [])
        }
    }

    private static let script = """
        import asyncio, sys, websockets
        from websockets.extensions.permessage_deflate import ServerPerMessageDeflateFactory

        extensions = None
        if len(sys.argv) > 2:
            words = [word.partition("=") for word in sys.argv[3:]]
            options = {name: int(value) if value else True for name, _, value in words}
            extensions = [ServerPerMessageDeflateFactory(**options)]

        async def serve(socket):
            path = socket.path if hasattr(socket, "path") else socket.request.path
            if path == "/echo":
                async for message in socket:
                    await socket.send(message)
            elif path == "/cut":
                async for message in socket:
                    size = len(message) // 5 + 1
                    await socket.send([message[start:start + size] for start in range(0, len(message), size)])
            elif path == "/pieces":
                await socket.send(["one, ", "two, ", "three"])
            elif path == "/close":
                await socket.close(4001, "go away")
            elif path == "/silent":
                await socket.wait_closed()

        async def main():
            async with websockets.serve(
                serve, "127.0.0.1", int(sys.argv[1]), subprotocols=["b"], max_size=None, extensions=extensions):
                await asyncio.Future()

        asyncio.run(main())
        """
}

extension Trait where Self == ConditionTrait {
    /// Skipped, loudly, where there is no websockets.
    static var needsPythonWebSockets: Self {
        .enabled("python3-websockets is not installed: run .ci/install test") { PythonWebSockets.program != nil }
    }
}

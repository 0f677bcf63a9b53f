import Folders
import Foundation
import Testing

/// A server by Python's websockets. The path says what it does: `/echo`, `/pieces`, `/close`, `/silent`.
final class PythonWebSockets {
    private let daemon: Daemon

    /// nil where Debian's Python or its websockets is not installed.
    static let program: String? = {
        let files = FileManager.default
        let isThere = files.fileExists(atPath: "/usr/lib/python3/dist-packages/websockets")
        return isThere ? Daemon.program("/usr/bin/python3") : nil
    }()

    static func with(_ play: (String) async throws -> Void) async throws {
        let server = try await PythonWebSockets()
        defer { server.daemon.end() }
        try await play("ws://127.0.0.1:\(server.daemon.port)")
    }

    private init() async throws {
        let folder = try Folder()
        try Self.script.write(toFile: "\(folder.path)/server.py", atomically: true, encoding: .utf8)
        daemon = try await Daemon(Self.program, in: folder) { ["\(folder.path)/server.py", "\($0[0])"] }
    }

    private static let script = """
        import asyncio, sys, websockets

        async def serve(socket):
            path = socket.path if hasattr(socket, "path") else socket.request.path
            if path == "/echo":
                async for message in socket:
                    await socket.send(message)
            elif path == "/pieces":
                await socket.send(["one, ", "two, ", "three"])
            elif path == "/close":
                await socket.close(4001, "go away")
            elif path == "/silent":
                await socket.wait_closed()

        async def main():
            async with websockets.serve(
                serve, "127.0.0.1", int(sys.argv[1]), subprotocols=["b"], max_size=None):
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

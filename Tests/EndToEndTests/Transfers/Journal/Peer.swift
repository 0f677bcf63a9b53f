import Children
import Foundation
import Testing

/// A process of its own that works at a journal: `JournalPeer`, which is built beside the tests.
final class Peer: Sendable {
    struct End: Sendable {
        let status: Int32
        let wasKilled: Bool
        /// What it said.
        let lines: [String]
    }

    private let child: Child
    /// A file and no pipe: other children may hold on to a pipe, and whoever reads it would wait for them.
    private let output = FileManager.default.temporaryDirectory.appending(path: "dunlin-peer-\(UUID())")

    convenience init(_ folder: String) throws {
        try self.init([folder])
    }

    init(_ words: [String]) throws {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let program = URL(filePath: own).deletingLastPathComponent().appending(path: "JournalPeer")
        try Data().write(to: output)
        let sink = try FileHandle(forWritingTo: output)
        child = try Child(
            program.path, words, environment: Child.ownEnvironment, descriptors: [1: sink.fileDescriptor])
        withExtendedLifetime(sink) {}
    }

    /// As the kernel does it when memory is short: at once, and without a word.
    func kill() { child.signal(SIGKILL) }

    /// Returns when it is gone.
    func end() async throws -> End {
        let end = await child.ended()
        let text = try String(contentsOf: output, encoding: .utf8)
        try FileManager.default.removeItem(at: output)
        return End(
            status: end.status, wasKilled: end.wasKilled, lines: text.split(separator: "\n").map(String.init))
    }
}

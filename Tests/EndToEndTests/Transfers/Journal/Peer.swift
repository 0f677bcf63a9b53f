import Foundation
import Synchronization
import Testing

/// A process of its own that works at a journal: `JournalPeer`, which is built beside the tests.
final class Peer: Sendable {
    struct End: Sendable {
        let status: Int32
        let wasKilled: Bool
        /// What it said.
        let lines: [String]
    }

    private let process: Process
    /// A file and no pipe: other children may hold on to a pipe, and whoever reads it would wait for them.
    private let output = FileManager.default.temporaryDirectory.appending(path: "dunlin-peer-\(UUID())")
    private let ended: AsyncStream<Void>

    convenience init(_ folder: String) throws {
        try self.init([folder])
    }

    init(_ words: [String]) throws {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let program = URL(filePath: own).deletingLastPathComponent().appending(path: "JournalPeer")
        process = Process()
        process.executableURL = program
        process.arguments = words
        try Data().write(to: output)
        process.standardOutput = try FileHandle(forWritingTo: output)
        let (ended, end) = AsyncStream<Void>.makeStream()
        self.ended = ended
        process.terminationHandler = { _ in end.finish() }
        try process.run()
    }

    /// As the kernel does it when memory is short: at once, and without a word.
    func kill() { Foundation.kill(process.processIdentifier, SIGKILL) }

    /// Returns when it is gone.
    func end() async throws -> End {
        for await _ in ended {}
        let text = try String(contentsOf: output, encoding: .utf8)
        try FileManager.default.removeItem(at: output)
        return End(
            status: process.terminationStatus, wasKilled: process.terminationReason == .uncaughtSignal,
            lines: text.split(separator: "\n").map(String.init))
    }
}

import Children
import DunlinTypes
import Folders
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
    private let output: Folder

    convenience init(_ folder: String) throws {
        try self.init([folder])
    }

    init(_ words: [String]) throws {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let program = URL(filePath: own).deletingLastPathComponent().appending(path: "JournalPeer")
        output = try Folder()
        let sink = try FileHandle(forWritingTo: URL(filePath: try output.write("", as: "said")))
        child = try Child(
            program.path, words, environment: Child.ownEnvironment, descriptors: [1: sink.fileDescriptor])
        withExtendedLifetime(sink) {}
    }

    /// As the kernel does it when memory is short: at once, and without a word.
    func kill() { child.signal(SIGKILL) }

    /// Returns when it is gone.
    func end() async throws -> End {
        let end = await child.ended()
        let text = String(try output.contents("said"))
        return End(
            status: end.status, wasKilled: end.wasKilled, lines: text.split(separator: "\n").map(String.init))
    }
}

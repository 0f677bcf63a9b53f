import Children
import Foundation
import Testing

/// Processes that share a cache's folder and are killed at any moment; a thousand of them are `.ci/storm`'s.
@Suite(.timeLimit(.minutes(10))) struct `A cache whose processes are killed` {
    @Test func `a cache whose processes are killed never returns a wrong byte, and loses nothing that was not touched`()
        async throws
    {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let program = URL(filePath: own).deletingLastPathComponent().appending(path: "CachePeer").path
        let (text, end) = try await Child.output(of: program, ["kills", "12"])
        #expect(!end.wasKilled && end.status == 0, "\(text)")
    }
}

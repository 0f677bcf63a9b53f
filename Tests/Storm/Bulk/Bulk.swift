import Dunlin
import DunlinTesting
import Foundation
import Synchronization

/// Bodies far larger than what a process may hold of them: to a disk, from a disk, and out of pieces made on the way.
/// Each is carried by a process of its own, which looks at its memory.
struct Bulk {
    private static let longestWait = Duration.seconds(300)

    let megabytes: Int
    let isSecure: Bool
    let tally: Tally

    func run() async throws {
        let temporary = FileManager.default.temporaryDirectory
        let folder = temporary.appendingPathComponent("dunlin-bulk-\(ProcessInfo.processInfo.processIdentifier)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { remove(folder) }
        var configuration = LoopbackServer.Configuration()
        configuration.recordsRequests = false
        configuration.keptBodyLimit = 0
        let authority = isSecure ? try CertificateAuthority() : nil
        let tls = try authority.map { LoopbackServer.TLS(try $0.issue(.server("127.0.0.1"))) }
        let server = try LoopbackServer(tls: tls, configuration: configuration)
        defer { server.stop() }
        let root = folder.appendingPathComponent("root.pem")
        if let authority { try Data(authority.pem.utf8).write(to: root) }
        let length = megabytes << 20
        server.serve(.init(length: length, tag: "\"bulk\""), at: "/bulk")
        server.route(.put, "/taken", .response(body: "taken"))
        for kind in Carry.Kind.allCases {
            let words = ["carry", kind.rawValue, server.baseURL, folder.path, "\(length)"]
            try await carry(words + (isSecure ? [root.path] : []), kind)
        }
    }

    private func carry(_ words: [String], _ kind: Carry.Kind) async throws {
        let start = ContinuousClock.now
        let callTransport = try Descendant(words)
        while !callTransport.hasEnded {
            await Descendant.pause()
            // One body is all there is for the watchdog to see.
            tally.progress.add(1, ordering: .relaxed)
            if ContinuousClock.now - start > Self.longestWait { callTransport.kill() }
        }
        tally.count("\(kind)")
        tally.note("\(kind): \(megabytes) MiB in \(ContinuousClock.now - start)")
        let status = await callTransport.end()
        if status != 0 { tally.violation("\(kind) ended with \(status)") }
    }

    private func remove(_ folder: URL) {
        do { try FileManager.default.removeItem(at: folder) } catch { tally.violation("\(error)") }
    }
}

import Dunlin
import DunlinTesting
import Folders
import Foundation
import LedgerRows
import Synchronization
import Testing

/// Processes that share a journal, and die at it.
@Suite(.timeLimit(.minutes(10)))
struct `Processes at one journal` {
    /// What the server was asked for, and what it should not have been.
    private final class Record: Sendable {
        struct State: Sendable {
            var count = 0
            var uploads: Set<String> = []
            var wrong: [String] = []
        }

        let state = Mutex(State())
        let entity: ServedFile
        let folder: Folder

        init(_ entity: ServedFile, _ folder: Folder) {
            (self.entity, self.folder) = (entity, folder)
        }

        /// Counts the request and answers it.
        func reply(to request: LoopbackServer.RecordedRequest) -> LoopbackServer.Reply {
            let name = String(request.target.dropFirst())
            state.withLock { state in
                state.count += 1
                guard request.method == .post else {
                    // A file that has its name is not asked for again.
                    let isThere = FileManager.default.fileExists(atPath: "\(folder.path)/\(name)")
                    return isThere ? state.wrong.append("asked again: \(name)") : ()
                }
                if !request.isComplete || request.bodyHash != LoopbackServer.GeneratedBody.hash(length: 50_000) {
                    state.wrong.append("another body: \(name)")
                }
                state.uploads.insert(name)
            }
            return request.method == .post ? .response(body: "thanks") : entity.reply(to: request)
        }
    }

    /// Writes transfers down, as a process does that then ends: two downloads for each upload.
    private static func fill(_ folder: Folder, _ stage: Stage, _ numbers: Range<Int>) async throws -> [String] {
        let source = try folder.write(LoopbackServer.GeneratedBody.bytes(0..<50_000).array, as: "source")
        let journal = try await `A journal`.open(folder, stage)
        var ids: [String] = []
        for number in numbers {
            let transfer =
                if number.isMultiple(of: 3) {
                    try await journal.upload("up-\(number)", file: source)
                } else {
                    try await journal.download("film-\(number)", to: .file("\(folder.path)/film-\(number)"))
                }
            ids.append(transfer.id)
        }
        await journal.close()
        return ids
    }

    private static func check(_ record: Record, _ count: Int) throws {
        let state = record.state.withLock { $0 }
        #expect(state.wrong.isEmpty)
        #expect(state.uploads == Set((0..<count).filter { $0.isMultiple(of: 3) }.map { "up-\($0)" }))
        let films = (0..<count).filter { !$0.isMultiple(of: 3) }.map { "film-\($0)" }
        for film in films { #expect(try record.folder.contents(film) == record.entity.contents) }
        #expect(try record.folder.names() == (films + ["journal", "source"]).sorted())
        #expect(try `A journal`.files(record.folder).isEmpty)
    }

    @Test(.rows("AP-1")) func `processes at one journal share its transfers and do nothing twice`() async throws {
        let folder = try Folder()
        let record = Record(ServedFile(300_000), folder)
        let gate = LoopbackServer.Gate()
        try await Stage.with { (stage: Stage) async throws in
            let ids = try await Self.fill(folder, stage, 0..<24)
            // Nothing is over before everything has begun, so that both work at once.
            stage.server.respond { request in
                let reply = record.reply(to: request)
                if record.state.withLock({ $0.count }) == 24 { gate.open() }
                return reply.waiting(for: gate)
            }
            let peers = try [Peer(`A journal`.path(folder)), Peer(`A journal`.path(folder))]
            var taken: [String] = []
            for peer in peers {
                let end = try await peer.end()
                #expect(end.status == 0, "\(end.lines)")
                taken += end.lines
            }
            #expect(taken.sorted() == ids.sorted())
            #expect(stage.server.requests.count == 24)
            #expect(Set(stage.server.requests.map(\.target)).count == 24)
            try Self.check(record, 24)
        }
    }

    /// When the next processes are killed.
    private enum Moment: CaseIterable {
        /// When one asks for something.
        case asking
        /// When one has begun to write down another state of an entry.
        case writing
        /// When a file has just been given its name.
        case naming
    }

    /// Kills processes from the server's own thread, where nothing comes between the moment and the signal.
    private final class Executioner: Sendable {
        private let folder: Folder
        private let moment: Moment
        private let left: Mutex<Int>
        private let peers = Mutex<[Peer]>([])
        let isDone = LoopbackServer.Gate()

        init(_ folder: Folder, _ moment: Moment, after requests: Int) {
            (self.folder, self.moment) = (folder, moment)
            left = Mutex(requests)
        }

        func take(_ peers: [Peer]) { self.peers.withLock { $0 = peers } }

        /// A request has come.
        func look() {
            let isThis = left.withLock { left in
                left -= 1
                return left == 0
            }
            guard isThis else { return }
            let before = names
            let start = ContinuousClock.now
            while !hasCome(since: before), ContinuousClock.now - start < .milliseconds(200) {}
            for peer in peers.withLock({ $0 }) { peer.kill() }
            isDone.open()
        }

        private var names: Set<String> {
            let path = moment == .writing ? `A journal`.path(folder) : folder.path
            return Set((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [])
        }

        private func hasCome(since before: Set<String>) -> Bool {
            if peers.withLock({ $0.isEmpty }) { return false }
            switch moment {
            case .asking: return true
            case .writing: return names.contains { $0.hasSuffix(".transfer-new") }
            case .naming: return names.subtracting(before).contains { $0.hasPrefix("film-") }
            }
        }
    }

    @Test(.rows("AP-1"), arguments: [1, 2])
    func `what processes killed at any moment leave in a journal is done by others, once`(
        together: Int
    ) async throws {
        let folder = try Folder()
        let record = Record(ServedFile(300_000), folder)
        let rounds = 9
        var random = SeededGenerator(seed: UInt64(together))
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            var killed = 0
            for round in 0..<rounds {
                _ = try await Self.fill(folder, stage, 3 * round..<3 * (round + 1))
                let moment = Moment.allCases[round % Moment.allCases.count]
                let executioner = Executioner(folder, moment, after: Int.random(in: 1...3, using: &random))
                stage.server.respond { request in
                    let reply = record.reply(to: request)
                    executioner.look()
                    return reply
                }
                let peers = try (0..<together).map { _ in try Peer(`A journal`.path(folder)) }
                executioner.take(peers)
                try await executioner.isDone.opened()
                for peer in peers {
                    let end = try await peer.end()
                    if end.wasKilled { killed += 1 } else { #expect(end.status == 0, "\(end.lines)") }
                }
            }
            // Some may have been quicker than the signal.
            #expect(killed > rounds / 2)
            stage.server.respond { record.reply(to: $0) }
            let last = try await Peer(`A journal`.path(folder)).end()
            #expect(last.status == 0, "\(last.lines)")
            // Drafts of records, whose writer was killed before they had their name.
            try await HTTPSession.sweepParts(in: folder.path, olderThan: .zero)
            try Self.check(record, 3 * rounds)
        }
    }
}

import Dunlin
import DunlinTesting
import Synchronization

/// What the server sends of one file to processes that come one after the other, and how much of it again.
final class FetchCounter: Sendable, CustomStringConvertible {
    private struct State {
        var number = 0
        var entity: LoopbackServer.Entity
        /// Of the server's bytes, when the process that runs began.
        var base = 0
        /// Where the running process began, once it has asked.
        var start: Int?
        /// Up to where the file has been sent, by whoever.
        var reached = 0
        var kills = 0
        var losses = 0
        var largestLoss = 0
        var resumptions = 0
        /// How many requests of a process may bring the file.
        var segments = 1
        /// Of the server's bytes, when the file was first asked for as it is now, and how many were killed since.
        var fileBase = 0
        var fileKills = 0
        var segmentLoss = 0
        var segmentKills = 0
    }

    private let server: LoopbackServer
    private let length: Int
    private let lossLimit: Int
    private let tally: Tally
    private let state: Mutex<State>

    init(_ server: LoopbackServer, length: Int, lossLimit: Int, _ tally: Tally) {
        self.server = server
        self.length = length
        self.lossLimit = lossLimit
        self.tally = tally
        state = Mutex(State(entity: .init(length: length, tag: "\"0\"")))
        server.respond { [self] in answer($0) }
    }

    /// Where to ask for what.
    var request: [String] {
        guard case .unix(let path) = server.address else { return [] }
        return state.withLock { [path, "/\($0.number)", "\($0.segments)"] }
    }

    /// What the file is now, as a part of the generated body.
    var content: Range<Int> { state.withLock { $0.entity.offset..<($0.entity.offset + length) } }

    /// Whether so many thousandths of what the running process asked for have been sent to it.
    func isSent(_ share: Int) -> Bool {
        state.withLock { state in
            state.start.map { server.bytesSent - state.base >= (length - $0) / 1000 * share } ?? false
        }
    }

    func begin(_ number: Int, segments: Int) {
        state.withLock { state in
            state.number = number
            state.segments = segments
            (state.fileBase, state.fileKills) = (server.bytesSent, 0)
            state.entity.offset = number
            state.entity.tag = "\"\(number)\""
            state.reached = 0
        }
        open()
    }

    /// The server has something else from now on.
    func change() {
        state.withLock { state in
            state.entity = state.entity.changed
            state.reached = 0
            (state.fileBase, state.fileKills) = (server.bytesSent, 0)
        }
    }

    func killed() {
        state.withLock { state in
            state.kills += 1
            state.fileKills += 1
        }
        close()
    }

    func finished() {
        close()
        let complaint = state.withLock { state in
            state.reached = 0
            return complaintOfSegments(&state)
        }
        if let complaint { tally.violation(complaint) }
    }

    /// With several requests at once nobody can tell which bytes were sent again, but how many that were in the end.
    private func complaintOfSegments(_ state: inout State) -> String? {
        defer { (state.fileBase, state.fileKills) = (server.bytesSent, 0) }
        guard state.segments > 1 else { return nil }
        let loss = max(0, server.bytesSent - state.fileBase - length)
        state.segmentLoss += loss
        state.segmentKills += state.fileKills
        // What is on its way when one request takes over from another is lost as well, killed or not.
        let limit = (state.fileKills + 1) * state.segments * lossLimit / 2
        return loss > limit ? "\(loss) bytes are fetched again by segments, of \(state.fileKills) kills" : nil
    }

    /// The process has gone; another comes.
    private func close() {
        state.withLock { state in
            // Heads are counted with the rest: too much by less than a kilobyte.
            guard let start = state.start else { return }
            state.reached = max(state.reached, min(start + server.bytesSent - state.base, length))
        }
        open()
    }

    private func open() {
        state.withLock { state in
            state.base = server.bytesSent
            state.start = nil
        }
    }

    private func answer(_ request: LoopbackServer.RecordedRequest) -> LoopbackServer.Reply {
        let (entity, complaint) = state.withLock { state in
            let start = start(of: request, state.entity)
            if state.segments > 1 {
                if state.start == nil, start > 0 { state.resumptions += 1 }
                state.start = state.start ?? start
                return (state.entity, String?.none)
            }
            let loss = state.reached - start
            state.start = start
            if start > 0 { state.resumptions += 1 }
            if loss > 0 { state.losses += loss }
            state.largestLoss = max(state.largestLoss, loss)
            return (state.entity, loss > lossLimit ? "\(loss) bytes of \(state.reached) are fetched again" : nil)
        }
        if let complaint { tally.violation(complaint) }
        return entity.reply(to: request)
    }

    /// The first byte that the answer holds.
    private func start(of request: LoopbackServer.RecordedRequest, _ entity: LoopbackServer.Entity) -> Int {
        guard let range = request.fields["Range"], request.fields["If-Range"] == entity.tag else { return 0 }
        return Int(range.dropFirst("bytes=".count).prefix { $0 != "-" }) ?? 0
    }

    var description: String {
        state.withLock { state in
            let mean = state.losses / max(state.kills - state.segmentKills, 1)
            let meanOfSegments = state.segmentLoss / max(state.segmentKills, 1)
            return "\(state.kills) kills, \(state.resumptions) resumptions; fetched again: "
                + "\(mean >> 10) KiB a kill, at most \(state.largestLoss >> 10) KiB; "
                + "\(meanOfSegments >> 10) KiB where there were segments"
        }
    }
}

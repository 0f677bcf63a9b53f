import Dunlin
import DunlinTesting
import Synchronization

/// All that can be seen of a scenario from outside, as text that is the same each time: what went over the wire, what
/// became of each request, what hooks and listeners were told, and which phases took time.
///
/// Numbers that differ from run to run (ports, ids, durations, the names of part files) are left out or replaced.
final class Transcript: Sendable {
    private struct Lines {
        var outcomes: [String] = []
        var hooks: [Told] = []
        var connections: [UInt64] = []
        var ids: [HTTPSession.TaskID] = []
    }

    private struct Told {
        let task: Int
        let rank: Int
        let line: String
    }

    private let lines = Mutex(Lines())
    /// The number of connections that were noted.
    var connectionCount: Int { lines.withLock { $0.connections.count } }
    /// Phases that take time or none by chance in this scenario.
    private let chancy: Set<HTTP.Phase>
    private let hasAttempts: Bool
    /// For a play that waits for something that its session's configuration was given.
    let gate = LoopbackServer.Gate()
    /// What is replaced, and by what.
    private let names: [(String, String)]

    /// `names`: what differs from run to run, and what stands for it.
    init(_ names: [(String, String)], chancy: Set<HTTP.Phase>, hasAttempts: Bool = true) {
        self.names = names
        self.chancy = chancy
        self.hasAttempts = hasAttempts
    }

    func note(_ line: String) {
        lines.withLock { $0.outcomes.append(line) }
    }

    /// A hook was called, on behalf of a request if it was for one.
    func heard(_ hook: String, _ task: HTTPSession.TaskSnapshot?, _ line: String) {
        let number = task.map { self.number($0.id) } ?? .max
        let rank = hook.hasSuffix("upload progress") ? -2 : hook.hasSuffix("download progress") ? -1 : 0
        let line = task.map { "\(hook): \(line) \(text($0))" } ?? "\(hook): \(line)"
        lines.withLock { lines in
            let rankOfHook = rank < 0 ? rank : lines.hooks.count
            lines.hooks.append(Told(task: number, rank: rankOfHook, line: line))
        }
    }

    /// Notes what became of a request, or of anything else that may fail.
    func note<Value>(_ label: String, _ work: () async throws -> Value) async {
        do {
            note("\(label): \(text(try await work()))")
        } catch {
            note("\(label): failed, \(text(error))")
        }
    }

    var outcomes: [String] { lines.withLock { $0.outcomes }.map(tidied) }
    /// Request by request, each in the order in which it was told. The two directions of progress are told side by
    /// side, so they come first.
    var hooks: [String] {
        let all = lines.withLock { $0.hooks }.sorted { ($0.task, $0.rank) < ($1.task, $1.rank) }
        return all.map { tidied($0.line) }
    }

    func tidied(_ line: String) -> String {
        let line = names.reduce(line) { $0.replacing($1.0, with: $1.1) }
        guard line.contains("cnonce=") else { return line }
        return line.replacing(#/(cnonce|response)="[^"]*"/#) { "\($0.output.1)=\"...\"" }
    }

    /// A letter for each connection, in the order in which they were met.
    private func letter(_ connection: UInt64) -> String {
        if connection == 0 { return "none" }
        let index = lines.withLock { lines -> Int in
            if let known = lines.connections.firstIndex(of: connection) { return known }
            lines.connections.append(connection)
            return lines.connections.count - 1
        }
        return String(UnicodeScalar(UInt8(ascii: "A") + UInt8(index % 26)))
    }

    /// Requests are numbered as they are met.
    @discardableResult func number(_ id: HTTPSession.TaskID) -> Int {
        lines.withLock { lines in
            if let known = lines.ids.firstIndex(of: id) { return known + 1 }
            lines.ids.append(id)
            return lines.ids.count
        }
    }
}

// MARK: - Values as text

extension Transcript {
    func text<Value>(_ value: Value) -> String {
        switch value {
        case let response as HTTPSession.Response<Bytes>: text(response, value: text(response.value))
        case let response as HTTPSession.Response<String>: text(response, value: "\"\(response.value)\"")
        case let response as HTTPSession.Response<HTTPSession.DownloadedFile>:
            text(response, value: text(response.value))
        case let bytes as Bytes: "\(bytes.count) bytes"
        case let file as HTTPSession.DownloadedFile:
            "file \(file.path), \(file.byteCount) bytes, resumed at \(file.resumedAt)"
        case let outcome as TransferJournal.Outcome:
            (outcome.file.map { text($0) } ?? "no file") + (outcome.response.map { ", \(text($0))" } ?? "")
        case is Void: "done"
        default: "\(value)"
        }
    }

    private func text<Value>(_ response: HTTPSession.Response<Value>, value: String) -> String {
        var text = "\(response.status.code), \(value), from \(response.url)"
        if !response.interim.isEmpty { text += ", after \(response.interim.map(\.status.code))" }
        if !response.history.isEmpty { text += ", by way of \(response.history)" }
        if !response.trailers.isEmpty { text += ", trailers \(response.trailers.map { "\($0.name): \($0.value)" })" }
        if !response.retries.isEmpty { text += ", retries \(response.retries.map { "\($0.cause) +\($0.wait)" })" }
        return text + self.text(response.cacheUse) + self.text(response.metrics)
    }

    /// What a cache did; how long something stays fresh is the clock's to say.
    func text(_ use: HTTPSession.CacheUse?) -> String {
        guard let use else { return "" }
        let marks = (use.isRevalidated ? ", revalidated" : "") + (use.isStale ? ", stale" : "")
        return ", \(use.source)\(marks) (\(use.status.replacing(#/ttl=-?\d+/#, with: "ttl")))"
    }

    func text(_ metrics: HTTPSession.Metrics) -> String {
        metrics.hops.map { "\n    \(text($0))" }.joined()
    }

    private func text(_ hop: HTTP.Hop) -> String {
        let phases = HTTP.Phase.allCases.filter { !chancy.contains($0) && hop.duration(of: $0) != nil }
        let reuse = hop.isConnectionReused ? "again" : "new"
        return "connection \(letter(hop.connection)) \(reuse), \(phases.map(\.rawValue).joined(separator: " ")),"
            + " body \(hop.bodyBytes), decoded \(hop.decodedBytes)" + (hop.proxy.map { ", through \($0)" } ?? "")
    }

    func text(_ error: any Error) -> String {
        guard let error = error as? NetworkError else { return "\(error)" }
        var text = "\(error.code) (\(error.reason))"
        if let phase = error.phase { text += ", in \(phase.rawValue)" }
        if error.exceeded == .total { text += ", total exceeded" }
        text += error.requestMayHaveBeenSent ? ", may have been sent" : ", not sent"
        if error.isSafeToRetry { text += ", safe to retry" }
        if error.connectionWasReused { text += ", on a reused connection" }
        if let limit = error.limit { text += ", limit \(limit)" }
        if let response = error.response { text += ", response \(response.status.code)" }
        if let body = error.body { text += ", body \(body.count)" }
        if !error.retries.isEmpty { text += ", retries \(error.retries.map { "\($0.cause) +\($0.wait)" })" }
        if let refusal = error.retryRefusal { text += ", not again: \(refusal)" }
        if hasAttempts, let hop = error.hop { text += "\n    \(self.text(hop))" }
        return text
    }

    /// Who lets a request go sees it as it is a moment later.
    private func resumed(_ task: HTTPSession.TaskSnapshot) -> String {
        var task = task
        if task.state == .running(hop: 1) { task.state = .waiting }
        return text(task)
    }

    func text(_ task: HTTPSession.TaskSnapshot) -> String {
        let label = task.label.map { " \"\($0)\"" } ?? ""
        let tags = task.tags.isEmpty ? "" : " \(task.tags.sorted())"
        return "#\(number(task.id)) \(task.kind.rawValue) \(task.method) \(task.targetTemplate)\(label)\(tags)"
            + " priority \(task.priority.rawValue), \(task.state)"
    }

    func text(_ event: HTTPSession.Event) -> String {
        switch event {
        case .resumed(let task): "resumed \(resumed(task))"
        case .suspended(let task): "suspended \(text(task))"
        case .interimResponse(let task, let head): "interim \(text(task)): \(head.status)"
        case .waitingForConnectivity(let task, let error): "waiting \(text(task)): \(error.code)"
        case .retrying(let task, let hop): "retrying \(text(task)): \(hop.cause) +\(hop.wait)"
        case .reconnecting(let task, let next): "reconnecting \(text(task)): \(next)"
        case .reachability(let status): "reachability \(status)"
        case .downloadResumed(let task, let offset, let length):
            "download resumed \(text(task)): at \(offset) of \(length.map(String.init) ?? "?")"
        case .fileMoved(let task, _, let path): "file moved \(text(task)): to \(path)"
        case .fileMoveFailed(let task, let error): "file not moved \(text(task)): \(error.code)"
        case .storingEnded(let task, let isStored): "storing ended \(text(task)): \(isStored)"
        case .completed(let completion): "completed \(text(completion))"
        case .journalEmptied, .journalIssue: "journal"
        case .shutDown: "shut down"
        }
    }

    /// Request by request, each in the order in which it was told: requests that end together race.
    func texts(of events: AsyncStream<HTTPSession.Event>) async -> [String] {
        var texts: [(task: Int, rank: Int, line: String)] = []
        for await event in events {
            let line = tidied(text(event))
            let number = line.split(separator: " ").first { $0.hasPrefix("#") }.flatMap { Int($0.dropFirst()) } ?? .max
            texts.append((number, texts.count, line))
        }
        return texts.sorted { ($0.task, $0.rank) < ($1.task, $1.rank) }.map(\.line)
    }

    func text(_ completion: HTTPSession.Completion) -> String {
        var text = "\(text(completion.task)): \(completion.url)"
        if let response = completion.response { text += ", response \(response.status.code)" }
        if let body = completion.body { text += ", body \(body.count)" }
        if let file = completion.file { text += ", \(self.text(file))" }
        if let value = completion.value { text += ", value \(self.text(value))" }
        if let error = completion.error { text += ", error \((error as? NetworkError)?.code.rawValue ?? "\(error)")" }
        return text + ", attempts \(completion.metrics.hops.count)"
    }
}

// MARK: - The wire

extension Transcript {
    /// What the server saw of each request, connection by connection.
    func wire(of server: LoopbackServer) -> [String] {
        let requests = server.requests.sorted {
            ($0.connection, $0.indexOnConnection) < ($1.connection, $1.indexOnConnection)
        }
        return requests.flatMap { request -> [String] in
            let head = String(decoding: request.head.array, as: UTF8.self).split(separator: "\r\n").map(String.init)
            let body = "body \(request.bodyCount), \(request.isComplete ? "complete" : "incomplete")"
            let trailers = request.trailers.map { "trailer \($0.name): \($0.value)" }
            return ["connection \(request.connection), request \(request.indexOnConnection)"]
                + (head + [body] + trailers).map { "    \(tidied($0))" }
        }
    }

    /// What the proxy was asked, in order.
    func visits(of proxy: LoopbackProxy) -> [String] {
        proxy.visits.flatMap { visit -> [String] in
            let said = visit.said.split(separator: "\r\n").map { "    \(tidied(String($0)))" }
            return ["connection \(visit.connection), \(visit.kind) \(tidied(visit.target))"] + said
        } + ["connections: \(proxy.connectionCount)"]
    }
}

import Dunlin
import DunlinTesting
import Mocking

/// What a play has shown: lines by their kind.
typealias Record = [String: [String]]

extension Take {
    /// Plays twice, alone and watched by hooks, events and an observer, and returns what both showed.
    static func record(_ play: Recorded) async throws -> Record {
        let alone = try await perform(play, isWatched: false)
        var record = try await perform(play, isWatched: true)
        // What is sent, and what comes of it, should not depend on who looks on.
        for kind in ["asked", "requests"] where record[kind] != alone[kind] {
            record["\(kind), with nobody watching"] = alone[kind] ?? []
        }
        return record
    }

    private static func perform(_ play: Recorded, isWatched: Bool) async throws -> Record {
        let take = try Take(of: play)
        defer { take.stop() }
        var record: Record = [:]
        do {
            var configuration = take.configuration(isWatched: isWatched)
            if let proxy = take.proxy, let setting = play.proxy?.setting(of: proxy) { configuration.proxy = setting }
            play.configure(&configuration, take)
            let session = try HTTPSession(configuration)
            let events = isWatched ? session.events(bufferingNewest: 10_000) : nil
            let trace = isWatched ? session.trace() : nil
            try await RecordingHooks.$transcript.withValue(take.transcript) { try await play.play(take, session) }
            await session.shutdown()
            record["asked"] = take.transcript.outcomes
            record["requests"] = take.requests
            if let events { record["events"] = await take.transcript.texts(of: events) }
            if let trace { record["trace"] = await take.lines(of: trace) }
        }
        record["hooks"] = take.transcript.hooks
        record["steps"] = take.steps
        try await take.loop.verifyNothingLeft(within: .seconds(20))
        return record.mapValues { $0.flatMap { $0.split(separator: "\n").map(String.init) } }.filter {
            !$0.value.isEmpty
        }
    }

    /// What was sent, with every field as it was sent.
    private var requests: [String] {
        let mocked = mock.requests.map { request in
            let head = ["\(request.method) \(request.origin)\(request.target)"]
            let fields = request.fields.map { "    \($0.name): \($0.value)" }
            let end = request.isComplete ? "" : ", incomplete"
            return (head + fields + ["    body \(Self.shown(request.body))\(end)"]).joined(separator: "\n")
        }
        guard let server = loopback else { return mocked.map(transcript.tidied) }
        return transcript.wire(of: server) + (proxy.map { transcript.visits(of: $0) } ?? [])
    }

    /// A short body, or the length and a number that stands for what it is.
    private static func shown(_ body: Bytes) -> String {
        if body.count <= 200, let text = String(validating: body.array, as: UTF8.self) {
            return "\"\(text.replacing("\r\n", with: "\\r\\n").replacing("\n", with: "\\n"))\""
        }
        let digest = body.array.reduce(14_695_981_039_346_656_037 as UInt64) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
        return "\(body.count) bytes, \(String(digest, radix: 16))"
    }

    /// What an observer was told, request by request.
    private var steps: [String] {
        observer.requests.enumerated().flatMap { index, request -> [String] in
            let exchanges = request.exchanges.map { exchange in
                let begun = exchange.begun
                let elsewhere = begun.isElsewhere ? ", elsewhere" : ""
                let heads = exchange.heads.map { " answered \($0.status.code)" }.joined()
                let end = exchange.ends.map { " body \($0.body?.rawValue ?? "none")" + self.cause($0.error) }.joined()
                return "    exchange \(begun.number) of attempt \(begun.attempt): \(begun.head.method)"
                    + " \(begun.shownURL)\(elsewhere)\(heads)\(end)"
            }
            // Whoever resumes a request says so himself, while the request goes on.
            let steps = request.steps.map { "    \($0)" }.filter { $0 != "    resumed" }
            let ends = request.ends.map { "    ended: \($0.task.curl() ?? "no command")" }
            let revalidation = request.begun.isRevalidation ? ", the session's own" : ""
            return ["request \(index + 1): \(request.begun.method) \(request.begun.targetTemplate)\(revalidation)"]
                + (exchanges + steps + ends).map { transcript.tidied(Self.timeless($0)) }
        }
    }

    private func cause(_ error: (any Error)?) -> String {
        guard let error else { return "" }
        return ", failed \((error as? NetworkError)?.code.rawValue ?? "\(error)")"
    }

    private static func timeless(_ line: String) -> String {
        line.replacing(#/ttl=-?\d+/#, with: "ttl").replacing(#/admitted after .*/#, with: "admitted")
    }

    /// The kinds of what was sent and received, request by request.
    private func lines(of trace: AsyncStream<HTTPSession.TraceEvent>) async -> [String] {
        var lines: [HTTPSession.TaskID: [String]] = [:]
        for await event in trace {
            guard case .step(let step, let task) = event else { continue }
            let line: String? =
                switch step {
                case .connected(_, _, _, let isReused): isReused ? "an open connection" : "a new connection"
                case .requestHead(let head): "> \(head.method) \(head.target)"
                case .interimHead(let head), .responseHead(let head): "< \(head.status.code)"
                case .responseEnd(let count, _): "< \(count) bytes"
                case .responseLeft: "left"
                case .failed: "failed"
                case .requestSent, .sent, .received: nil
                }
            if let line { lines[task.id, default: []].append(line) }
        }
        return lines.sorted { $0.key.rawValue < $1.key.rawValue }.enumerated().map { index, lines in
            transcript.tidied("request \(index + 1): " + lines.value.joined(separator: ", "))
        }
    }
}

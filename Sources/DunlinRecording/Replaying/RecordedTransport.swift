public import Dunlin
internal import DunlinReactor
internal import DunlinTransport
internal import Synchronization

/// A transport that answers a session's requests with what was recorded, for tests.
///
/// ```swift
/// let transport = try RecordedTransport("users.har")
/// let client = try HTTPSession(.init(baseURL: "https://api.example.com", transport: transport))
/// …
/// try await transport.finish()
/// ```
///
/// Each recorded exchange answers once; a request that was not recorded fails, and the error names the nearest one and
/// what is different. Requests are compared without their secrets, so a test needs no real token. Archives of browsers
/// can be replayed, too.
public final class RecordedTransport: Transport {
    public enum Mode: String, Sendable, Hashable, CaseIterable {
        /// Sends nothing.
        case replay
        /// Sends what was not recorded, and adds it to the archive.
        case recordMissing
        /// Sends everything, and replaces the archive.
        case recordAnew
    }

    /// What must be the same in a request and in a recorded one, apart from the method, the path and the query.
    public struct Matching: Sendable, Hashable {
        /// Names of fields. A secret one is the same if both have it, or if the archive is without it.
        public var fields: [String]
        /// Scheme, host and port.
        public var origin: Bool
        /// JSON as values, forms in any order, anything else byte by byte. An archive may not have it.
        public var body: Bool
        /// Whether requests come in the order of the archive.
        public var inOrder: Bool

        public init(fields: [String] = [], origin: Bool = true, body: Bool = true, inOrder: Bool = false) {
            (self.fields, self.origin, self.body, self.inOrder) = (fields, origin, body, inOrder)
        }
    }

    private struct State {
        var machine: ReplayMachine
        var misses: [Failure.Miss] = []
    }

    /// The transport of the running test (`.recording`); nil outside one.
    @TaskLocal public static var current: RecordedTransport?

    public let path: String
    public let mode: Mode
    private let matching: Matching
    private let redaction: Redaction
    private let entries: [HAR.Entry]
    private let clock: (any Clock<Duration>)?
    private let live: LiveRecording?
    private let state: Mutex<State>

    /// Reads the archive. With a `clock`, an answer comes as long after its request as it was recorded, on that clock;
    /// otherwise at once. `secretFields` are names whose values are left out, besides the usual ones, those of the
    /// session and those that the archive names. What is recorded is sent by a session of its own, whose guard, proxy
    /// and trust `configure` can set.
    public init(
        _ path: String, _ mode: Mode = .replay, matching: Matching = Matching(),
        secretFields: HTTP.SecretFields = .usual, clock: (any Clock<Duration>)? = nil,
        recordingWith configure: (inout HTTPSession.Configuration) -> Void = { _ in }
    ) throws {
        (self.path, self.mode, self.matching, self.clock) = (path, mode, matching, clock)
        var har = HAR()
        switch mode {
        case .replay: har = try HAR(contentsOf: path)
        case .recordMissing: if try FileSystem.status(of: path) != nil { har = try HAR(contentsOf: path) }
        case .recordAnew: break
        }
        let names = (har.secretNames ?? []) + har.entries.flatMap { $0.secretNames ?? [] }
        let secret = secretFields.union(names)
        redaction = Redaction(secret: secret)
        // An entry is written when its exchange has ended.
        entries = Self.withoutResent(har.entries.sorted { $0.startedDateTime < $1.startedDateTime })
        let (redaction, matching) = (redaction, matching)
        let compared = entries.map { Self.compared($0, matching, redaction) }
        state = Mutex(State(machine: ReplayMachine(compared, inOrder: matching.inOrder)))
        live = mode == .replay ? nil : try LiveRecording(path, mode, secret, configure)
    }

    public func exchange(_ request: TransportRequest) async throws -> TransportResponse {
        try Task.checkCancellation()
        let exchange = try await CheckedExchange(request)
        let redaction = Redaction(secret: redaction.secret.union(exchange.secretFields.more))
        let body = Mutex<[UInt8]>([])
        try await exchange.sendBody { piece in body.withLock { $0 += piece } }
        let (sent, content) = (exchange.now(), Bytes(body.withLock(\.self)))
        let hop = exchange.hop(after: content.count, sentAt: sent)
        let compared = Self.compared(request, content, matching, redaction)
        switch state.withLock({ $0.machine.take(compared) }) {
        case .answer(let index):
            let answer = try RecordedAnswer(entries[index])
            return try await exchange.wait(in: .firstByte, since: sent, hop) { [clock] in
                if let clock, answer.wait > .zero { try await clock.sleep(for: answer.wait) }
                var hop = hop
                hop.ended = exchange.now()
                hop.noteReceived(at: hop.ended, sent: sent, isFirst: true)
                return try await answer.response(hop)
            }
        case .miss(let miss):
            if let live { return try await live.exchange(request, content, hiding: redaction.secret) }
            let nearest = miss.nearest.map { entries[$0].name }
            let known = Failure.Miss(
                request: "\(compared.method) \(redaction.url(request.head.origin.description + request.head.target))",
                nearest: nearest, differences: miss.differences, wasUsed: miss.wasUsed)
            state.withLock { $0.misses.append(known) }
            throw NetworkError(.notRecorded, "\(known)", isSafeToRetry: false)
        }
    }

    /// Gives up what is being recorded, for a test that has failed.
    public func giveUp() async { await live?.giveUp() }

    /// Ends the test, once. Throws if a request was not recorded, a recorded one was not asked for, or what was
    /// recorded has something in it that looks like a secret. When it records, the archive is complete afterwards.
    public func finish() async throws {
        var failure = Failure(path: path)
        state.withLock { state in
            failure.misses = state.misses
            // What a browser's cache answered, another client need not ask for.
            failure.unused = state.machine.unused.filter { entries[$0].fromCache == nil }.map { entries[$0].name }
        }
        if let live {
            try await live.finish()
            failure.secrets = try HAR(contentsOf: path).secrets
            if mode == .recordMissing { failure.unused = [] }
        } else {
            failure.secrets = HAR(entries).secrets
        }
        if !failure.isEmpty { throw failure }
    }
}

extension Transport where Self == RecordedTransport {
    /// The transport of the running test. Throws if it has no trait `.recording`.
    public static var recorded: RecordedTransport {
        get throws {
            guard let current = RecordedTransport.current else {
                throw HAR.Problem(reason: "the running code is no test with the trait `.recording`")
            }
            return current
        }
    }
}

extension RecordedTransport {
    /// Why a test with a recording fails.
    public struct Failure: Error, Sendable, Hashable, CustomStringConvertible {
        /// A request that was not recorded.
        public struct Miss: Sendable, Hashable, CustomStringConvertible {
            public var request: String
            /// The recorded request that is most like it.
            public var nearest: String?
            public var differences: [String]
            /// Whether that one has answered before.
            public var wasUsed: Bool

            public var description: String {
                guard let nearest else { return "\(request) was not recorded, and nothing else" }
                if differences.isEmpty { return "\(request) was recorded less often than it is asked for" }
                return "\(request) was not recorded; the nearest is \(nearest)"
                    + "\(wasUsed ? ", which has answered already" : ""): \(differences.joined(separator: "; "))"
            }
        }

        public var path: String
        public var misses: [Miss] = []
        /// The recorded requests that were not made.
        public var unused: [String] = []
        /// Where something looks like a secret.
        public var secrets: [String] = []

        var isEmpty: Bool { misses.isEmpty && unused.isEmpty && secrets.isEmpty }

        public var description: String {
            let lines =
                misses.map { "\($0)" } + unused.map { "\($0) was recorded, and not asked for" }
                + secrets.map { "\($0); leave it out by `secretFields`, or edit the archive" }
            return "\(path): " + lines.joined(separator: "\n")
        }
    }

    // MARK: - What is replayed

    /// The entries without those that the session that recorded them sent again by itself, as over a connection that
    /// had ended: a transport does that below whoever asks it.
    private static func withoutResent(_ entries: [HAR.Entry]) -> [HAR.Entry] {
        var latest: [Int: Int] = [:]
        var resent: Set<Int> = []
        for (index, entry) in entries.enumerated() {
            guard let request = entry.requestID, let exchange = entry.exchange else { continue }
            if let before = latest.updateValue(index, forKey: request), entries[before].response.isSafeToRetry == true,
                entries[before].exchange == exchange &- 1, entries[before].attempt == entry.attempt
            {
                resent.insert(before)
            }
        }
        return entries.enumerated().filter { !resent.contains($0.offset) }.map(\.element)
    }

    // MARK: - What is compared

    private static func compared(
        _ request: TransportRequest, _ body: Bytes, _ matching: Matching, _ redaction: Redaction
    ) -> ComparedRequest {
        let head = request.head
        let codings = [head.fields["Content-Encoding"] ?? request.body.contentEncoding].compactMap(\.self)
        let plain = codings.isEmpty ? body : BodyText.decoded(body, codings, .max)?.bytes ?? body
        let shown = Dictionary(
            redaction.fields(head.fields).map { ($0.name.lowercased(), $0.value) }
        ) { "\($0), \($1)" }
        return compared(
            "\(head.method)", redaction.url(head.origin.description + head.target), shown,
            matching.body
                ? ComparedRequest.body(plain, head.fields["Content-Type"] ?? request.body.contentType ?? "", redaction)
                : .unknown, matching)
    }

    private static func compared(_ entry: HAR.Entry, _ matching: Matching, _ redaction: Redaction) -> ComparedRequest {
        var fields = Fields()
        for field in entry.request.headers where !field.name.hasPrefix(":") {
            fields.append(name: field.name, value: field.value)
        }
        let data = entry.request.postData
        let isUnknown = !matching.body || data != nil && (data?.text == nil || data?.isCut == true)
        let shown = Dictionary(redaction.fields(fields).map { ($0.name.lowercased(), $0.value) }) { "\($0), \($1)" }
        var request = compared(
            entry.request.method, redaction.url(entry.request.url), shown,
            isUnknown ? .unknown : ComparedRequest.body(data?.bytes ?? .empty, data?.mimeType ?? "", redaction),
            matching)
        // Browsers leave out what says who asks.
        for name in matching.fields where redaction.secret.mayContain(name) && shown[name.lowercased()] == nil {
            request.fields[name.lowercased()] = nil
        }
        return request
    }

    private static func compared(
        _ method: String, _ url: String, _ fields: [String: String], _ body: ComparedRequest.Body, _ matching: Matching
    ) -> ComparedRequest {
        let parts = ComparedRequest.parts(of: url)
        let names = matching.fields.map { $0.lowercased() }
        return ComparedRequest(
            method: method, origin: matching.origin ? parts.origin : "", path: parts.path, query: parts.query,
            fields: Dictionary(uniqueKeysWithValues: Set(names).map { ($0, fields[$0]) }), body: body)
    }
}

extension NetworkError.Code {
    /// The request is not in the recording of its test.
    public static let notRecorded = Self("notRecorded")
}

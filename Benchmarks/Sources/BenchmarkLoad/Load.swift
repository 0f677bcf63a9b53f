/// What a client is told to do, and how it does it: `concurrency` child tasks, each sending its share of the requests
/// one after the other.
///
/// A load runs twice: `warmup` requests that open the connections and fill every cache, then `requests` that count.
public struct Load: Sendable {
    public var host = "127.0.0.1"
    public var port = 80
    public var path = "/1k"
    public var concurrency = 1
    public var requests = 1000
    public var warmup = 100
    /// A connection of its own for each request.
    public var isFresh = false
    /// Bytes of each response's body.
    public var length = 1024
    /// Bytes of each request's body.
    public var upload = 0
    /// Where they are read from; empty: made up.
    public var file = ""
    /// Where what is downloaded is written to; empty: counted and dropped.
    public var output = ""
    /// Whether a download is recorded, so that it could be gone on with.
    public var isRecorded = false
    /// How many exchanges may bring it.
    public var segments = 1
    /// What a download's SHA-256 must be, in hexadecimal; empty: nobody asks.
    public var digest = ""
    /// What is made of bytes, or bytes of, beside sending and receiving them.
    public var job = Job.none
    /// How many records a JSON body holds.
    public var records = 0
    /// Whom to trust, a file in PEM: what speaks TLS at all.
    public var authority: String?
    /// The proxy to go through, a URL; empty: none.
    public var proxy = ""
    /// What a cache does, if there is one.
    public var cache = Caching.none
    /// Whether the session has what most have: retries, cookies and a token.
    public var isReal = false
    /// Whether it also has breakers, limits and the limit of an attempt, none of which ever binds.
    public var isResilient = false
    /// Whether a fresh connection resumes the session of one before.
    public var isResumed = false
    /// What is observed beside the requests: `reachability`, `activity` or `all` of it.
    public var watched = ""
    /// How many times as long everything takes as it should, such as under valgrind: who looks now and then looks as
    /// much more seldom.
    public var slowness = 1
    /// Seconds to do nothing afterwards.
    public var rest = 0
    /// Whether somebody wants to know how far a body has come.
    public var isObserved = false

    public var scheme: String { authority == nil ? "http" : "https" }

    public init(_ arguments: [String] = CommandLine.arguments) throws {
        for at in stride(from: 1, to: arguments.count - 1, by: 2) {
            let value = arguments[at + 1]
            switch arguments[at] {
            case "--host": host = value
            case "--port": port = try Self.number(value)
            case "--path": path = value
            case "--concurrency": concurrency = try Self.number(value)
            case "--requests": requests = try Self.number(value)
            case "--warmup": warmup = try Self.number(value)
            case "--fresh": isFresh = try Self.number(value) > 0
            case "--length": length = try Self.number(value)
            case "--ca": authority = value
            case "--proxy": proxy = value
            case "--cache":
                guard let named = Caching(rawValue: value) else { throw LoadError.argument(value) }
                cache = named
            case "--real": isReal = try Self.number(value) > 0
            case "--resilient": isResilient = try Self.number(value) > 0
            case "--resumed": isResumed = try Self.number(value) > 0
            case "--progress": isObserved = try Self.number(value) > 0
            case "--upload": upload = try Self.number(value)
            case "--file": file = value
            case "--output": output = value
            case "--record": isRecorded = try Self.number(value) > 0
            case "--segments": segments = try Self.number(value)
            case "--digest": digest = value
            case "--watch": watched = value
            case "--rest": rest = try Self.number(value)
            case "--slowness": slowness = try Self.number(value)
            case "--records": records = try Self.number(value)
            case "--job":
                guard let named = Job(rawValue: value) else { throw LoadError.argument(value) }
                job = named
            default: throw LoadError.argument(arguments[at])
            }
        }
    }

    private static func number(_ text: String) throws -> Int {
        guard let number = Int(text), number >= 0 else { throw LoadError.argument(text) }
        return number
    }

    /// A body longer than this is not kept in memory by anyone who can help it.
    public var isBulk: Bool { job == .none && length > 1 << 20 }

    /// Runs the load where it is called: child tasks inherit the caller's executor preference.
    ///
    /// Generic and inlined into the client, so that what drives a request adds nothing to what the request costs.
    ///
    /// `first` does the warm-up, where that is not the same; `decoder` has been told how long each decoding took.
    @inlinable public func measure<Each: Sender>(
        _ sender: Each, warmingUpWith first: Each? = nil, _ decoder: DecoderClock? = nil
    ) async throws {
        if warmup > 0 { _ = try await run(warmup, first ?? sender) }
        let decoded = decoder?.microseconds
        let start = Usage.now
        let nanoseconds = try await run(requests, sender)
        let end = Usage.now
        let decoding = decoder.map { $0.microseconds - (decoded ?? 0) }
        print(end.report(since: start, nanoseconds: nanoseconds, decoding: decoding))
    }

    /// How long each request took.
    @inlinable func run(_ requests: Int, _ sender: some Sender) async throws -> [UInt32] {
        try await withThrowingTaskGroup(of: [UInt32].self) { group in
            for first in stride(from: 0, to: concurrency, by: Self.party) {
                let callers = first..<min(first + Self.party, concurrency)
                group.addTask { try await run(callers, of: requests, sender) }
            }
            var all: [UInt32] = []
            all.reserveCapacity(requests)
            for try await times in group { all += times }
            return all
        }
    }

    /// Callers stand in parties: a task group looks through all its children when one ends.
    @inlinable static var party: Int { 64 }

    @inlinable func run(
        _ callers: Range<Int>, of requests: Int, _ sender: some Sender
    ) async throws -> [UInt32] {
        try await withThrowingTaskGroup(of: [UInt32].self) { group in
            for caller in callers {
                let share = requests * (caller + 1) / concurrency - requests * caller / concurrency
                let own = sender.caller(caller)
                group.addTask { try await repeatedly(share, own) }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    @inlinable func repeatedly(_ count: Int, _ sender: some Sender) async throws -> [UInt32] {
        var times: [UInt32] = []
        times.reserveCapacity(count)
        for _ in 0..<count {
            let begun = Usage.nanoseconds
            let reply = try await sender.send()
            guard reply == Reply(status: 200, length: length) else { throw LoadError.reply(reply) }
            times.append(UInt32(clamping: Usage.nanoseconds - begun))
        }
        return times
    }
}

/// What a client does with its values, as its users would.
public enum Job: String, Sendable {
    case none
    /// Decodes the response into `records` values of `Record`.
    case json
    /// The same, and tells how much of the processor's time was the decoder's.
    case timed
    /// Sends `Form.pairs`, encoded for each request.
    case form
    /// Sends `Form.fields` and a file as parts.
    case multipart
    /// Has a message echoed over a WebSocket of each caller's own.
    case echo
    /// Opens a WebSocket, has two messages echoed, and keeps it.
    case open
    /// Reads server-sent events, decodes each of them, or reads the lines that they stand in.
    case events
    case deltas
    case lines
}

/// What a cache does with each request.
public enum Caching: String, Sendable {
    case none
    /// Is not there either, but each request is for another URL, as those are that are stored.
    case anew
    /// Answers it from memory, or from a folder alone.
    case memoryHit = "memory-hit"
    case diskHit = "disk-hit"
    /// Stores what comes, each time of another URL, in memory or in a folder alone.
    case memoryStore = "memory-store"
    case diskStore = "disk-store"

    public var isThere: Bool { self != .none && self != .anew }
    public var hits: Bool { self == .memoryHit || self == .diskHit }
    public var isOnDisk: Bool { self == .diskHit || self == .diskStore }
}

/// One kind of request, sent again and again.
public protocol Sender: Sendable {
    func send() async throws -> Reply

    /// The one that a caller uses, by the caller's number.
    func caller(_ number: Int) -> Self
}

extension Sender {
    @inlinable public func caller(_ number: Int) -> Self { self }
}

/// What every response is checked for.
public struct Reply: Sendable, Equatable {
    public var status: Int
    public var length: Int

    @inlinable public init(status: Int, length: Int) {
        self.status = status
        self.length = length
    }
}

@usableFromInline enum LoadError: Error {
    case argument(String)
    case reply(Reply)
}

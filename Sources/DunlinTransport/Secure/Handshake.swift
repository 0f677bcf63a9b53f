internal import DunlinReactor
internal import DunlinSecure
internal import DunlinTypes

/// Secures a connection that has just been opened: drives the TLS engine until it is open, and asks the handlers.
///
/// It knows the phase's limit and the cancellation. It must not know who is trusted and why. Every failure closes the
/// channel; the server is told the reason, if that needs no wait.
struct Handshake: ~Copyable {
    private let line: DialedChannel
    private let context: ExchangeContext
    private let tlsPolicy: any TLSPolicy
    private let start: MonotonicTime
    private var engine: TLSEngine
    private var outbox = Outbox()
    private var plaintext: [UInt8] = []
    private var mayHaveMore = false
    private var ahead: [UInt8] = []

    /// Returns the stream, once it is secure. `ahead` came on the line before, and has not been read.
    static func run(
        over line: DialedChannel, _ ahead: [UInt8] = [], _ context: ExchangeContext, _ tlsPolicy: any TLSPolicy,
        _ hop: inout HTTP.Hop
    ) async throws -> TLSChannel {
        let start = context.clock.now()
        do {
            guard context.cancellation.arm(line.channel, turn: line.turn) else {
                throw context.cancelled(.tls, hop)
            }
            let terms = try await terms(of: tlsPolicy, context, since: start, hop)
            var handshake = try Handshake(line, context, tlsPolicy, terms, since: start, hop)
            handshake.ahead = ahead
            try await handshake.drive(hop)
            hop[.tls] = context.clock.now().nanoseconds - start.nanoseconds
            return handshake.finish()
        } catch {
            context.cancellation.disarm()
            line.channel.close()
            hop[.tls] = context.clock.now().nanoseconds - start.nanoseconds
            throw error
        }
    }

    private typealias Terms = (tls: TLSContext, peer: TLSPeer)

    private enum Read: Sendable {
        case terms(Terms)
        case failed(any Error)
    }

    /// The system's roots take longer to read than others on the loop can wait. Nor does this one wait for a disk
    /// without end.
    private static func terms(
        of tlsPolicy: any TLSPolicy, _ context: ExchangeContext, since start: MonotonicTime, _ hop: HTTP.Hop
    ) async throws -> Terms {
        let origin = context.origin
        @Sendable func terms() throws -> Terms { (try tlsPolicy.context(), try tlsPolicy.peer(for: origin)) }
        if tlsPolicy.isAtHand { return try terms() }
        let waiter = ValueWaiter<Read>(on: context.clock.reactor)
        DiskThreads.shared.start {
            let read: Read
            do { read = .terms(try terms()) } catch { read = .failed(error) }
            _ = waiter.deliver(read)
        }
        let deadline = context.clock.deadline(for: .tls, from: start)
        switch await waiter.wait(until: deadline, cancellation: context.cancellation) {
        case .value(.terms(let terms)): return terms
        case .value(.failed(let error)): throw error
        case .timedOut: throw context.timedOut(.tls, since: start, hop)
        case .cancelled: throw context.cancelled(.tls, hop)
        }
    }

    private init(
        _ line: DialedChannel, _ context: ExchangeContext, _ tlsPolicy: any TLSPolicy, _ terms: Terms,
        since start: MonotonicTime, _ hop: HTTP.Hop
    ) throws {
        self.line = line
        self.context = context
        self.tlsPolicy = tlsPolicy
        self.start = start
        do throws(TLSError) {
            engine = try TLSEngine(terms.tls, terms.peer, now: WallClock.seconds)
        } catch {
            throw context.insecure(error, .tls, hop)
        }
    }

    private consuming func finish() -> TLSChannel {
        let security = TransportSecurity(
            version: engine.version == .tls13 ? "TLS 1.3" : "TLS 1.2", cipher: engine.cipher ?? "",
            applicationProtocol: engine.applicationProtocol, isResumed: engine.isResumed,
            verifiedPath: engine.decision?.path ?? [])
        return TLSChannel(line.channel, engine, outbox, surplus: Bytes(plaintext), security)
    }

    private mutating func drive(_ hop: HTTP.Hop) async throws {
        var status = try advance(hop) { handshake throws(TLSError) in
            try handshake.engine.start(into: &handshake.outbox.bytes)
        }
        while true {
            switch status {
            case .open:
                // Our last message is sent with the request.
                return
            case .closed:
                throw context.closed("the server closed the connection instead of securing it", .tls, hop)
            case .suspended(.trust):
                let decision = try await lastWord(hop)
                status = try advance(hop) { handshake throws(TLSError) in
                    try handshake.engine.answer(
                        trust: decision, into: &handshake.plaintext, answering: &handshake.outbox.bytes)
                }
            case .suspended(.clientCertificate):
                let identity = try await identity(hop)
                status = try advance(hop) { handshake throws(TLSError) in
                    try handshake.engine.answer(
                        identity: identity, into: &handshake.plaintext, answering: &handshake.outbox.bytes)
                }
            case .handshaking:
                try await flush(hop)
                let ciphertext = try await receive(hop)
                status = try advance(hop) { handshake throws(TLSError) in
                    try handshake.take(ciphertext)
                }
            }
        }
    }

    /// Takes one step of the engine. A failure is told to the server, and thrown as an error of the request.
    private mutating func advance(
        _ hop: HTTP.Hop, _ step: (inout Handshake) throws(TLSError) -> TLSEngine.Status
    ) throws -> TLSEngine.Status {
        do throws(TLSError) {
            return try step(&self)
        } catch {
            outbox.sendAtOnce(over: line.channel)
            throw context.insecure(error, .tls, hop)
        }
    }

    private mutating func take(_ ciphertext: [UInt8]) throws(TLSError) -> TLSEngine.Status {
        if ciphertext.isEmpty {
            try engine.receiveEnd()
            return .closed
        }
        return try ciphertext.span.withUnsafeBytes { bytes throws(TLSError) in
            try engine.receive(bytes, into: &plaintext, answering: &outbox.bytes)
        }
    }
}

// MARK: - Waiting

extension Handshake {
    private var deadline: MonotonicTime { context.clock.deadline(for: .tls, from: start) }

    private mutating func flush(_ hop: HTTP.Hop) async throws {
        while true {
            do throws(StreamError) {
                if try outbox.send(over: line.channel) { return }
            } catch {
                throw context.broken(error, .tls, hop)
            }
            try check(await line.channel.waitWritable(until: deadline), hop)
        }
    }

    private mutating func receive(_ hop: HTTP.Hop) async throws -> [UInt8] {
        if !ahead.isEmpty {
            defer { (ahead, mayHaveMore) = ([], true) }
            return ahead
        }
        while true {
            if !mayHaveMore { try check(await line.channel.waitReadable(until: deadline), hop) }
            do throws(Errno) {
                if let bytes = try line.channel.read(upTo: Self.readSize) {
                    mayHaveMore = bytes.count == Self.readSize
                    return bytes
                }
            } catch {
                throw context.closed("the connection failed", .tls, hop, error)
            }
            mayHaveMore = false
        }
    }

    private static var readSize: Int { 8 * 1024 }

    private func check(_ wake: Wake, _ hop: HTTP.Hop) throws {
        guard wake == .ready else { throw context.failure(wake, in: .tls, since: start, hop) }
    }
}

// MARK: - Asking

extension Handshake {
    private func lastWord(_ hop: HTTP.Hop) async throws -> TrustDecision {
        guard let decision = engine.decision else {
            throw context.insecure(.protocolViolation("it proved nothing about itself"), .tls, hop)
        }
        let (tlsPolicy, origin) = (tlsPolicy, context.origin)
        return try await ask(hop) { try await tlsPolicy.lastWord(on: decision, about: origin) }
    }

    private func identity(_ hop: HTTP.Hop) async throws -> ClientIdentity? {
        let (tlsPolicy, origin, issuers) = (tlsPolicy, context.origin, engine.acceptableIssuers)
        return try await ask(hop) { try await tlsPolicy.identity(for: origin, acceptableIssuers: issuers) }
    }

    /// Runs the user's code, within the request's limits and cancelled with it.
    private func ask<Answer: Sendable>(
        _ hop: HTTP.Hop, _ question: @escaping @Sendable () async throws -> Answer
    ) async throws -> Answer {
        do {
            let answer = try await Race.run(
                until: deadline, context.cancellation, on: context.clock.reactor, question)
            guard context.cancellation.arm(line.channel, turn: line.turn) else {
                throw context.cancelled(.tls, hop)
            }
            return answer
        } catch Race.Lost.timedOut {
            throw context.timedOut(.tls, since: start, hop)
        } catch Race.Lost.cancelled {
            throw context.cancelled(.tls, hop)
        }
    }
}

extension TrustDecision {
    fileprivate var path: [Certificate]? {
        if case .accepted(let path) = self { path } else { nil }
    }
}

internal import DunlinReactor
internal import DunlinSecure
internal import DunlinTypes

/// Secures a connection that is being opened, with a proxy or with the origin: it drives the TLS engine until it is
/// open, and asks the handlers.
///
/// It knows the phase's limit and the cancellation, and must not know who is trusted and why. Every failure closes the
/// stream; the peer is told the reason, if that needs no wait.
struct Handshake: ~Copyable {
    private let connection: OpeningConnection
    private let party: Party
    private let tlsPolicy: any TLSPolicy
    private let context: ExchangeContext
    private let start: HTTP.Instant
    private var engine: TLSEngine
    private var outbox = Outbox()
    private var plaintext: [UInt8] = []
    private var mayHaveMore: Bool
    private var ahead: [UInt8]

    /// The other side of the handshake.
    struct Party {
        let origin: HTTP.Origin
        let tlsPolicySource: any TLSPolicySource
        /// `tls` for the origin, `proxyTLS` for its proxy.
        let phase: HTTP.Phase
    }

    /// A connection that is secure now, and by which policy.
    struct Outcome {
        let channel: TLSChannel
        let tlsGeneration: UInt64
    }

    /// Runs the handshake.
    static func run(
        over connection: OpeningConnection, with party: Party, _ context: ExchangeContext, _ hop: inout HTTP.Hop
    ) async throws -> Outcome {
        let start = context.clock.now()
        do {
            guard context.cancellation.arm(connection.stream.channel, turn: connection.turn) else {
                throw context.cancelled(party.phase, hop)
            }
            let terms = try await terms(of: party, context, since: start, hop)
            var handshake = try Handshake(connection, party, context, terms, since: start, hop)
            try await handshake.drive(hop)
            hop[party.phase] += context.clock.now().nanoseconds - start.nanoseconds
            return Outcome(channel: handshake.finish(), tlsGeneration: terms.policy.tlsGeneration)
        } catch {
            context.cancellation.disarm()
            connection.stream.close()
            hop[party.phase] += context.clock.now().nanoseconds - start.nanoseconds
            throw error
        }
    }

    private struct Terms {
        let policy: any TLSPolicy
        let tls: TLSContext
        let peer: TLSPeer

        init(_ policy: any TLSPolicy, for origin: HTTP.Origin) throws {
            (self.policy, tls, peer) = (policy, try policy.context(), try policy.peer(for: origin))
        }
    }

    private enum Read: Sendable {
        case terms(Terms)
        case failed(any Error)
    }

    /// The policy and its terms. Reading the system's roots or a renewed identity would make others on the loop wait
    /// too long, and this wait for a disk is limited, too.
    private static func terms(
        of party: Party, _ context: ExchangeContext, since start: HTTP.Instant, _ hop: HTTP.Hop
    ) async throws -> Terms {
        let (waiter, origin) = (ValueWaiter<Read>(on: context.clock.reactor), party.origin)
        party.tlsPolicySource.tlsPolicy { policy in
            @Sendable func read() {
                do {
                    _ = waiter.deliver(.terms(try Terms(policy, for: origin)))
                } catch {
                    _ = waiter.deliver(.failed(error))
                }
            }
            if policy.isAtHand { read() } else { DiskThreads.shared.start(read) }
        }
        let deadline = context.clock.deadline(for: party.phase, from: start)
        switch await waiter.wait(until: deadline, cancellation: context.cancellation) {
        case .value(.terms(let terms)): return terms
        case .value(.failed(let error)): throw error
        case .timedOut: throw context.timedOut(party.phase, since: start, hop)
        case .cancelled: throw context.cancelled(party.phase, hop)
        }
    }

    private init(
        _ connection: OpeningConnection, _ party: Party, _ context: ExchangeContext, _ terms: Terms,
        since start: HTTP.Instant, _ hop: HTTP.Hop
    ) throws {
        self.connection = connection
        self.context = context
        self.party = party
        tlsPolicy = terms.policy
        ahead = connection.ahead
        // What the stream below has decrypted already causes no edge.
        mayHaveMore = connection.stream.secure != nil
        self.start = start
        do throws(TLSError) {
            engine = try TLSEngine(terms.tls, terms.peer, now: WallClock.seconds)
        } catch {
            throw context.insecure(error, party.phase, hop)
        }
    }

    private consuming func finish() -> TLSChannel {
        let security = HTTP.ConnectionSecurity(
            version: engine.version == .tls13 ? "TLS 1.3" : "TLS 1.2", cipher: engine.cipher ?? "",
            applicationProtocol: engine.applicationProtocol, isResumed: engine.isResumed,
            verifiedPath: engine.decision?.path ?? [])
        return TLSChannel(over: connection.stream, engine, outbox, surplus: Bytes(plaintext), security)
    }

    private mutating func drive(_ hop: HTTP.Hop) async throws {
        var status = try advance(hop) { handshake throws(TLSError) in
            try handshake.engine.start(into: &handshake.outbox.bytes)
        }
        while true {
            switch status {
            case .open:
                // The last message is sent with the request.
                return
            case .closed:
                throw context.closed("the connection was closed during the TLS handshake", party.phase, hop)
            case .suspended(.trust):
                let decision = try await finalDecision(hop)
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

    /// Takes one step of the engine. A failure is reported to the server, and thrown as an error of the request.
    private mutating func advance(
        _ hop: HTTP.Hop, _ step: (inout Handshake) throws(TLSError) -> TLSEngine.Status
    ) throws -> TLSEngine.Status {
        do throws(TLSError) {
            return try step(&self)
        } catch {
            outbox.sendAtOnce(over: connection.stream)
            throw context.insecure(error, party.phase, hop)
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
    private var deadline: HTTP.Instant { context.clock.deadline(for: party.phase, from: start) }

    private mutating func flush(_ hop: HTTP.Hop) async throws {
        while true {
            do throws(StreamError) {
                if try outbox.send(over: connection.stream) { return }
            } catch {
                throw broken(error, hop)
            }
            try check(await connection.stream.channel.waitWritable(until: deadline), hop)
        }
    }

    private mutating func receive(_ hop: HTTP.Hop) async throws -> [UInt8] {
        if !ahead.isEmpty {
            defer { (ahead, mayHaveMore) = ([], true) }
            return ahead
        }
        while true {
            if !mayHaveMore { try check(await connection.stream.channel.waitReadable(until: deadline), hop) }
            var bytes: [UInt8] = []
            do throws(StreamError) {
                if case .some(let more) = try connection.stream.read(into: &bytes, upTo: Self.readSize) {
                    mayHaveMore = more
                    return bytes
                }
            } catch {
                throw broken(error, hop)
            }
            mayHaveMore = false
        }
    }

    private func broken(_ error: StreamError, _ hop: HTTP.Hop) -> NetworkError {
        // The stream below is the proxy's: an error of its TLS says nothing about the origin's.
        guard case .tls(let cause) = error else { return context.broken(error, party.phase, hop) }
        return context.closed("the connection to the proxy failed", party.phase, hop, cause)
    }

    private static var readSize: Int { 8 * 1024 }

    private func check(_ wake: Wake, _ hop: HTTP.Hop) throws {
        guard wake == .ready else { throw context.failure(wake, in: party.phase, since: start, hop) }
    }
}

// MARK: - Asking

extension Handshake {
    private func finalDecision(_ hop: HTTP.Hop) async throws -> HTTP.TrustDecision {
        guard let decision = engine.decision else {
            throw context.insecure(
                .protocolViolation("it presented no certificate that could be checked"), party.phase, hop)
        }
        let (tlsPolicy, origin) = (tlsPolicy, party.origin)
        return try await ask(hop) { try await tlsPolicy.finalDecision(on: decision, about: origin) }
    }

    private func identity(_ hop: HTTP.Hop) async throws -> ClientIdentity? {
        let (tlsPolicy, origin, issuers) = (tlsPolicy, party.origin, engine.acceptableIssuers)
        return try await ask(hop) { try await tlsPolicy.identity(for: origin, acceptableIssuers: issuers) }
    }

    /// Runs the user's code, within the request's limits and cancelled with it.
    private func ask<Answer: Sendable>(
        _ hop: HTTP.Hop, _ question: @escaping @Sendable () async throws -> Answer
    ) async throws -> Answer {
        do {
            let answer = try await Race.run(
                until: deadline, context.cancellation, on: context.clock.reactor, question)
            guard context.cancellation.arm(connection.stream.channel, turn: connection.turn) else {
                throw context.cancelled(party.phase, hop)
            }
            return answer
        } catch Race.Lost.timedOut {
            throw context.timedOut(party.phase, since: start, hop)
        } catch Race.Lost.cancelled {
            throw context.cancelled(party.phase, hop)
        }
    }
}

extension HTTP.TrustDecision {
    fileprivate var path: [Certificate]? {
        if case .accepted(let path) = self { path } else { nil }
    }
}

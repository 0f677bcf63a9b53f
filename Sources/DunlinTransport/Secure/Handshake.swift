internal import DunlinReactor
internal import DunlinSecure
internal import DunlinTypes

/// Secures a connection that has just been opened: drives the engine until it is open, and asks whoever must be asked.
///
/// Knows the phase's limit and the cancel switch. Must not know who is trusted and why. Whatever goes wrong closes the
/// channel; the server is told why, if it can be told without waiting.
struct Handshake: ~Copyable {
    private let line: DialedChannel
    private let context: ExchangeContext
    private let advice: any HandshakeAdvice
    private let start: MonotonicTime
    private var engine: TLSEngine
    private var outbox = Outbox()
    private var plaintext: [UInt8] = []
    private var mayHaveMore = false

    /// The stream, once it is secure.
    static func run(
        over line: DialedChannel, _ context: ExchangeContext, _ advice: any HandshakeAdvice, _ attempt: inout Attempt
    ) async throws -> SecureChannel {
        let start = context.clock.now()
        do {
            guard context.interrupt.arm(line.channel, turn: line.turn) else {
                throw context.interrupted(.secure, attempt)
            }
            var handshake = try Handshake(line, context, advice, since: start, attempt)
            try await handshake.drive(attempt)
            attempt[.secure] = context.clock.now().nanoseconds - start.nanoseconds
            return handshake.finish()
        } catch {
            context.interrupt.disarm()
            line.channel.close()
            attempt[.secure] = context.clock.now().nanoseconds - start.nanoseconds
            throw error
        }
    }

    private init(
        _ line: DialedChannel, _ context: ExchangeContext, _ advice: any HandshakeAdvice, since start: MonotonicTime,
        _ attempt: Attempt
    ) throws {
        self.line = line
        self.context = context
        self.advice = advice
        self.start = start
        let (tls, peer) = (try advice.context(), try advice.peer(for: context.origin))
        do throws(TLSError) {
            engine = try TLSEngine(tls, peer, now: WallClock.seconds)
        } catch {
            throw context.insecure(error, .secure, attempt)
        }
    }

    private consuming func finish() -> SecureChannel {
        let security = TransportSecurity(
            version: engine.version == .tls13 ? "TLS 1.3" : "TLS 1.2", cipher: engine.cipher ?? "",
            applicationProtocol: engine.applicationProtocol, isResumed: engine.isResumed,
            verifiedPath: engine.decision?.path ?? [])
        return SecureChannel(line.channel, engine, outbox, surplus: Bytes(plaintext), security)
    }

    private mutating func drive(_ attempt: Attempt) async throws {
        var status = try advance(attempt) { handshake throws(TLSError) in
            try handshake.engine.start(into: &handshake.outbox.bytes)
        }
        while true {
            switch status {
            case .open:
                // The last message of ours leaves with the request.
                return
            case .closed:
                throw context.closed("the server closed the connection instead of securing it", .secure, attempt)
            case .suspended(.trust):
                let decision = try await lastWord(attempt)
                status = try advance(attempt) { handshake throws(TLSError) in
                    try handshake.engine.answer(
                        trust: decision, into: &handshake.plaintext, answering: &handshake.outbox.bytes)
                }
            case .suspended(.clientCertificate):
                let identity = try await identity(attempt)
                status = try advance(attempt) { handshake throws(TLSError) in
                    try handshake.engine.answer(
                        identity: identity, into: &handshake.plaintext, answering: &handshake.outbox.bytes)
                }
            case .handshaking:
                try await flush(attempt)
                let ciphertext = try await receive(attempt)
                status = try advance(attempt) { handshake throws(TLSError) in
                    try handshake.take(ciphertext)
                }
            }
        }
    }

    /// One step of the engine. Of a failure the server is told, and the caller in terms of the request.
    private mutating func advance(
        _ attempt: Attempt, _ step: (inout Handshake) throws(TLSError) -> TLSEngine.Status
    ) throws -> TLSEngine.Status {
        do throws(TLSError) {
            return try step(&self)
        } catch {
            outbox.sendAtOnce(over: line.channel)
            throw context.insecure(error, .secure, attempt)
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
    private var deadline: MonotonicTime { context.clock.deadline(for: .secure, from: start) }

    private mutating func flush(_ attempt: Attempt) async throws {
        while true {
            do throws(StreamError) {
                if try outbox.send(over: line.channel) { return }
            } catch {
                throw context.broken(error, .secure, attempt)
            }
            try check(await line.channel.waitWritable(until: deadline), attempt)
        }
    }

    private mutating func receive(_ attempt: Attempt) async throws -> [UInt8] {
        while true {
            if !mayHaveMore { try check(await line.channel.waitReadable(until: deadline), attempt) }
            do throws(Errno) {
                if let bytes = try line.channel.read(upTo: Self.readSize) {
                    mayHaveMore = bytes.count == Self.readSize
                    return bytes
                }
            } catch {
                throw context.closed("the connection failed", .secure, attempt, error)
            }
            mayHaveMore = false
        }
    }

    private static var readSize: Int { 8 * 1024 }

    private func check(_ wake: Wake, _ attempt: Attempt) throws {
        guard wake == .ready else { throw context.failure(wake, in: .secure, since: start, attempt) }
    }
}

// MARK: - Asking

extension Handshake {
    private func lastWord(_ attempt: Attempt) async throws -> TrustDecision {
        guard let decision = engine.decision else {
            throw context.insecure(.protocolViolation("it proved nothing about itself"), .secure, attempt)
        }
        let (advice, origin) = (advice, context.origin)
        return try await ask(attempt) { try await advice.lastWord(on: decision, about: origin) }
    }

    private func identity(_ attempt: Attempt) async throws -> ClientIdentity? {
        let (advice, origin, issuers) = (advice, context.origin, engine.acceptableIssuers)
        return try await ask(attempt) { try await advice.identity(for: origin, acceptableIssuers: issuers) }
    }

    /// The user's code, within the request's limits and under its cancel switch.
    private func ask<Answer: Sendable>(
        _ attempt: Attempt, _ question: @escaping @Sendable () async throws -> Answer
    ) async throws -> Answer {
        do {
            let answer = try await Race.run(
                until: deadline, context.interrupt, on: context.clock.reactor, question)
            guard context.interrupt.arm(line.channel, turn: line.turn) else {
                throw context.interrupted(.secure, attempt)
            }
            return answer
        } catch Race.Lost.timedOut {
            throw context.timedOut(.secure, since: start, attempt)
        } catch Race.Lost.interrupted {
            throw context.interrupted(.secure, attempt)
        }
    }
}

extension TrustDecision {
    fileprivate var path: [Certificate]? {
        if case .accepted(let path) = self { path } else { nil }
    }
}

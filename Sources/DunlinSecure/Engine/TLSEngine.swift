internal import COpenSSL
public import DunlinTypes

/// The client's side of one TLS connection, without I/O: ciphertext goes in, plaintext and ciphertext come out.
///
///     try engine.start(into: &wire)                                       // send `wire`
///     try engine.receive(bytes, into: &plaintext, answering: &wire)       // for whatever arrives; send `wire`
///     try engine.send(request, into: &wire)                               // once open; send `wire`
///     engine.close(into: &wire)                                           // send `wire`, close
///
/// Each call takes all that it is given. `wire` is appended to and may hold something to send even when the call
/// throws: the alert that tells the server why. After an error the engine repeats it and is of no further use. An
/// engine that waits holds neither plaintext nor ciphertext.
///
/// Must not know: sockets, clocks, who decides about trust and how. What OpenSSL calls back is in `EngineCallbacks`.
public struct TLSEngine: ~Copyable {
    /// What somebody else must answer before the handshake goes on.
    public enum Question: Sendable, Hashable {
        /// `decision` is what the rules came to; `answer(trust:)` has the last word.
        case trust
        /// The server asks for a client certificate; `answer(identity:)` gives one, or none.
        case clientCertificate
    }

    public enum Status: Sendable, Hashable {
        /// Waits for the server.
        case handshaking
        /// Waits for an answer. Nothing that depends on it has left.
        case suspended(Question)
        /// Content may go both ways.
        case open
        /// The server said that it has sent everything, or we are done.
        case closed
    }

    private enum Phase {
        case at(Status)
        case failed(TLSError)
    }

    let ssl: OpaquePointer
    let state: UnsafeMutablePointer<EngineState>
    private var phase = Phase.at(.handshaking)
    /// Ciphertext behind a question. Empty otherwise.
    private var held: [UInt8] = []
    private var firstByte: UInt8?

    /// More than a server sends before it knows that we go on.
    static let heldLimit = 256 * 1024

    /// `now` is Unix time in seconds: remembered sessions grow old.
    public init(_ context: TLSContext, _ peer: TLSPeer, now: Int64) throws(TLSError) {
        let (ssl, state) = try EngineState.hang(on: context, peer, at: now)
        self.init(ssl, state)
    }

    private init(_ ssl: OpaquePointer, _ state: UnsafeMutablePointer<EngineState>) {
        self.ssl = ssl
        self.state = state
    }

    deinit {
        // An end without close_notify spoils the session only where the peer is to blame (RFC 8446 §6.1).
        if case .at = phase, SSL_is_init_finished(ssl) == 1 {
            SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN)
        }
        EngineState.free(ssl, state)
    }

    public var status: Status {
        if case .at(let status) = phase { status } else { .closed }
    }

    /// Whether part of a record has come whose rest has not. What it holds is not known yet, and nobody has read it.
    public var isWithinRecord: Bool {
        // OpenSSL counts the bytes that it has not looked at. Where it has a header and nothing else it has looked at
        // all of them, and waits for the body ("RB").
        SSL_has_pending(ssl) == 1 || SSL_rstate_string(ssl)?[1] == CChar(UInt8(ascii: "B"))
    }

    /// Makes the first message.
    public mutating func start(into wire: inout [UInt8]) throws(TLSError) -> Status {
        var nothing: [UInt8] = []
        return try receive(UnsafeRawBufferPointer(start: nil, count: 0), into: &nothing, answering: &wire)
    }

    /// Appends to `plaintext` what the ciphertext holds. All of it is used: what is part of a record waits inside.
    public mutating func receive(
        _ ciphertext: UnsafeRawBufferPointer, into plaintext: inout [UInt8], answering wire: inout [UInt8]
    ) throws(TLSError) -> Status {
        switch phase {
        case .at(.open): return try run(ciphertext, &plaintext, &wire)
        case .at(.handshaking):
            if firstByte == nil { firstByte = ciphertext.first }
            return try run(ciphertext, &plaintext, &wire)
        case .at(.suspended(let question)):
            try hold(ciphertext)
            return .suspended(question)
        case .at(.closed): return .closed
        case .failed(let error): throw error
        }
    }

    /// Encrypts all of `plaintext`.
    public mutating func send(_ plaintext: UnsafeRawBufferPointer, into wire: inout [UInt8]) throws(TLSError) {
        switch phase {
        case .at(.open): break
        case .at: throw .closed
        case .failed(let error): throw error
        }
        guard plaintext.count > 0 else { return }
        // The error queue is not emptied first, as it is for a read: nothing that is taken from it makes a difference
        // here, for whatever a write complains of is the end.
        Self.reserve(plaintext.count, in: &wire)
        swap(&state.pointee.output, &wire)
        defer { swap(&state.pointee.output, &wire) }
        var written = 0
        let code = SSL_write_ex(ssl, plaintext.baseAddress, plaintext.count, &written)
        if code != 1 { throw fail(SSL_get_error(ssl, code)) }
    }

    /// Says that nothing more will be sent. Whatever still arrives is not wanted.
    public mutating func close(into wire: inout [UInt8]) {
        guard case .at(let status) = phase else { return }
        phase = .at(.closed)
        held = []
        guard status == .open || status == .closed, SSL_is_init_finished(ssl) == 1 else { return }
        OpenSSLErrors.clear()
        swap(&state.pointee.output, &wire)
        SSL_shutdown(ssl)
        swap(&state.pointee.output, &wire)
        OpenSSLErrors.clear()
    }

    /// The stream ended. Throws unless the server had said that it would.
    public mutating func receiveEnd() throws(TLSError) {
        switch phase {
        case .at(.closed): return
        case .at(.open): throw fail(.truncated)
        case .at(.handshaking), .at(.suspended):
            throw fail(.endedDuringHandshake(afterFirstByte: firstByte != nil))
        case .failed(let error): throw error
        }
    }
}

// The answers to questions.
extension TLSEngine {
    /// The last word on trust. Means nothing unless that was the question.
    public mutating func answer(
        trust decision: HTTP.TrustDecision, into plaintext: inout [UInt8], answering wire: inout [UInt8]
    ) throws(TLSError) -> Status {
        guard case .at(.suspended(.trust)) = phase else { return try current() }
        state.pointee.isOverruled = decision != self.decision
        state.pointee.trust = .settled(decision)
        if SSL_is_init_finished(ssl) == 1, case .refused(let refusal) = decision { throw fail(.untrusted(refusal)) }
        return try resume(&plaintext, &wire)
    }

    /// Who we are, or nil to go on without a certificate. Means nothing unless that was the question.
    public mutating func answer(
        identity: ClientIdentity?, into plaintext: inout [UInt8], answering wire: inout [UInt8]
    ) throws(TLSError) -> Status {
        guard case .at(.suspended(.clientCertificate)) = phase else { return try current() }
        state.pointee.identity = .settled(identity)
        return try resume(&plaintext, &wire)
    }

    private func current() throws(TLSError) -> Status {
        switch phase {
        case .at(let status): return status
        case .failed(let error): throw error
        }
    }

    private mutating func resume(
        _ plaintext: inout [UInt8], _ wire: inout [UInt8]
    ) throws(TLSError) -> Status {
        phase = .at(SSL_is_init_finished(ssl) == 1 ? .open : .handshaking)
        let input = Bytes(held)
        held = []
        return try input.withUnsafeBytes { bytes throws(TLSError) in try run(bytes, &plaintext, &wire) }
    }

    private mutating func hold(_ ciphertext: UnsafeRawBufferPointer) throws(TLSError) {
        if held.count + ciphertext.count > Self.heldLimit {
            throw fail(.flood("while a decision about certificates was awaited"))
        }
        held.append(contentsOf: ciphertext)
    }
}

// Driving OpenSSL.
extension TLSEngine {
    private mutating func run(
        _ ciphertext: UnsafeRawBufferPointer, _ plaintext: inout [UInt8], _ wire: inout [UInt8]
    ) throws(TLSError) -> Status {
        OpenSSLErrors.clear()
        state.pointee.input = ciphertext
        swap(&state.pointee.output, &wire)
        defer {
            swap(&state.pointee.output, &wire)
            state.pointee.input = UnsafeRawBufferPointer(start: nil, count: 0)
        }
        if case .at(.handshaking) = phase { try shakeHands() }
        switch phase {
        case .at(.open):
            defer { releaseBuffers() }
            return try decrypt(into: &plaintext)
        case .at(.suspended(let question)):
            try hold(state.pointee.input)
            return .suspended(question)
        case .at(let status): return status
        case .failed(let error): throw error
        }
    }

    /// A handshake message (a ticket, a change of keys) makes OpenSSL set up a buffer to write into, which it would
    /// keep until something is sent. It keeps them all where a record is not whole.
    private func releaseBuffers() {
        guard state.pointee.mayHoldBuffers, SSL_free_buffers(ssl) == 1 else { return }
        state.pointee.mayHoldBuffers = false
    }

    private mutating func shakeHands() throws(TLSError) {
        let code = SSL_do_handshake(ssl)
        if code == 1 { return try finishHandshake() }
        switch SSL_get_error(ssl, code) {
        case SSL_ERROR_WANT_READ: return
        case SSL_ERROR_WANT_RETRY_VERIFY: phase = .at(.suspended(.trust))
        case SSL_ERROR_WANT_X509_LOOKUP:
            // Trust is asked about first, and here when the staple came late.
            if case .asking = state.pointee.trust {
                phase = .at(.suspended(.trust))
            } else {
                phase = .at(.suspended(.clientCertificate))
            }
        case let error: throw fail(error)
        }
    }

    private mutating func finishHandshake() throws(TLSError) {
        state.pointee.silentMessages = 0
        // OpenSSL looks at this itself only in its later patches.
        if let name = applicationProtocol, !state.pointee.context.settings.applicationProtocols.contains(name) {
            throw fail(.protocolViolation("it chose an application protocol that was not offered"))
        }
        if SSL_session_reused(ssl) == 1, let path = state.pointee.offeredPath {
            // Nobody was asked in this handshake, for no certificate was shown.
            let asks = state.pointee.peer.asksAboutTrust
            state.pointee.trust = asks ? .asking(.accepted(path: path)) : .settled(.accepted(path: path))
        } else {
            state.pointee.offeredPath = nil
        }
        switch state.pointee.trust {
        case .settled(.accepted): phase = .at(.open)
        case .asking: phase = .at(.suspended(.trust))
        case .settled(.refused(let refusal)): throw fail(.untrusted(refusal))
        case .undecided, .awaitingStaple:
            throw fail(.protocolViolation("it presented no certificate that could be checked"))
        }
    }

    private mutating func decrypt(into plaintext: inout [UInt8]) throws(TLSError) -> Status {
        while true {
            // A record that began in an earlier call comes out with this one: more room than ciphertext is no waste.
            let room = max(state.pointee.input.count, Self.smallestRoom)
            var count = 0
            var code: Int32 = 0
            plaintext.append(addingCapacity: room) { output in
                output.withUnsafeMutableBufferPointer { buffer, initialized in
                    code = SSL_read_ex(ssl, buffer.baseAddress.map { $0 + initialized }, room, &count)
                    initialized += count
                }
            }
            guard code == 1 else { return try afterRead(SSL_get_error(ssl, code)) }
            state.pointee.silentMessages = 0
            // A read that leaves room has emptied its record.
            if count < room, state.pointee.input.isEmpty { return .open }
        }
    }

    private mutating func afterRead(_ error: Int32) throws(TLSError) -> Status {
        switch error {
        case SSL_ERROR_WANT_READ:
            return .open
        case SSL_ERROR_ZERO_RETURN:
            phase = .at(.closed)
            return .closed
        default:
            throw fail(error)
        }
    }

    static let smallestRoom = 1024

    /// Room for the ciphertext of so much plaintext, so that it is not moved while it grows.
    private static func reserve(_ count: Int, in wire: inout [UInt8]) {
        let records = (count + 16_383) / 16_384
        // Header, explicit nonce, content type and tag: at most 29 bytes with the ciphers that are allowed by default.
        let needed = wire.count + count + records * 32
        if needed > wire.capacity { wire.reserveCapacity(needed) }
    }
}

// What went wrong.
extension TLSEngine {
    private mutating func fail(_ error: TLSError) -> TLSError {
        phase = .failed(error)
        held = []
        // RFC 5246 §7.2.2: a session whose connection failed is not resumed; other tickets of it are as suspect.
        if state.pointee.offeredPath != nil { state.pointee.context.tickets?.discard(for: state.pointee.peer) }
        return error
    }

    private mutating func fail(_ error: Int32) -> TLSError {
        let code = OpenSSLErrors.take()
        if state.pointee.isFlooded {
            return fail(TLSError.flood("more than \(EngineState.silentMessageLimit) in a row"))
        }
        guard error == SSL_ERROR_SSL, code != 0 else {
            return fail(TLSError.protocolViolation("OpenSSL stopped without giving a reason"))
        }
        return fail(explained(code))
    }

    private func explained(_ code: UInt) -> TLSError {
        let error = TLSError(openSSL: code)
        if case .settled(.refused(let refusal)) = state.pointee.trust { return .untrusted(refusal) }
        switch error {
        // Whatever the alert is called: what it is about is that.
        case .alert where state.pointee.hasRefusedToRenegotiate: return .renegotiationRefused
        case .alert(.certificateRequired): return .clientCertificateRequired
        case .alert(let alert) where alert == .handshakeFailure || alert == .badCertificate:
            // Before TLS 1.3 there was no alert of its own for it.
            if case .settled(nil) = state.pointee.identity { return .clientCertificateRequired }
            return error
        default:
            // The first byte of a record is its type, 20 to 24.
            if let firstByte, !(20...24).contains(firstByte) { return .notTLS }
            return error
        }
    }
}

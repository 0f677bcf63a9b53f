internal import COpenSSL
public import DunlinTypes

/// The client's side of one TLS connection, without I/O: ciphertext goes in, plaintext and ciphertext come out.
///
///     try engine.start(into: &wire)                                       // send `wire`
///     try engine.receive(bytes, into: &plaintext, answering: &wire)       // for whatever arrives; send `wire`
///     try engine.send(request, into: &wire)                               // once open; send `wire`
///     engine.endSending(into: &wire)                                      // send `wire`; goes on receiving
///     engine.close(into: &wire)                                           // send `wire`, close
///
/// Each call uses all its input. `wire` is appended to, and may hold an alert to send even when the call throws. After
/// an error the engine only repeats it. A waiting engine holds neither plaintext nor ciphertext.
///
/// Must not know: sockets, clocks, who decides about trust and how. What OpenSSL calls back is in `EngineCallbacks`.
public struct TLSEngine: ~Copyable {
    /// A question that somebody else must answer before the handshake continues.
    public enum Question: Sendable, Hashable {
        /// Whether to trust the server. `decision` is the rules' result; `answer(trust:)` decides.
        case trust
        /// Which certificate to show, as the server asks for one; `answer(identity:)` gives one, or none.
        case clientCertificate
    }

    public enum Status: Sendable, Hashable {
        /// It waits for the server.
        case handshaking
        /// It waits for an answer. Nothing that depends on it has been sent.
        case suspended(Question)
        /// Content may be sent and received.
        case open
        /// The server has sent everything, or this side is done.
        case closed
    }

    private enum Phase {
        case at(Status)
        case failed(TLSError)
    }

    let ssl: OpaquePointer
    let state: UnsafeMutablePointer<EngineState>
    private var phase = Phase.at(.handshaking)
    /// The ciphertext received after a question; empty otherwise.
    private var held: [UInt8] = []
    private var firstByte: UInt8?
    private var sending = Sending.endsWithServer

    /// When this side sends no more.
    private enum Sending {
        /// When the server has said that it sends no more, or before.
        case endsWithServer
        /// When this side says so, whatever the server has said.
        case endsByItself
        case hasEnded
    }

    /// The most ciphertext that is held: more than a server sends before it knows that this side continues.
    static let heldLimit = 256 * 1024

    /// Creates an engine; `now` is Unix time in seconds, for the age of sessions.
    public init(_ context: TLSContext, _ peer: TLSPeer, now: Int64) throws(TLSError) {
        let (ssl, state) = try EngineState.attach(on: context, peer, at: now)
        self.init(ssl, state)
    }

    private init(_ ssl: OpaquePointer, _ state: UnsafeMutablePointer<EngineState>) {
        self.ssl = ssl
        self.state = state
    }

    deinit {
        // An end without close_notify spoils the session only if the peer is to blame (RFC 8446 §6.1).
        if case .at = phase, SSL_is_init_finished(ssl) == 1 {
            SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN)
        }
        EngineState.free(ssl, state)
    }

    public var status: Status {
        if case .at(let status) = phase { status } else { .closed }
    }

    /// Whether a record has come only in part. Its content is unknown and unread.
    public var isWithinRecord: Bool {
        // OpenSSL counts the bytes it has not looked at. With only a header it has looked at all of them, and waits for
        // the body ("RB").
        SSL_has_pending(ssl) == 1 || SSL_rstate_string(ssl)?[1] == CChar(UInt8(ascii: "B"))
    }

    /// Creates the first message.
    public mutating func start(into wire: inout [UInt8]) throws(TLSError) -> Status {
        var nothing: [UInt8] = []
        return try receive(UnsafeRawBufferPointer(start: nil, count: 0), into: &nothing, answering: &wire)
    }

    /// Decrypts ciphertext and appends its content to `plaintext`. All of it is used: a partial record is kept inside.
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
        case .at(.open) where sending != .hasEnded: break
        case .at(.closed) where sending == .endsByItself: break
        case .at: throw .closed
        case .failed(let error): throw error
        }
        guard plaintext.count > 0 else { return }
        // The error queue is not cleared first, as for a read: any complaint about a write ends the connection anyway.
        Self.reserve(plaintext.count, in: &wire)
        swap(&state.pointee.output, &wire)
        defer { swap(&state.pointee.output, &wire) }
        var written = 0
        let code = SSL_write_ex(ssl, plaintext.baseAddress, plaintext.count, &written)
        if code != 1 { throw fail(SSL_get_error(ssl, code)) }
    }

    /// Lets this side go on sending after the server has said that it sends no more, for protocols whose directions end
    /// separately.
    public mutating func separateDirections() {
        if sending == .endsWithServer { sending = .endsByItself }
    }

    /// Says that nothing more will be sent. What the server sends is still received.
    public mutating func endSending(into wire: inout [UInt8]) throws(TLSError) {
        if case .failed(let error) = phase { throw error }
        guard sending != .hasEnded, SSL_is_init_finished(ssl) == 1 else { return }
        sending = .hasEnded
        OpenSSLErrors.clear()
        swap(&state.pointee.output, &wire)
        SSL_shutdown(ssl)
        swap(&state.pointee.output, &wire)
        OpenSSLErrors.clear()
    }

    /// Says that nothing more will be sent. Whatever still arrives is ignored.
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

    /// Notes the end of the stream. Throws unless the server had announced it.
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
    /// Decides on trust. Has no effect unless that was the question.
    public mutating func answer(
        trust decision: HTTP.TrustDecision, into plaintext: inout [UInt8], answering wire: inout [UInt8]
    ) throws(TLSError) -> Status {
        guard case .at(.suspended(.trust)) = phase else { return try current() }
        state.pointee.isOverruled = decision != self.decision
        state.pointee.trust = .settled(decision)
        if SSL_is_init_finished(ssl) == 1, case .refused(let refusal) = decision { throw fail(.untrusted(refusal)) }
        return try resume(&plaintext, &wire)
    }

    /// Gives an identity, or nil to continue without a certificate. Has no effect unless that was the question.
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
            throw fail(
                .flood("more than \(Self.heldLimit) bytes, a fixed limit, during a decision about certificates"))
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
        if case .at(.handshaking) = phase { try advanceHandshake() }
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

    /// Releases OpenSSL's buffers. A handshake message (a ticket, a key update) makes it allocate a write buffer, which
    /// it would keep until something is sent. It keeps all buffers during a partial record.
    private func releaseBuffers() {
        guard state.pointee.mayHoldBuffers, SSL_free_buffers(ssl) == 1 else { return }
        state.pointee.mayHoldBuffers = false
    }

    private mutating func advanceHandshake() throws(TLSError) {
        let code = SSL_do_handshake(ssl)
        if code == 1 { return try finishHandshake() }
        switch SSL_get_error(ssl, code) {
        case SSL_ERROR_WANT_READ: return
        case SSL_ERROR_WANT_RETRY_VERIFY: phase = .at(.suspended(.trust))
        case SSL_ERROR_WANT_X509_LOOKUP:
            // Trust is asked about first, or here if the staple came late.
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
        // Only later patches of OpenSSL check this.
        if let name = applicationProtocol, !state.pointee.context.settings.applicationProtocols.contains(name) {
            throw fail(.protocolViolation("it chose an application protocol that was not offered"))
        }
        if SSL_session_reused(ssl) == 1, let path = state.pointee.offeredPath {
            // Nobody was asked in this handshake, as it showed no certificate.
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
            // A record that began in an earlier call is decrypted with this one, so more room than ciphertext is no
            // waste.
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

    /// Reserves room for the ciphertext of `count` bytes, so that it is not moved while it grows.
    private static func reserve(_ count: Int, in wire: inout [UInt8]) {
        let records = (count + 16_383) / 16_384
        // Header, explicit nonce, content type and tag: at most 29 bytes with the ciphers that are allowed by default.
        let needed = wire.count + count + records * 32
        if needed > wire.capacity { wire.reserveCapacity(needed) }
    }
}

// Errors.
extension TLSEngine {
    private mutating func fail(_ error: TLSError) -> TLSError {
        phase = .failed(error)
        held = []
        // RFC 5246 §7.2.2: a session whose connection failed is not resumed; its other tickets are as suspect.
        if state.pointee.offeredPath != nil { state.pointee.context.tickets?.discard(for: state.pointee.peer) }
        return error
    }

    private mutating func fail(_ error: Int32) -> TLSError {
        let code = OpenSSLErrors.take()
        if state.pointee.isFlooded {
            return fail(
                TLSError.flood("more than \(EngineState.silentMessageLimit) messages without content in a row"))
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
        // Whatever the alert's name, this is its reason.
        case .alert where state.pointee.hasRefusedToRenegotiate: return .renegotiationRefused
        case .alert(.certificateRequired): return .clientCertificateRequired
        case .alert(let alert) where alert == .handshakeFailure || alert == .badCertificate:
            // Before TLS 1.3 there was no separate alert for it.
            if case .settled(nil) = state.pointee.identity { return .clientCertificateRequired }
            return error
        default:
            // The first byte of a record is its type, 20 to 24.
            if let firstByte, !(20...24).contains(firstByte) { return .notTLS }
            return error
        }
    }
}

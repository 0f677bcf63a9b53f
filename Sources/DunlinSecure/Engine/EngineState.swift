internal import COpenSSL
internal import DunlinTypes

/// What OpenSSL's callbacks reach of one engine. It lives at one address for as long as the engine does, because
/// OpenSSL keeps the pointer.
struct EngineState {
    /// Ciphertext of the call that is running: the caller's memory, never kept beyond it.
    var input = UnsafeRawBufferPointer(start: nil, count: 0)
    /// Ciphertext to be sent. During a call this is the caller's array.
    var output: [UInt8] = []
    let context: TLSContext
    let peer: TLSPeer
    var trust = TrustStep.undecided
    var identity = IdentityStep.unasked
    /// Handshake messages since content last arrived. An honest server sends a few tickets and a rare key update.
    var silentMessages = 0
    /// A handshake message came since OpenSSL last let go of its buffers.
    var mayHoldBuffers = false
    /// The server asked for another handshake, and was told that there will be none.
    var hasRefusedToRenegotiate = false
    /// A session was offered that this path was verified for.
    var offeredPath: [Certificate]?
    /// Somebody had the last word on trust, and it was not what the rules had come to: that counts for this connection,
    /// not for those that would resume its session.
    var isOverruled = false

    enum TrustStep {
        case undecided
        /// TLS 1.2 sends the staple after the certificate: the decision waits for it.
        case awaitingStaple
        /// The rules came to this; somebody else is being asked.
        case asking(HTTP.TrustDecision)
        case settled(HTTP.TrustDecision)
    }

    enum IdentityStep {
        /// The server has not asked for a certificate.
        case unasked
        case asking
        case settled(ClientIdentity?)
    }

    static let silentMessageLimit = 64

    var isFlooded: Bool { silentMessages > Self.silentMessageLimit }

    /// The state that was hung on OpenSSL's object; nil before it was, or after.
    @inline(__always)
    static func of(_ ssl: OpaquePointer?) -> UnsafeMutablePointer<EngineState>? {
        guard let ssl, let data = SSL_get_ex_data(ssl, 0) else { return nil }
        return data.assumingMemoryBound(to: EngineState.self)
    }
}

extension EngineState {
    /// A new connection of the context with its state, ready for the first message.
    static func hang(
        on context: TLSContext, _ peer: TLSPeer, at now: Int64
    ) throws(TLSError) -> (ssl: OpaquePointer, state: UnsafeMutablePointer<EngineState>) {
        OpenSSLErrors.clear()
        guard let ssl = SSL_new(context.context.pointer) else { throw .outOfMemory }
        let state = UnsafeMutablePointer<EngineState>.allocate(capacity: 1)
        state.initialize(to: EngineState(context: context, peer: peer))
        do throws(TLSError) {
            guard SSL_set_ex_data(ssl, 0, state) == 1, let bio = EngineBIO.make(over: state) else { throw .outOfMemory }
            SSL_set_bio(ssl, bio, bio)
            SSL_set_connect_state(ssl)
            try state.pointee.prepare(ssl, at: now)
        } catch {
            free(ssl, state)
            throw error
        }
        return (ssl, state)
    }

    static func free(_ ssl: OpaquePointer, _ state: UnsafeMutablePointer<EngineState>) {
        SSL_free(ssl)
        state.deinitialize(count: 1)
        state.deallocate()
    }

    private mutating func prepare(_ ssl: OpaquePointer, at now: Int64) throws(TLSError) {
        if let name = peer.serverName, dunlin_set_server_name(ssl, name) != 1 {
            throw .invalidSetting("the server's name")
        }
        if context.settings.asksForStaple { dunlin_set_status_type(ssl, TLSEXT_STATUSTYPE_ocsp) }
        guard peer.resumes, let session = context.tickets?.take(for: peer, at: now) else { return }
        if session.offer(to: ssl) { offeredPath = session.path }
    }
}

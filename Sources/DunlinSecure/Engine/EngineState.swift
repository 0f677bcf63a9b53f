internal import COpenSSL
internal import DunlinTypes

/// The part of an engine that OpenSSL's callbacks use. Its address never changes, because OpenSSL keeps the pointer.
struct EngineState {
    /// The ciphertext of the current call: the caller's memory, never kept beyond the call.
    var input = UnsafeRawBufferPointer(start: nil, count: 0)
    /// The ciphertext to send; during a call it is the caller's array.
    var output: [UInt8] = []
    let context: TLSContext
    let peer: TLSPeer
    var trust = TrustStep.undecided
    var identity = IdentityStep.unasked
    /// The handshake messages since the last content. An honest server sends a few tickets and a rare key update.
    var silentMessages = 0
    /// Whether a handshake message has come since OpenSSL last released its buffers.
    var mayHoldBuffers = false
    /// Whether the server asked to renegotiate and was refused.
    var hasRefusedToRenegotiate = false
    /// The path that was verified for the session being offered.
    var offeredPath: [Certificate]?
    /// Whether the rules' decision on trust was overruled: that counts for this connection, not for resumed ones.
    var isOverruled = false

    enum TrustStep {
        case undecided
        /// TLS 1.2 sends the staple after the certificate: the decision waits for it.
        case awaitingStaple
        /// The rules have decided this, and somebody is being asked.
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

    /// Returns the state attached to OpenSSL's object; nil before it is attached, and afterwards.
    @inline(__always)
    static func of(_ ssl: OpaquePointer?) -> UnsafeMutablePointer<EngineState>? {
        guard let ssl, let data = SSL_get_ex_data(ssl, 0) else { return nil }
        return data.assumingMemoryBound(to: EngineState.self)
    }
}

extension EngineState {
    /// Creates a connection of the context with its state, ready for the first message.
    static func attach(
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
            throw .invalidServerName(name)
        }
        if context.settings.asksForStaple { dunlin_set_status_type(ssl, TLSEXT_STATUSTYPE_ocsp) }
        guard peer.resumes, let session = context.tickets?.take(for: peer, at: now) else { return }
        if session.offer(to: ssl) { offeredPath = session.path }
    }
}

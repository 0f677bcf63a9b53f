internal import COpenSSL
internal import DunlinTypes

/// Functions that OpenSSL calls during a handshake, on the engine's thread. None waits: a question that others must
/// answer stays open, and OpenSSL asks again after the answer.
enum EngineCallbacks {
    /// Decides on trust: 1 trusts, 0 refuses. It is called again if the first answer was "later".
    static func verify(_ store: OpaquePointer?) -> Int32 {
        guard let store, let ssl = ssl(of: store), let state = EngineState.of(ssl) else { return 0 }
        if case .undecided = state.pointee.trust {
            let comesLater = state.pointee.context.settings.asksForStaple && SSL_version(ssl) < TLS1_3_VERSION
            let chain = X509_STORE_CTX_get0_untrusted(store)
            state.pointee.trust =
                comesLater ? .awaitingStaple : decide(X509_STORE_CTX_get0_cert(store), chain, ssl, state.pointee.peer)
        }
        switch state.pointee.trust {
        case .awaitingStaple, .settled(.accepted): return 1
        case .asking:
            // Only a positive result is a wait; others are refusals to OpenSSL.
            return dunlin_set_retry_verify(ssl) == 1 ? 1 : 0
        case .undecided, .settled(.refused):
            X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REJECTED)
            return 0
        }
    }

    /// Called with the server's certificate, and its staple if it sent one. 1 continues, 0 refuses.
    ///
    /// OpenSSL cannot wait here. If somebody is to be asked, the handshake is suspended where a client certificate is
    /// due, or else when it is done: before anything of ours that matters leaves.
    static func checkStaple(_ ssl: OpaquePointer?) -> Int32 {
        guard let ssl, let state = EngineState.of(ssl) else { return 0 }
        guard case .awaitingStaple = state.pointee.trust else { return 1 }
        let leaf = SSL_get0_peer_certificate(ssl)
        state.pointee.trust = decide(leaf, SSL_get_peer_cert_chain(ssl), ssl, state.pointee.peer)
        return switch state.pointee.trust {
        case .asking, .settled(.accepted): 1
        case .undecided, .awaitingStaple, .settled(.refused): 0
        }
    }

    private static func decide(
        _ leaf: OpaquePointer?, _ chain: OpaquePointer?, _ ssl: OpaquePointer, _ peer: TLSPeer
    ) -> EngineState.TrustStep {
        guard let leaf else { return .undecided }
        let decision = peer.trust.decide(on: PresentedChain(leaf: leaf, chain: chain, staple: staple(of: ssl)))
        // The decision reports errors left in the queue, in better words.
        OpenSSLErrors.clear()
        return peer.asksAboutTrust ? .asking(decision) : .settled(decision)
    }

    private static func ssl(of store: OpaquePointer) -> OpaquePointer? {
        X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()).map { OpaquePointer($0) }
    }

    private static func staple(of ssl: OpaquePointer) -> Bytes? {
        var start: UnsafePointer<UInt8>?
        let count = dunlin_status_response(ssl, &start)
        guard count > 0, let start else { return nil }
        return Bytes(UnsafeBufferPointer(start: start, count: count))
    }

    /// Called when the server asks for a certificate: 1 continues, with or without one; -1 asks again later; 0 fails.
    static func chooseCertificate(_ ssl: OpaquePointer?) -> Int32 {
        guard let ssl, let state = EngineState.of(ssl) else { return 0 }
        // A staple, if sent, has come by now (RFC 6066 §8).
        _ = checkStaple(ssl)
        switch state.pointee.trust {
        case .settled(.accepted): break
        case .asking: return -1
        case .undecided, .awaitingStaple, .settled(.refused): return 0
        }
        if case .settled(let identity) = state.pointee.identity { return use(identity, ssl) }
        let peer = state.pointee.peer
        if peer.identity == nil, peer.asksForIdentity {
            state.pointee.identity = .asking
            return -1
        }
        state.pointee.identity = .settled(peer.identity)
        return use(peer.identity, ssl)
    }

    private static func use(_ identity: ClientIdentity?, _ ssl: OpaquePointer) -> Int32 {
        guard let identity else { return 1 }
        return SSL_use_cert_and_key(
            ssl, identity.certificate.pointer, identity.privateKey.pointer, identity.chain.pointer, 1)
    }

    /// Notes a handshake message or alert; not called for content.
    static func note(_ ssl: OpaquePointer?, _ kind: Int32, _ value: Int32) {
        guard let state = EngineState.of(ssl) else { return }
        if kind & SSL_CB_LOOP != 0 {
            state.pointee.silentMessages += 1
            state.pointee.mayHoldBuffers = true
        }
        // OpenSSL's answer is the only sign that the server asked to renegotiate.
        if kind == SSL_CB_ALERT | SSL_CB_WRITE, TLSAlert(code: UInt8(truncatingIfNeeded: value)) == .noRenegotiation {
            state.pointee.hasRefusedToRenegotiate = true
        }
    }

    /// Keeps a session; 1 takes over the reference.
    static func keep(_ session: OpaquePointer?, of ssl: OpaquePointer?) -> Int32 {
        guard let session, let ssl, let state = EngineState.of(ssl), let tickets = state.pointee.context.tickets,
            let path = state.pointee.verifiedPath, state.pointee.mayBeResumed
        else { return 0 }
        tickets.keep(TLSSession(adopting: session, path: path), for: TicketKey(state.pointee.peer))
        return 1
    }

    static func log(_ line: UnsafePointer<CChar>?, of ssl: OpaquePointer?) {
        guard let line, let state = EngineState.of(ssl) else { return }
        state.pointee.context.keyLog?.append(String(cString: line))
    }
}

extension EngineState {
    /// The accepted path, from this handshake or the one that created the session.
    var verifiedPath: [Certificate]? {
        if case .settled(.accepted(let path)) = trust { path } else { offeredPath }
    }

    var mayBeResumed: Bool { peer.resumes && !isOverruled && isIdentityConfigured }

    /// Whether the identity in use is the configured one, which sessions are kept for. Whoever was asked for one may
    /// say another the next time, also after saying none.
    private var isIdentityConfigured: Bool {
        guard case .settled(let used) = identity else { return true }
        return used?.key == peer.identity?.key && !(peer.identity == nil && peer.asksForIdentity)
    }
}

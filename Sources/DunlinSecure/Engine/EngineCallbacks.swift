internal import COpenSSL
internal import DunlinTypes

/// What OpenSSL calls in the middle of a handshake, on the thread that drives the engine. Nothing here waits: a
/// question that somebody else must answer is left open, and OpenSSL asks again after the answer.
enum EngineCallbacks {
    /// 1 for trusted, 0 for refused. Asked twice when the first answer was "later".
    static func verify(_ store: OpaquePointer?) -> Int32 {
        guard let store, let ssl = ssl(of: store), let state = EngineState.of(ssl) else { return 0 }
        if case .undecided = state.pointee.trust {
            state.pointee.trust = decide(store, ssl, state.pointee.peer)
            // The server did not take the session that was offered.
            state.pointee.validity = nil
        }
        // What the rules left in the error queue is told by the decision, in better words.
        OpenSSLErrors.clear()
        switch state.pointee.trust {
        case .settled(.accepted): return 1
        case .asking:
            // Positive, or OpenSSL takes it for a refusal instead of a wait.
            return dunlin_set_retry_verify(ssl) == 1 ? 1 : 0
        case .undecided, .settled(.refused):
            X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REJECTED)
            return 0
        }
    }

    private static func decide(
        _ store: OpaquePointer, _ ssl: OpaquePointer, _ peer: TLSPeer
    ) -> EngineState.TrustStep {
        guard let leaf = X509_STORE_CTX_get0_cert(store) else { return .undecided }
        let chain = X509_STORE_CTX_get0_untrusted(store)
        let decision = peer.trust.decide(on: PresentedChain(leaf: leaf, chain: chain, staple: staple(of: ssl)))
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

    /// The server asks for a certificate. 1 goes on, with one or without; -1 asks again later; 0 fails.
    static func chooseCertificate(_ ssl: OpaquePointer?) -> Int32 {
        guard let ssl, let state = EngineState.of(ssl) else { return 0 }
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

    /// Called for each handshake message and alert, not for content.
    static func note(_ ssl: OpaquePointer?, _ kind: Int32, _ value: Int32) {
        guard kind & SSL_CB_LOOP != 0, let state = EngineState.of(ssl) else { return }
        state.pointee.silentMessages += 1
    }

    /// 1 takes over the reference.
    static func keep(_ session: OpaquePointer?, of ssl: OpaquePointer?) -> Int32 {
        guard let session, let ssl, let state = EngineState.of(ssl), let tickets = state.pointee.context.tickets,
            let path = state.pointee.verifiedPath, state.pointee.isIdentityConfigured
        else { return 0 }
        let validity = state.pointee.validity ?? PathValidity(of: path)
        state.pointee.validity = validity
        tickets.keep(TLSSession(adopting: session, path: path, validity: validity), for: TicketKey(state.pointee.peer))
        return 1
    }

    static func log(_ line: UnsafePointer<CChar>?, of ssl: OpaquePointer?) {
        guard let line, let state = EngineState.of(ssl) else { return }
        state.pointee.context.keyLog?.append(String(cString: line))
    }
}

extension EngineState {
    /// The path that was accepted, in this handshake or in the one that made the session.
    var verifiedPath: [Certificate]? {
        if case .settled(.accepted(let path)) = trust { path } else { offeredPath }
    }

    /// The identity in use is the one that the next connection will be keyed by, not one that was asked for.
    var isIdentityConfigured: Bool {
        if case .settled(let used) = identity { used?.key == peer.identity?.key } else { true }
    }
}

internal import DunlinTypes
internal import Glibc

extension LoopbackServer.Channel {
    /// Receives content; nil at its end.
    func receive() throws(LoopbackServer.Interruption) -> [UInt8]? {
        guard let tls else { return try receiveRaw() }
        var bytes: [UInt8] = []
        while true {
            let progress = tls.read(into: &bytes)
            // Reading may produce output: a key update or an alert.
            try sendRaw(tls.takeOutput())
            switch progress {
            case .done: return bytes
            case .ended:
                if !tls.hasReceivedCloseNotify { ledger.receivedCloseNotify() }
                tls.hasReceivedCloseNotify = true
                return nil
            case .failed(let reason): throw .insecure(reason)
            case .wantsInput:
                guard let input = try receiveRaw() else { return nil }
                tls.feed(input)
            }
        }
    }

    func send(_ bytes: UnsafeRawBufferPointer) throws(LoopbackServer.Interruption) {
        guard let tls else { return try sendRaw(bytes) }
        // In parts, because what OpenSSL has encrypted stays in memory until the socket takes it.
        for start in stride(from: 0, to: bytes.count, by: 65_536) {
            let piece = UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + 65_536, bytes.count)])
            let progress = tls.write(piece)
            try sendRaw(tls.takeOutput())
            switch progress {
            case .done: break
            case .failed(let reason): throw .insecure(reason)
            case .wantsInput, .ended: throw .insecure("the server cannot write before the client answers in TLS")
            }
        }
    }

    /// Errors are ignored, since the client may be gone.
    func sendCloseNotify() {
        guard let tls else { return }
        tls.sendCloseNotify()
        do throws(LoopbackServer.Interruption) { try sendRaw(tls.takeOutput()) } catch { return }
    }

    func renewKeys() throws(LoopbackServer.Interruption) {
        guard let tls else { return }
        let progress = tls.renew()
        try sendRaw(tls.takeOutput())
        if case .failed(let reason) = progress { throw .insecure(reason) }
    }
}

// MARK: - The handshake

extension LoopbackServer.Channel {
    /// Does what is planned to a new connection. Returns when there can be requests, with the result of the TLS
    /// handshake, if any.
    mutating func beginServing(
        _ arrival: LoopbackServer.Arrival, _ options: LoopbackServer.TLS?, _ index: Int
    ) throws(LoopbackServer.Interruption) -> LoopbackServer.Handshake? {
        var fault: LoopbackServer.HandshakeFault?
        switch arrival {
        case .stallBeforeReading: try stall()
        case .handshake(.alert(let code)): try answerHello([21, 3, 3, 0, 2, 2, code])
        case .handshake(.answer(let bytes)): try answerHello(bytes.array)
        case .handshake(let planned): fault = planned
        case .accept, .closeAtOnce, .resetAtOnce, .neverAccept: break
        }
        guard let options else { return nil }
        let tls = try openSSL { () throws(AuthorityError) in try LoopbackServer.TLSSession(options) }
        try handshake(tls, fault)
        self.tls = tls
        return try openSSL { () throws(AuthorityError) in try tls.summary(connection: index) }
    }

    private func openSSL<Result>(
        _ body: () throws(AuthorityError) -> Result
    ) throws(LoopbackServer.Interruption) -> Result {
        do { return try body() } catch { throw .insecure("\(error)") }
    }

    /// Sends bytes instead of a server's hello; the connection then ends.
    private func answerHello(_ bytes: [UInt8]) throws(LoopbackServer.Interruption) {
        _ = try receiveRaw()
        try sendRaw(bytes)
        halfClose()
        while try receiveRaw() != nil {}
        throw .peerGone
    }

    private func handshake(
        _ tls: LoopbackServer.TLSSession, _ fault: LoopbackServer.HandshakeFault?
    ) throws(LoopbackServer.Interruption) {
        var sent = 0
        while true {
            let progress = tls.handshake()
            let output = tls.takeOutput()
            try send(output, after: sent, fault)
            sent += output.count
            switch progress {
            case .done: return
            case .ended: throw .insecure("the client ended TLS during the handshake")
            case .failed(let reason):
                // The alert must arrive: a close with unread bytes would be a reset, which overtakes it.
                halfClose()
                while try receiveRaw() != nil {}
                throw .insecure(reason)
            case .wantsInput:
                guard let input = try receiveRaw() else {
                    throw .insecure("the client closed the connection during the handshake")
                }
                tls.feed(input)
            }
        }
    }

    /// Sends a part of the handshake after `sent` earlier bytes, as far as the fault allows.
    private func send(
        _ bytes: [UInt8], after sent: Int, _ fault: LoopbackServer.HandshakeFault?
    ) throws(LoopbackServer.Interruption) {
        switch fault {
        case .stall(let count) where count < sent + bytes.count:
            try sendRaw(Array(bytes.prefix(max(count - sent, 0))))
            try stall()
        case .reset(let count) where count < sent + bytes.count:
            try sendRaw(Array(bytes.prefix(max(count - sent, 0))))
            try prepareReset()
            throw .peerGone
        case .close(let count) where count < sent + bytes.count:
            try sendRaw(Array(bytes.prefix(max(count - sent, 0))))
            throw .peerGone
        case .drip(let size, let pause):
            for start in stride(from: 0, to: bytes.count, by: max(size, 1)) {
                if start > 0 && pause > .zero { try self.pause(pause) }
                try sendRaw(Array(bytes[start..<min(start + max(size, 1), bytes.count)]))
                try waitUntilSent()
            }
        default: try sendRaw(bytes)
        }
    }
}

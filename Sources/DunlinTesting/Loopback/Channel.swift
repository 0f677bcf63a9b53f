internal import CEpoll
internal import DunlinReactor
internal import DunlinTypes
internal import Glibc

extension LoopbackServer {
    /// An accepted socket with blocking calls, which end when the server does.
    struct Channel: ~Copyable {
        let socket: Descriptor
        let poll: Poll
        let ledger: Ledger
        let isTCP: Bool
        /// The TLS session between the socket and the content, if the server uses TLS.
        var tls: TLSSession?

        /// Receives bytes from the socket, at most 64 KiB; nil at end of stream.
        func receiveRaw() throws(Interruption) -> [UInt8]? {
            while true {
                var count = 0
                let bytes = [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, filled in
                    count = recv(socket.number, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
                    filled = max(count, 0)
                }
                if count > 0 { return bytes }
                if count == 0 { return nil }
                switch errno {
                case EINTR: continue
                case EAGAIN: _ = try poll.wait(on: socket.number, for: Int16(POLLIN))
                case let code: throw Self.interruption(code)
                }
            }
        }

        /// Sends bytes. Returns when the kernel has taken all of them, so a peer that does not read delays it.
        func send(_ bytes: Bytes) throws(Interruption) {
            try bytes.withUnsafeBytes { bytes throws(Interruption) in try send(bytes) }
        }

        /// Sends bytes outside TLS.
        func sendRaw(_ bytes: [UInt8]) throws(Interruption) {
            try bytes.span.withUnsafeBytes { bytes throws(Interruption) in try sendRaw(bytes) }
        }

        func sendRaw(_ bytes: UnsafeRawBufferPointer) throws(Interruption) {
            var rest = bytes[...]
            while !rest.isEmpty {
                let piece = UnsafeRawBufferPointer(rebasing: rest)
                let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
                let count = Glibc.send(socket.number, piece.baseAddress, piece.count, flags)
                if count >= 0 {
                    ledger.sent(count)
                    rest = rest.dropFirst(count)
                    continue
                }
                switch errno {
                case EINTR: continue
                case EAGAIN:
                    ledger.sendBlocked()
                    _ = try poll.wait(on: socket.number, for: Int16(POLLOUT))
                case let code: throw Self.interruption(code)
                }
            }
        }

        private static func interruption(_ code: Int32) -> Interruption {
            switch code {
            case EPIPE, ECONNRESET, ETIMEDOUT, ENOTCONN: .peerGone
            default: .failed(Errno(rawValue: code))
            }
        }
    }
}

extension LoopbackServer.Channel {
    /// Waits until there is something to read.
    func awaitInput() throws(LoopbackServer.Interruption) {
        if tls?.holdsInput == true { return }
        _ = try poll.wait(on: socket.number, for: Int16(POLLIN))
    }

    /// Waits until the peer has closed its side.
    func stall() throws(LoopbackServer.Interruption) {
        _ = try poll.wait(on: socket.number, for: LoopbackServer.Poll.peerClosed)
        throw .peerGone
    }

    func pause(_ duration: Duration) throws(LoopbackServer.Interruption) {
        let ready = try poll.wait(on: socket.number, for: LoopbackServer.Poll.peerClosed, limit: duration)
        guard case .timedOut = ready else { throw .peerGone }
    }

    func wait(at gate: LoopbackServer.Gate) throws(LoopbackServer.Interruption) {
        let waker = try makeWaker()
        guard gate.enlist(waker) else { return }
        defer { gate.unlist(waker) }
        let ready = try poll.wait(
            on: socket.number, for: LoopbackServer.Poll.peerClosed, or: waker.descriptor.number)
        guard case .other = ready else { throw .peerGone }
    }

    private func makeWaker() throws(LoopbackServer.Interruption) -> LoopbackServer.Waker {
        do { return try LoopbackServer.Waker() } catch { throw .failed(error) }
    }

    /// Reads and discards until the peer has closed its side.
    func drain() throws(LoopbackServer.Interruption) {
        while try receive() != nil {}
    }

    func halfClose() {
        sendCloseNotify()
        _ = shutdown(socket.number, Int32(SHUT_WR))
    }

    /// Waits until everything sent so far has left for the peer. Otherwise the kernel joins small sends when its
    /// congestion window, at first ten segments, is full.
    func waitUntilSent() throws(LoopbackServer.Interruption) {
        guard isTCP else { return }
        // With this mark, "writable" means that nothing unsent is left; zero restores the kernel's own mark.
        set(Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, Int32(1))
        _ = try poll.wait(on: socket.number, for: Int16(POLLOUT))
        set(Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, Int32(0))
    }

    /// Makes the coming close a reset, which discards what the kernel still holds.
    func prepareReset() throws(LoopbackServer.Interruption) {
        tls?.leaveSilently()
        guard isTCP else { return }
        try waitUntilSent()
        set(SOL_SOCKET, SO_LINGER, linger(l_onoff: 1, l_linger: 0))
    }

    private func set<Value: BitwiseCopyable>(_ level: Int32, _ option: Int32, _ value: Value) {
        withUnsafeBytes(of: value) { bytes in
            _ = setsockopt(socket.number, level, option, bytes.baseAddress, socklen_t(bytes.count))
        }
    }
}

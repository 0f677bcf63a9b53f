internal import DunlinReactor
internal import DunlinSecure
internal import DunlinTypes

/// The bytes of one connection: plain or under TLS. With a proxy that uses TLS, the origin's TLS is inside the proxy's.
///
/// It knows how to read and write now, and whether there may be more. It must not know HTTP, nor how to wait, which the
/// channel does in either case.
enum ByteStream: Sendable {
    case plain(Channel)
    case tls(TLSChannel)

    var channel: Channel {
        switch self {
        case .plain(let channel): channel
        case .tls(let secure): secure.channel
        }
    }

    /// The number of TLS layers.
    var depth: Int { secure.map { 1 + $0.lower.depth } ?? 0 }

    /// The TLS channel; nil in clear text.
    var secure: TLSChannel? { if case .tls(let secure) = self { secure } else { nil } }

    /// Reads up to `capacity` bytes, replacing those in `bytes`, into the same memory if nobody else uses it.
    @inline(__always)
    func read(into bytes: inout [UInt8], upTo capacity: Int) throws(StreamError) -> StreamInput {
        switch self {
        case .plain(let channel):
            do throws(Errno) {
                return try channel.read(into: &bytes, upTo: capacity) ? .some(more: bytes.count == capacity) : .none
            } catch {
                throw .system(error)
            }
        case .tls(let secure):
            bytes.removeAll(keepingCapacity: true)
            return try secure.read(appendingTo: &bytes, upTo: capacity)
        }
    }

    /// Reads up to `capacity` bytes after those in `bytes`.
    func read(appendingTo bytes: inout [UInt8], upTo capacity: Int) throws(StreamError) -> StreamInput {
        switch self {
        case .plain(let channel):
            let before = bytes.count
            do throws(Errno) {
                guard try channel.read(appendingTo: &bytes, upTo: capacity) else { return .none }
            } catch {
                throw .system(error)
            }
            return .some(more: bytes.count - before == capacity)
        case .tls(let secure):
            return try secure.read(appendingTo: &bytes, upTo: capacity)
        }
    }

    /// Writes bytes from `start` on. Returns how many were taken, nil if none can be now. They may not all have left:
    /// see `flush`.
    @inline(__always)
    func write(_ bytes: Bytes, from start: Int, more: Bool) throws(StreamError) -> Int? {
        switch self {
        case .plain(let channel):
            do throws(Errno) {
                return try bytes.withUnsafeBytes { buffer throws(Errno) in
                    try channel.write(UnsafeRawBufferPointer(rebasing: buffer[start...]), more: more)
                }
            } catch {
                throw .system(error)
            }
        case .tls(let secure):
            return try secure.write(bytes, from: start)
        }
    }

    /// The same for ciphertext.
    @inline(__always)
    func write(_ bytes: [UInt8], from start: Int) throws(StreamError) -> Int? {
        switch self {
        case .plain(let channel):
            do throws(Errno) {
                return try bytes.span.withUnsafeBytes { buffer throws(Errno) in
                    try channel.write(UnsafeRawBufferPointer(rebasing: buffer[start...]), more: false)
                }
            } catch {
                throw .system(error)
            }
        case .tls(let secure):
            return try secure.write(Bytes(bytes), from: start)
        }
    }

    /// Passes taken bytes to the kernel. Returns whether all of them have left.
    @inline(__always)
    func flush() throws(StreamError) -> Bool {
        switch self {
        case .plain: true
        case .tls(let secure): try secure.flush()
        }
    }

    /// Whether all taken bytes have left.
    var isFlushed: Bool {
        switch self {
        case .plain: true
        case .tls(let secure): secure.isFlushed
        }
    }

    /// Lets the stream's two directions end separately.
    func separateDirections() {
        if case .tls(let secure) = self { secure.separateDirections() }
    }

    /// Says that nothing more will be written; reading goes on. Over TLS it is said by TLS, and has left once `flush`
    /// returns true.
    func endWriting() throws(StreamError) {
        switch self {
        case .plain(let channel):
            do throws(Errno) { try channel.endWriting() } catch { throw .system(error) }
        case .tls(let secure):
            try secure.endWriting()
        }
    }

    /// Closes the stream for good. A TLS peer is told of the end.
    func close() {
        switch self {
        case .plain(let channel): channel.close()
        case .tls(let secure): secure.close()
        }
    }
}

// MARK: - Turns

extension ByteStream {
    /// Starts a turn for a new owner; nil if the stream is not fit for one.
    func beginTurn() -> UInt64? {
        if let turn = channel.beginTurn() { return turn }
        guard case .tls(let secure) = self else { return nil }
        // Another message may come while one is processed.
        for _ in 0..<Self.looks {
            guard secure.absorb() else { return nil }
            if let turn = channel.beginTurn() { return turn }
        }
        return nil
    }

    private static var looks: Int { 8 }

    /// Whether bytes have come on a new stream before anything was requested. Its end does not count, nor do messages
    /// of TLS itself.
    func hasUnaskedBytes() -> Bool {
        switch self {
        case .plain(let channel): channel.hasInput()
        case .tls(let secure): secure.hasUnaskedBytes()
        }
    }

    /// Like `isStillSilent`, for a stream that may still have to send the last message of its handshake.
    func isUntouched() -> Bool {
        guard case .tls(let secure) = self else { return channel.isStillSilent() }
        // A server may send its tickets before it has that message.
        return secure.hasNothingToRead && isSilent(secure)
    }

    /// Ends the owner's turn. Returns false if the stream is not fit for another.
    func endTurn() -> Bool {
        guard case .tls(let secure) = self else { return channel.endTurn() }
        return secure.rest() && (channel.endTurn() || isStillSilent())
    }

    /// Whether nothing has come unrequested. Messages of TLS itself do not count.
    func isStillSilent() -> Bool {
        guard case .tls(let secure) = self else { return channel.isStillSilent() }
        return secure.isAtRest && isSilent(secure)
    }

    private func isSilent(_ secure: TLSChannel) -> Bool {
        if channel.isStillSilent() { return true }
        for _ in 0..<Self.looks {
            guard secure.absorb() else { return false }
            if channel.isStillSilent() { return true }
        }
        return false
    }
}

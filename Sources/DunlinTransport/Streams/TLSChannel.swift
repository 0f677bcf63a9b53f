internal import DunlinReactor
internal import DunlinSecure
internal import DunlinTypes
internal import Synchronization

/// A stream under TLS: its users read and write plaintext, and ciphertext passes through the lower stream.
///
/// One reader and one writer may work at the same time, on two threads, which OpenSSL does not allow. So a lock
/// protects the engine and the bytes that wait to be sent: records must leave in order. For that the (non-blocking)
/// send happens under the lock; receiving does not. The lower stream may be another TLS channel, whose lock is taken
/// within this one's, never the other way.
final class TLSChannel: Sendable {
    /// The stream that ciphertext goes to and comes from.
    let lower: ByteStream
    /// What the handshake agreed on.
    let security: HTTP.ConnectionSecurity
    private let state: Mutex<State>

    fileprivate struct State: ~Copyable {
        var engine: TLSEngine
        var outbox: Outbox
        /// Plaintext beyond what its reader wanted.
        var surplus = Bytes.empty
        /// Memory for receiving ciphertext during a long body.
        var scratch: [UInt8] = []
        /// The error that ended the stream. It is reported after everything that came before it has been read.
        var failure: TLSError?
    }

    /// Takes over an engine after its handshake. `outbox` contains what must still leave, which is sent with the first
    /// request. `surplus` is plaintext that the server sent at once.
    init(
        over lower: ByteStream, _ engine: consuming TLSEngine, _ outbox: consuming Outbox, surplus: Bytes,
        _ security: HTTP.ConnectionSecurity
    ) {
        self.lower = lower
        self.security = security
        state = Mutex(State(engine: engine, outbox: outbox, surplus: surplus))
    }

    /// The lowest channel, which knows how to wait.
    var channel: Channel { lower.channel }

    /// Reads of this size keep their memory for the next.
    private static let bulk = 128 * 1024
    /// How many bytes of plaintext are made into records at once.
    private static let run = 256 * 1024
}

// MARK: - Reading

extension TLSChannel {
    func read(appendingTo bytes: inout [UInt8], upTo capacity: Int) throws(StreamError) -> StreamInput {
        let before = bytes.count
        var scratch: [UInt8] = []
        let remainder = state.withLock { state in
            if capacity >= Self.bulk { swap(&state.scratch, &scratch) }
            return state.takeRemainder(upTo: capacity)
        }
        defer { if capacity >= Self.bulk { state.withLock { $0.scratch = scratch } } }
        switch remainder {
        case .nothing: break
        case .surplus(let waiting):
            waiting.withUnsafeBytes { bytes.append(contentsOf: $0) }
            return .some(more: true)
        case .failure(let failure): throw .tls(failure)
        // The server has announced the end.
        case .end: return .some(more: false)
        }
        while true {
            guard case .some(let more) = try lower.read(into: &scratch, upTo: capacity) else { return .none }
            let status = try decrypt(scratch, behind: &bytes, upTo: before + capacity)
            if bytes.count > before { return .some(more: more || status.hasMore) }
            if status.isOver { return .some(more: false) }
            if !more { return .none }
        }
    }

    /// Decrypts what was received. Empty input means that the stream has ended; an unannounced end is an error. Content
    /// before an error is delivered first.
    private func decrypt(
        _ ciphertext: [UInt8], behind bytes: inout [UInt8], upTo limit: Int
    ) throws(StreamError) -> (isOver: Bool, hasMore: Bool) {
        // The lock's closure may not reach a caller's memory, so the array goes in and comes out.
        var plaintext: [UInt8] = []
        swap(&plaintext, &bytes)
        defer { swap(&plaintext, &bytes) }
        return try state.withLock { (state) throws(StreamError) in
            let (before, isOver) = (plaintext.count, state.take(ciphertext, into: &plaintext))
            // An answer of TLS itself, or the alert that says what is wrong.
            state.outbox.sendAtOnce(over: lower)
            if let failure = state.failure, plaintext.count == before { throw .tls(failure) }
            if plaintext.count > limit {
                state.surplus = Bytes(Array(plaintext[limit...]))
                plaintext.removeLast(plaintext.count - limit)
            }
            return (isOver, isOver || state.failure != nil || !state.surplus.isEmpty)
        }
    }
}

extension TLSChannel.State {
    /// Whether nothing waits to be read or sent. The beginning of a record counts as waiting to be read.
    fileprivate var isAtRest: Bool { hasNothingToRead && outbox.isEmpty }

    fileprivate var hasNothingToRead: Bool { engine.status == .open && surplus.isEmpty && !engine.isWithinRecord }

    /// What earlier reads left for the next.
    fileprivate enum Remainder {
        case nothing
        case surplus(Bytes)
        case failure(TLSError)
        case end
    }

    fileprivate mutating func takeRemainder(upTo capacity: Int) -> Remainder {
        if !surplus.isEmpty {
            let count = min(capacity, surplus.count)
            defer { surplus = surplus[count...] }
            return .surplus(surplus[..<count])
        }
        if let failure { return .failure(failure) }
        return engine.status == .closed ? .end : .nothing
    }

    /// Decrypts into `plaintext`. Returns whether the server has announced the end.
    fileprivate mutating func take(_ ciphertext: [UInt8], into plaintext: inout [UInt8]) -> Bool {
        do throws(TLSError) {
            guard !ciphertext.isEmpty else {
                try engine.receiveEnd()
                return true
            }
            return try ciphertext.span.withUnsafeBytes { input throws(TLSError) in
                try engine.receive(input, into: &plaintext, answering: &outbox.bytes)
            } == .closed
        } catch {
            failure = error
            return false
        }
    }
}

// MARK: - Writing

extension TLSChannel {
    /// Takes bytes to send. Returns how many; nil while earlier ones have not left.
    func write(_ bytes: Bytes, from start: Int) throws(StreamError) -> Int? {
        try state.withLock { (state) throws(StreamError) in
            if state.outbox.isStuck, try !state.outbox.send(over: lower) { return nil }
            let piece = start..<min(start + Self.run, bytes.count)
            do throws(TLSError) {
                try bytes.withUnsafeBytes { plaintext throws(TLSError) in
                    try state.engine.send(
                        UnsafeRawBufferPointer(rebasing: plaintext[piece]), into: &state.outbox.bytes)
                }
            } catch {
                throw .tls(error)
            }
            _ = try state.outbox.send(over: lower)
            return piece.count
        }
    }

    func separateDirections() {
        state.withLock { $0.engine.separateDirections() }
    }

    /// Says that nothing more will be written, behind what waits to be sent.
    func endWriting() throws(StreamError) {
        try state.withLock { (state) throws(StreamError) in
            do throws(TLSError) { try state.engine.endSending(into: &state.outbox.bytes) } catch { throw .tls(error) }
        }
    }

    /// Sends what waits to be sent. Returns whether all of it has left.
    func flush() throws(StreamError) -> Bool {
        try state.withLock { (state) throws(StreamError) in try state.outbox.send(over: lower) }
    }

    /// Whether all of it has left. The reader sends too.
    var isFlushed: Bool { state.withLock { $0.outbox.isEmpty } && lower.isFlushed }
}

// MARK: - Between requests

extension TLSChannel {
    /// Whether nothing is left of the last exchange, here or below.
    var isAtRest: Bool { state.withLock { $0.isAtRest } && lower.secure?.isAtRest ?? true }

    /// Whether nothing waits to be read, though something may have to be sent.
    var hasNothingToRead: Bool { state.withLock { $0.hasNothingToRead } && lower.secure?.hasNothingToRead ?? true }

    /// Ends an exchange, and releases its memory. Returns false if the stream is not fit for another.
    func rest() -> Bool {
        let isAtRest = state.withLock { state in
            if state.scratch.capacity > 0 { state.scratch = [] }
            return state.isAtRest
        }
        return isAtRest && lower.secure?.rest() ?? true
    }

    /// Processes what came while the channel was idle. Tickets and key updates concern only TLS. Returns false if there
    /// was more, or the beginning of what may be more.
    func absorb() -> Bool {
        var (scratch, plaintext): ([UInt8], [UInt8]) = ([], [])
        do throws(StreamError) {
            while case .some(let more) = try lower.read(into: &scratch, upTo: Self.smallRead) {
                let status = try decrypt(scratch, behind: &plaintext, upTo: 0)
                if status.isOver || status.hasMore { return false }
                if !more { break }
            }
            return isBetweenRecords
        } catch {
            return false
        }
    }

    /// Whether unrequested plaintext has come. A record that is still arriving may be TLS's own. Errors of the stream
    /// appear with the next read or write.
    func hasUnaskedBytes() -> Bool {
        var (scratch, plaintext): ([UInt8], [UInt8]) = ([], [])
        do throws(StreamError) {
            while case .some(let more) = try lower.read(into: &scratch, upTo: Self.smallRead) {
                let status = try decrypt(scratch, behind: &plaintext, upTo: 0)
                if status.isOver || status.hasMore || !more { break }
            }
        } catch {}
        return state.withLock { !$0.surplus.isEmpty }
    }

    private var isBetweenRecords: Bool {
        state.withLock { !$0.engine.isWithinRecord } && lower.secure?.isBetweenRecords ?? true
    }

    private static let smallRead = 4 * 1024

    /// Tells the peer of the end, if that needs no wait, and closes.
    func close() {
        state.withLock { state in
            guard state.outbox.isEmpty else { return }
            state.engine.close(into: &state.outbox.bytes)
            state.outbox.sendAtOnce(over: lower)
        }
        lower.close()
    }
}

internal import DunlinReactor
internal import DunlinTypes
internal import Synchronization

/// The connection after a 101: bytes of another protocol, both ways, by the rules of `DuplexMachine`.
///
/// It owns the lease, which never goes back to the pool: until the connection is closed it counts against the limits,
/// and then it is gone. Nothing is read ahead, and a writer waits while the kernel's buffer is full.
///
/// Cancelling a read or a write closes the connection, since nobody knows how far it came. A cancelled call closes it
/// too, at once. When the peer takes nothing more, only writing has failed: what it sent before can be read.
final class UpgradedStream: TransportResponse.DuplexStream {
    fileprivate struct State: ~Copyable {
        var machine = DuplexMachine()
        /// Nil once the connection is closed.
        var lease: Lease?
        /// What came with the head and has not been read.
        var unread: Bytes
        /// Whether the last read filled its buffer, so that there may be more.
        var mayHaveMore: Bool
        var readSize = UpgradedStream.smallestRead
        var hop: HTTP.Hop
        /// Why the connection was closed before both directions were over, or why writing failed.
        var failure: (any Error)?
    }

    let context: ExchangeContext
    private let state: Mutex<State>

    fileprivate static let smallestRead = 4 * 1024
    private static let largestRead = 256 * 1024

    /// Takes over the connection. `unread` are the bytes behind the head.
    init(
        _ lease: consuming Lease, _ context: ExchangeContext, unread: Bytes, mayHaveMore: Bool, after hop: HTTP.Hop
    ) {
        self.context = context
        lease.connection.stream.separateDirections()
        state = Mutex(State(lease: lease, unread: unread, mayHaveMore: mayHaveMore, hop: hop))
    }

    deinit { context.cancellation.disarm() }

    var expectedLength: Int? { nil }
    var trailers: Fields { Fields() }
    var hop: HTTP.Hop { state.withLock { $0.hop } }
    var isOpen: Bool { state.withLock { !$0.machine.isClosed } }

    func close() {
        end(NetworkError(.connectionClosed, "this side has closed the connection", phase: .receive))
    }

    /// Closes the connection; reads and writes that wait, and later ones, get `error`.
    func discard(_ error: any Error) { end(error) }
}

// MARK: - Reading

extension UpgradedStream {
    fileprivate enum Reading {
        case deliver(Bytes)
        case read(ByteStream, mayHaveMore: Bool, size: Int, HTTP.Hop)
        case over
        case fail((any Error)?)
    }

    func next() async throws -> Bytes? {
        try await withTaskCancellationHandler {
            try await read()
        } onCancel: {
            closeForCancel()
        }
    }

    private func read() async throws -> Bytes? {
        switch state.withLock({ $0.beginReading() }) {
        case .over: return nil
        case .fail(let error): throw explained(error ?? Self.busy("read"))
        case .deliver(let bytes):
            // They came with the head.
            context.observer?.sees(received: bytes, as: .body)
            context.control?.received(upTo: hop.bodyBytes)
            return bytes
        case .read(let stream, let mayHaveMore, let size, var hop):
            let start = context.clock.now()
            do {
                var reader = ResponseReader(stream, context, mayHaveMore: mayHaveMore)
                let bytes = try await reader.next(upTo: size, in: .receive, since: start, &hop)
                return took(bytes, size, mayHaveMore: reader.mayHaveMore, hop, since: start)
            } catch {
                waited(in: .receive, since: start)
                throw failed(error)
            }
        }
    }

    /// Notes what a read has brought. Returns it; nil at the end.
    private func took(
        _ bytes: [UInt8], _ size: Int, mayHaveMore: Bool, _ hop: HTTP.Hop, since start: HTTP.Instant
    ) -> Bytes? {
        waited(in: .receive, since: start)
        let isFilled = bytes.count >= size
        // A few bytes must not keep a large buffer in memory if the reader retains them.
        let piece = bytes.count * 16 < size ? Bytes(bytes.map(\.self)) : Bytes(bytes)
        let (action, count) = state.withLock { state in
            state.mayHaveMore = mayHaveMore
            state.readSize = isFilled ? min(size * 4, Self.largestRead) : max(bytes.count, Self.smallestRead)
            state.hop.bytesReceived = hop.bytesReceived
            state.hop.count(bytes.count)
            return (state.machine.endReading(isOver: bytes.isEmpty), state.hop.bodyBytes)
        }
        context.observer?.sees(received: piece, as: .both)
        context.control?.received(upTo: count)
        if action == .close { end(state.withLock { $0.failure }) }
        return bytes.isEmpty ? nil : piece
    }
}

extension UpgradedStream.State {
    fileprivate mutating func beginReading() -> UpgradedStream.Reading {
        switch machine.beginReading() {
        case .over: return .over
        case .busy: return .fail(nil)
        case .closed: return .fail(failure ?? UpgradedStream.gone)
        case .proceed: break
        }
        if !unread.isEmpty {
            defer { unread = .empty }
            _ = machine.endReading()
            hop.count(unread.count)
            return .deliver(unread)
        }
        guard let stream = lease?.connection.stream else { return .fail(UpgradedStream.gone) }
        return .read(stream, mayHaveMore: mayHaveMore, size: readSize, hop)
    }

    fileprivate mutating func beginWriting() -> UpgradedStream.Writing {
        switch machine.beginWriting() {
        case .over: return .over
        case .busy: return .fail(nil)
        case .closed: return .fail(failure ?? UpgradedStream.gone)
        case .proceed: break
        }
        guard let stream = lease?.connection.stream else { return .fail(UpgradedStream.gone) }
        return .write(stream, hop)
    }
}

extension HTTP.Hop {
    /// Counts bytes that the reader was given.
    fileprivate mutating func count(_ count: Int) {
        bodyBytes += count
        decodedBytes += count
    }
}

// MARK: - Writing

extension UpgradedStream {
    fileprivate enum Writing {
        case write(ByteStream, HTTP.Hop)
        case over
        case fail((any Error)?)
    }

    func write(_ bytes: Bytes) async throws {
        try await writing { writer, hop in
            context.observer?.sees(sent: bytes, as: .both)
            try await writer.write(bytes, counted: true, &hop)
        }
    }

    func finishWriting() async throws {
        try await writing(isLast: true) { writer, hop in
            try await writer.pass(hop)
            do throws(StreamError) {
                try writer.stream.endWriting()
            } catch {
                throw context.broken(error, .send, hop)
            }
            // Over TLS the end is a message of its own.
            try await writer.write(.empty, &hop)
        }
    }

    private func writing(
        isLast: Bool = false, _ write: (RequestWriter, inout HTTP.Hop) async throws -> Void
    ) async throws {
        try await withTaskCancellationHandler {
            switch state.withLock({ $0.beginWriting() }) {
            case .over:
                if isLast { return }
                throw explained(
                    NetworkError(.connectionClosed, "this side has already ended its writing", phase: .send))
            case .fail(let error): throw explained(error ?? Self.busy("written to"))
            case .write(let stream, var hop):
                let start = context.clock.now()
                do {
                    try await write(RequestWriter(context: context, stream: stream), &hop)
                } catch {
                    wrote(hop, since: start)
                    throw failedWriting(error)
                }
                wrote(hop, since: start)
                if state.withLock({ $0.machine.endWriting(isOver: isLast) }) == .close { end(nil) }
            }
        } onCancel: {
            closeForCancel()
        }
    }
}

extension UpgradedStream {
    /// Notes what a write has sent, and how long it took.
    private func wrote(_ hop: HTTP.Hop, since start: HTTP.Instant) {
        state.withLock { $0.hop.bytesSent = hop.bytesSent }
        waited(in: .send, since: start)
    }

    /// Counts the time of a read or a write. The two directions are independent, so their times may overlap.
    private func waited(in phase: HTTP.Phase, since start: HTTP.Instant) {
        let time = context.clock.now().nanoseconds - start.nanoseconds
        state.withLock { $0.hop[phase] += time }
    }
}

// MARK: - The end

extension UpgradedStream {
    fileprivate static var gone: NetworkError {
        NetworkError(.connectionClosed, "the connection has been closed", phase: .receive)
    }

    private static var cancelled: NetworkError {
        NetworkError(.cancelled, "a task that used the connection was cancelled", phase: .receive)
    }

    private static func busy(_ what: String) -> NetworkError {
        NetworkError(.bodyConsumed, "the connection is already being \(what) by another task", phase: .receive)
    }

    private func closeForCancel() {
        end(Self.cancelled)
    }

    /// Closes the connection, once. Without an error, both directions are over.
    private func end(_ error: (any Error)?) {
        let now = context.clock.now()
        // Released outside the lock, since that closes the connection.
        let lease = state.withLock { state -> Lease? in
            let isOver = state.machine.close() == .none
            guard state.lease != nil else { return nil }
            if !isOver { state.failure = error }
            state.hop.ended = now
            state.unread = .empty
            return state.lease.take()
        }
        guard let lease else { return }
        context.cancellation.disarm()
        let count = hop.bodyBytes
        context.observer?.saw(
            error == nil ? .responseEnd(bodyBytes: count, trailers: Fields()) : .responseLeft(bodyBytes: count))
        _ = consume lease
    }

    /// Closes the connection after a failure of one direction. Returns the error for its user.
    private func failed(_ error: any Error) -> any Error {
        // Whoever closed it meanwhile has said why.
        let known = state.withLock { $0.machine.isClosed ? $0.failure : nil }
        let error = explained(known ?? error)
        if known == nil {
            context.observer?.saw(.failed(error))
            end(error)
        }
        return error
    }

    /// Ends writing after its failure. The connection is closed too, unless the peer may have said why.
    private func failedWriting(_ error: any Error) -> any Error {
        guard let lost = error as? NetworkError, lost.code == .connectionClosed, !Task.isCancelled,
            context.cancellation.cause == nil
        else { return failed(error) }
        let explained = explained(error)
        let action = state.withLock { state -> DuplexMachine.Action? in
            if state.machine.isClosed { return nil }
            state.failure = explained
            return state.machine.failWriting()
        }
        guard let action else { return failed(error) }
        context.observer?.saw(.failed(explained))
        if action == .close { end(explained) }
        return explained
    }

    /// The error for somebody whose own task may have been cancelled.
    private func explained(_ error: any Error) -> any Error {
        if Task.isCancelled { return CancellationError() }
        guard var failure = error as? NetworkError else {
            // It was the task that made the call.
            return error is CancellationError ? explained(Self.cancelled) : error
        }
        // The other protocol has begun, and nobody knows what it did.
        (failure.requestMayHaveBeenSent, failure.isSafeToRetry) = (true, false)
        if failure.code == .timedOut { failure.reason = "timed out waiting for the peer of the upgraded connection" }
        var hop = hop
        if isOpen { hop.ended = context.clock.now() }
        // Without the time in which nobody used the connection.
        failure.hop = hop
        return failure
    }
}

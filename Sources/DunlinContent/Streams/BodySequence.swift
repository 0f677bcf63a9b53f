internal import Synchronization

/// A response body as it arrives. It is received only as fast as it is read: a slow reader stalls the server and does
/// not fill memory.
///
/// It can be read only once: a second iterator throws a `NetworkError` with code `bodyConsumed`.
public struct BodySequence: AsyncSequence, Sendable {
    public typealias Element = Bytes
    public typealias Failure = any Error

    /// The state that all copies share: whether somebody reads, and whether the stream is still open.
    package final class Source: Sendable {
        enum Claim: UInt8, AtomicRepresentable {
            case free
            case taken
            case closed
        }

        package let body: TransportResponse.Body
        /// The trailers of a body that is in memory.
        let trailers: Fields
        /// The declared length of a body that is in memory.
        let declaredLength: Int?
        private let claim = Atomic(Claim.free)
        private let hasEnded = Atomic(false)

        init(_ body: TransportResponse.Body, _ trailers: Fields, _ declaredLength: Int?) {
            self.body = body
            self.trailers = trailers
            self.declaredLength = declaredLength
        }

        /// Claims the body. Returns nil for the first caller, an error for all others.
        func take() -> NetworkError? {
            switch change(to: .taken) {
            case .free: return nil
            case .taken: return NetworkError(.bodyConsumed, "the body can be read once only", phase: .receive)
            case .closed: return Self.scopeHasEnded
            }
        }

        /// Notes that the last piece has been read.
        func noteEnd() { hasEnded.store(true, ordering: .releasing) }

        /// Whether nothing of the body is left to receive.
        package var isRead: Bool {
            if case .bytes = body { return true }
            return hasEnded.load(ordering: .acquiring)
        }

        /// The error for whoever reads after the end of the scope that owns the response.
        package static var scopeHasEnded: NetworkError {
            NetworkError(
                .bodyConsumed,
                "the body can be read only until the closure of `withResponse` returns; use `stream` to read it later",
                phase: .receive)
        }

        package func close() {
            _ = change(to: .closed)
        }

        /// Sets the claim if it is free. Returns the previous one.
        private func change(to claim: Claim) -> Claim {
            self.claim.compareExchange(expected: .free, desired: claim, ordering: .acquiringAndReleasing).original
        }
    }

    package let source: Source
    /// The owner, if the response may leave its scope.
    package var owner: BodyOwner?
    /// Adds the request's name to the errors of reading.
    package var naming: (@Sendable (any Error) -> any Error)?

    package init(_ body: TransportResponse.Body, _ trailers: Fields, declaredLength: Int?) {
        source = Source(body, trailers, declaredLength)
    }

    /// The error with the name of the body's request.
    package func named(_ error: NetworkError) -> NetworkError {
        naming?(error) as? NetworkError ?? error
    }

    /// The length that the server declared; nil if it declared none, and for content that is decoded, since the length
    /// is not its own. It does not depend on how much of the body came with the head.
    public var expectedLength: Int? {
        switch source.body {
        case .bytes: source.declaredLength
        case .stream(let stream): stream.expectedLength
        }
    }

    /// The trailer fields; empty until the body has been read to its end.
    public var trailers: Fields {
        switch source.body {
        case .bytes: source.trailers
        case .stream(let stream): stream.trailers
        }
    }

    public func makeAsyncIterator() -> Iterator {
        if let refusal = source.take() { return Iterator(state: .refused(refusal), naming: naming) }
        switch source.body {
        case .bytes(let bytes):
            return Iterator(state: bytes.isEmpty ? .over : .whole(bytes), owner: owner, naming: naming)
        case .stream(let stream): return Iterator(state: .streaming(stream, source), owner: owner, naming: naming)
        }
    }

    public struct Iterator: AsyncIteratorProtocol {
        enum State {
            case whole(Bytes)
            case streaming(any TransportResponse.BodyStream, Source)
            case over
            case refused(any Error)
        }

        var state: State
        var owner: BodyOwner?
        var naming: (@Sendable (any Error) -> any Error)?

        public mutating func next() async throws -> Bytes? {
            switch state {
            case .refused(let error): throw naming?(error) ?? error
            case .over:
                owner?.end()
                return nil
            case .whole(let bytes):
                state = .over
                return bytes
            case .streaming(let stream, let source):
                if let piece = try await piece(of: stream) { return piece }
                source.noteEnd()
                state = .over
                owner?.end()
                return nil
            }
        }

        private func piece(of stream: any TransportResponse.BodyStream) async throws -> Bytes? {
            do {
                return try await stream.next()
            } catch {
                // A second reader's error does not end the body.
                if (error as? NetworkError)?.code != .bodyConsumed { owner?.end(error) }
                throw naming?(error) ?? error
            }
        }
    }
}

extension TransportResponse {
    /// The declared length of a body that is in memory.
    package var declaredLength: Int? {
        guard case .bytes(let bytes) = body, let declared = head.fields["content-length"],
            !head.fields.contains("transfer-encoding")
        else { return nil }
        // A response to HEAD declares a length without a body, and one length may be repeated.
        let length = Int(declared.prefix { $0 != "," && $0 != " " })
        return length == bytes.count ? length : nil
    }
}

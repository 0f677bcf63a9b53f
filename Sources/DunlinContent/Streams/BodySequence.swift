internal import Synchronization

/// A response body as it arrives. Reading pulls: a slow reader stalls the server instead of filling memory.
///
/// Single-pass: the iterator made second throws `NetworkError` with code `bodyConsumed`.
public struct BodySequence: AsyncSequence, Sendable {
    public typealias Element = Bytes
    public typealias Failure = any Error

    /// Shared by all copies: whether somebody reads, and whether the stream is still open.
    package final class Source: Sendable {
        enum Claim: UInt8, AtomicRepresentable {
            case free
            case taken
            case closed
        }

        package let body: TransportResponse.Body
        /// The trailers of a body that is here already.
        let trailers: Fields
        /// The declared length of a body that is here already.
        let declaredLength: Int?
        private let claim = Atomic(Claim.free)

        init(_ body: TransportResponse.Body, _ trailers: Fields, _ declaredLength: Int?) {
            self.body = body
            self.trailers = trailers
            self.declaredLength = declaredLength
        }

        /// Claims the body: nil for the first caller, an error for all others.
        func take() -> NetworkError? {
            switch change(to: .taken) {
            case .free: return nil
            case .taken: return NetworkError(.bodyConsumed, "the body can be read once only", phase: .receive)
            case .closed: return NetworkError(.bodyConsumed, "the stream has ended", phase: .receive)
            }
        }

        package func close() {
            _ = change(to: .closed)
        }

        /// Changes the claim if it is free. Returns what it was.
        private func change(to claim: Claim) -> Claim {
            self.claim.compareExchange(expected: .free, desired: claim, ordering: .acquiringAndReleasing).original
        }
    }

    package let source: Source
    /// The owner of a response that may leave its scope.
    package var owner: BodyOwner?
    /// Names the request in the errors of reading.
    package var naming: (@Sendable (any Error) -> any Error)?

    package init(_ body: TransportResponse.Body, _ trailers: Fields, declaredLength: Int?) {
        source = Source(body, trailers, declaredLength)
    }

    /// The error with the name of the request whose body this is.
    package func named(_ error: NetworkError) -> NetworkError {
        naming?(error) as? NetworkError ?? error
    }

    /// The length the server declared, if it did; nil for content that is decoded, whose length it is not. How much of
    /// the body came together with the head makes no difference.
    public var expectedLength: Int? {
        switch source.body {
        case .bytes: source.declaredLength
        case .stream(let stream): stream.expectedLength
        }
    }

    /// Trailer fields, once the body has been read to its end.
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
        case .stream(let stream): return Iterator(state: .streaming(stream), owner: owner, naming: naming)
        }
    }

    public struct Iterator: AsyncIteratorProtocol {
        enum State {
            case whole(Bytes)
            case streaming(any TransportResponse.BodyStream)
            case over
            case refused(NetworkError)
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
            case .streaming(let stream):
                if let piece = try await piece(of: stream) { return piece }
                state = .over
                owner?.end()
                return nil
            }
        }

        private func piece(of stream: any TransportResponse.BodyStream) async throws -> Bytes? {
            do {
                return try await stream.next()
            } catch {
                // That somebody else is reading does not end the body.
                if (error as? NetworkError)?.code != .bodyConsumed { owner?.end(error) }
                throw naming?(error) ?? error
            }
        }
    }
}

extension TransportResponse {
    /// The length that the server declared of a body that is here already.
    package var declaredLength: Int? {
        guard case .bytes(let bytes) = body, let declared = head.fields["content-length"],
            !head.fields.contains("transfer-encoding")
        else { return nil }
        // A response to HEAD declares what it does not have, and one length may be said twice.
        let length = Int(declared.prefix { $0 != "," && $0 != " " })
        return length == bytes.count ? length : nil
    }
}

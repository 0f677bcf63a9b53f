public import Dunlin
internal import DunlinTransport
public import DunlinTypes

extension MockTransport {
    /// What happens to a request.
    public struct Outcome: Sendable {
        enum Kind: Sendable {
            case respond(ResponseHead, Content)
            case fail(@Sendable (TransportRequest) -> any Error)
            case never
        }

        enum Content: Sendable {
            case whole(Bytes)
            case pieces(length: Int?, trailers: Fields, Piece)
            case upgrade(Peer)
        }

        /// The peer of a connection that speaks another protocol.
        struct Peer: Sendable {
            let sends: Piece
            let receives: @Sendable (Bytes?) async throws -> Void
        }

        /// Returns the piece of a body with this number, from 0; nil after the last.
        public typealias Piece = @Sendable (Int) async throws -> Bytes?

        let kind: Kind
        var delay = Duration.zero

        init(_ kind: Kind) {
            self.kind = kind
        }

        public static func respond(
            _ status: HTTP.Status = .ok, fields: Fields = Fields(), body: Bytes = .empty
        ) -> Outcome {
            Outcome(.respond(ResponseHead(version: .http11, status: status, fields: fields), .whole(body)))
        }

        /// Responds with a value as JSON, with its content type unless `fields` has one. A value that cannot be encoded
        /// makes the request fail with the encoder's error.
        @_disfavoredOverload
        public static func respond(
            _ status: HTTP.Status = .ok, fields: Fields = Fields(), json value: some Encodable,
            coding: HTTP.JSON = .standard
        ) -> Outcome {
            encoding(value, status, fields, coding)
        }

        /// Responds with JSON of any structure: `.respond(json: ["id": 42, "name": "Ada", "tags": [1, "x", nil]])`.
        public static func respond(
            _ status: HTTP.Status = .ok, fields: Fields = Fields(), json value: DynamicValue,
            coding: HTTP.JSON = .standard
        ) -> Outcome {
            encoding(value, status, fields, coding)
        }

        private static func encoding(
            _ value: some Encodable, _ status: HTTP.Status, _ fields: Fields, _ coding: HTTP.JSON
        ) -> Outcome {
            var fields = fields
            if !fields.contains("Content-Type") { fields.append(name: "Content-Type", value: "application/json") }
            do {
                return .respond(status, fields: fields, body: try coding.encode(value))
            } catch {
                return .fail(error)
            }
        }

        /// Responds with a body in pieces, each made on demand; the trailers follow the last. `failing` replaces the
        /// end.
        public static func stream(
            _ pieces: [Bytes], status: HTTP.Status = .ok, fields: Fields = Fields(), length: Int? = nil,
            trailers: Fields = Fields(), failing error: (any Error)? = nil
        ) -> Outcome {
            .stream(status: status, fields: fields, length: length, trailers: trailers) { index in
                if index < pieces.count { return pieces[index] }
                if let error { throw error }
                return nil
            }
        }

        /// Responds with a body whose pieces `piece` makes on demand, one at a time. It may wait, and should end when
        /// its task is cancelled.
        public static func stream(
            status: HTTP.Status = .ok, fields: Fields = Fields(), length: Int? = nil, trailers: Fields = Fields(),
            _ piece: @escaping Piece
        ) -> Outcome {
            let head = ResponseHead(version: .http11, status: status, fields: fields)
            return Outcome(.respond(head, .pieces(length: length, trailers: trailers, piece)))
        }

        /// Switches to another protocol that the request offers. `sends` returns what the peer sends, piece by piece,
        /// and nil when it sends no more; `receives` is called with each write, and with nil when the client finishes
        /// writing. Both may wait, and should end when their task is cancelled. An error of `sends` closes the
        /// connection; after one of `receives` nothing can be written, and what is sent can still be read.
        public static func upgrade(
            to protocol: String, fields: Fields = Fields(), sends: @escaping Piece,
            receives: @escaping @Sendable (Bytes?) async throws -> Void
        ) -> Outcome {
            var fields = fields
            if !fields.contains("Connection") { fields.append(name: "Connection", value: "Upgrade") }
            if !fields.contains("Upgrade") { fields.append(name: "Upgrade", value: `protocol`) }
            let head = ResponseHead(version: .http11, status: .switchingProtocols, fields: fields)
            return Outcome(.respond(head, .upgrade(Peer(sends: sends, receives: receives))))
        }

        public static func fail(_ failure: Failure) -> Outcome {
            Outcome(.fail { failure.make($0) })
        }

        public static func fail(_ error: any Error) -> Outcome {
            Outcome(.fail { _ in error })
        }

        /// There is no answer until the request is cancelled or times out.
        public static var never: Outcome { Outcome(.never) }

        /// Returns the same outcome, this much later on the transport's clock.
        public func delayed(_ duration: Duration) -> Outcome {
            var outcome = self
            outcome.delay += duration
            return outcome
        }
    }
}

extension MockTransport.Outcome {
    /// Performs the outcome: returns a response in its time, or throws.
    func perform(
        _ request: TransportRequest, on clock: any Clock<Duration>
    ) async throws -> (ResponseHead, Content) {
        if delay > .zero { try await clock.sleep(for: delay) }
        switch kind {
        case .fail(let error):
            throw error(request)
        case .never:
            // A clock that nobody moves, so this ends only by cancellation.
            try await ManualClock().sleep(for: .seconds(1))
            throw CancellationError()
        case .respond(let head, let content):
            return (head, content)
        }
    }
}

extension MockTransport.Outcome.Content {
    /// The response that a client makes from the bytes which a server would send for this head and content. The request
    /// was sent at `sent`, with this hop.
    func response(
        to exchange: CheckedExchange, _ head: ResponseHead, since sent: HTTP.Instant, _ hop: HTTP.Hop
    ) throws -> TransportResponse {
        let bytes = LoopbackServer.Message(head.status, fields: head.fields).bytes
        let answer = try exchange.answer(bytes, since: sent, hop)
        if case .upgrade(let peer) = self {
            let connection = MockConnection(peer, after: answer.hop, on: exchange.loop)
            return TransportResponse(
                head: answer.head, interim: answer.interim, body: .stream(connection), hop: answer.hop)
        }
        let (body, hop) = try body(of: answer)
        return TransportResponse(head: answer.head, interim: answer.interim, body: body, hop: hop)
    }

    private func body(of answer: CheckedAnswer) throws -> (TransportResponse.Body, HTTP.Hop) {
        switch self {
        case .whole(let bytes):
            var body = answer.body(ofLength: bytes.count)
            if !body.isFinished, !body.isChunked {
                let whole = try body.take(bytes)
                if body.isFinished { return (.bytes(whole), body.hop) }
            }
            return Self.body(answer.body(ofLength: bytes.count), Fields()) { $0 == 0 ? bytes : nil }
        case .pieces(let length, let trailers, let piece):
            // Only a chunked body has trailers.
            return Self.body(answer.body(ofLength: trailers.isEmpty ? length : nil), trailers, piece)
        case .upgrade: return Self.body(answer.body(ofLength: 0), Fields()) { _ in nil }
        }
    }

    private static func body(
        _ body: CheckedBody, _ trailers: Fields, _ piece: @escaping MockTransport.Outcome.Piece
    ) -> (TransportResponse.Body, HTTP.Hop) {
        (body.isFinished ? .bytes(.empty) : .stream(MockBody(body, trailers, piece)), body.hop)
    }
}

extension MockTransport.Outcome: CustomStringConvertible {
    public var description: String {
        let text =
            switch kind {
            case .respond(let head, .whole(let bytes)): "respond \(head.status), \(bytes)"
            case .respond(let head, .pieces): "stream \(head.status)"
            case .respond(let head, .upgrade): "upgrade to \(head.fields["Upgrade"] ?? "")"
            case .fail: "fail"
            case .never: "never"
            }
        return delay > .zero ? "\(text) after \(delay)" : text
    }
}

public import Dunlin
public import DunlinTypes

extension MockTransport {
    /// What becomes of one request.
    public struct Outcome: Sendable {
        enum Kind: Sendable {
            case respond(ResponseHead, Content)
            case fail(@Sendable (TransportRequest) -> any Error)
            case never
        }

        enum Content: Sendable {
            case whole(Bytes)
            case pieces(length: Int?, trailers: Fields, Piece)
        }

        /// The piece of a body with this number, counted from 0; nil after the last.
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

        /// The value as JSON, with its content type unless `fields` names one. A value that cannot be encoded makes
        /// the request fail with the encoder's error.
        public static func respond(
            _ status: HTTP.Status = .ok, fields: Fields = Fields(), json value: some Encodable,
            coding: HTTP.JSON = .standard
        ) -> Outcome {
            var fields = fields
            if !fields.contains("Content-Type") { fields.append(name: "Content-Type", value: "application/json") }
            do {
                return .respond(status, fields: fields, body: try coding.encode(value))
            } catch {
                return .fail(error)
            }
        }

        /// A body in pieces, each made when it is asked for; trailers are there after the last. `failing` takes the
        /// place of the end.
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

        /// A body whose pieces are made by `piece` as they are asked for, one at a time. It may wait, and should end
        /// when its task is cancelled.
        public static func stream(
            status: HTTP.Status = .ok, fields: Fields = Fields(), length: Int? = nil, trailers: Fields = Fields(),
            _ piece: @escaping Piece
        ) -> Outcome {
            let head = ResponseHead(version: .http11, status: status, fields: fields)
            return Outcome(.respond(head, .pieces(length: length, trailers: trailers, piece)))
        }

        public static func fail(_ failure: Failure) -> Outcome {
            Outcome(.fail { failure.make($0) })
        }

        public static func fail(_ error: any Error) -> Outcome {
            Outcome(.fail { _ in error })
        }

        /// No answer until the request is cancelled or times out.
        public static var never: Outcome { Outcome(.never) }

        /// The same, that much later on the transport's clock.
        public func delayed(_ duration: Duration) -> Outcome {
            var outcome = self
            outcome.delay += duration
            return outcome
        }
    }
}

extension MockTransport.Outcome {
    func perform(_ request: TransportRequest, on clock: any Clock<Duration>) async throws -> TransportResponse {
        if delay > .zero { try await clock.sleep(for: delay) }
        switch kind {
        case .fail(let error):
            throw error(request)
        case .never:
            // A clock that nobody moves: ends by cancellation only.
            try await ManualClock().sleep(for: .seconds(1))
            throw CancellationError()
        case .respond(let head, let content):
            return TransportResponse(head: head, body: content.body(of: head, answering: request.head.method))
        }
    }
}

extension MockTransport.Outcome.Content {
    /// Without what HTTP gives such a response no room for.
    fileprivate func body(of head: ResponseHead, answering method: HTTP.Method) -> TransportResponse.Body {
        if method == .head || head.status == .noContent || head.status == .notModified { return .bytes(.empty) }
        switch self {
        case .whole(let bytes): return .bytes(bytes)
        case .pieces(let length, let trailers, let piece):
            return .stream(MockBody(length: length, trailers: trailers, piece))
        }
    }
}

extension MockTransport.Outcome: CustomStringConvertible {
    public var description: String {
        let text =
            switch kind {
            case .respond(let head, .whole(let bytes)): "respond \(head.status), \(bytes)"
            case .respond(let head, .pieces): "stream \(head.status)"
            case .fail: "fail"
            case .never: "never"
            }
        return delay > .zero ? "\(text) after \(delay)" : text
    }
}

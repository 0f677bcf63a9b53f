#if OpenAPI
    import Dunlin
    import HTTPTypes
    import OpenAPIRuntime

    extension RequestBody {
        /// The same body: read as it is sent, and again if it can be iterated again. Its type is for the operation's
        /// fields to say.
        init(_ body: HTTPBody?) throws {
            guard let body else {
                self = .none
                return
            }
            let length = try Self.length(of: body)
            let pieces = RequestPieces(body: body)
            self =
                switch body.iterationBehavior {
                case .multiple: .replayable(length: length, contentType: nil) { pieces }
                case .single: .stream(pieces, length: length, contentType: nil)
                }
        }

        private static func length(of body: HTTPBody) throws -> Int? {
            guard case .known(let known) = body.length else { return nil }
            guard let length = Int(exactly: known), length >= 0 else {
                throw NetworkError(.invalidRequest, "the body's length is negative")
            }
            return length
        }
    }

    /// The pieces of a request's body, each taken when the one before it has been sent.
    private struct RequestPieces: AsyncSequence, Sendable {
        let body: HTTPBody

        struct Iterator: AsyncIteratorProtocol {
            var chunks: HTTPBody.Iterator

            /// The runtime's iterator leaves its caller's executor, and so does this.
            @concurrent mutating func next() async throws -> Bytes? { try await chunks.next().map { Bytes(Array($0)) } }
        }

        func makeAsyncIterator() -> Iterator { Iterator(chunks: body.makeAsyncIterator()) }
    }

    extension HTTPBody {
        /// The response's body; nil if the response can have none.
        convenience init?(
            _ body: BodySequence, of status: HTTP.Status, to method: HTTPRequest.Method, _ operationID: String
        ) {
            if method == .head || status == .noContent || status == .notModified { return nil }
            // The length of decoded content is not known, whatever Content-Length says.
            let length = body.expectedLength.map { Length.known(Int64($0)) } ?? .unknown
            self.init(
                ResponsePieces(body: body, operationID: operationID), length: length, iterationBehavior: .single)
        }
    }

    /// The pieces of a response's body as they come. Errors name the operation.
    private struct ResponsePieces: AsyncSequence, Sendable {
        let body: BodySequence
        let operationID: String

        struct Iterator: AsyncIteratorProtocol {
            var pieces: BodySequence.Iterator
            let operationID: String

            mutating func next() async throws -> HTTPBody.ByteChunk? {
                do {
                    return try await pieces.next().map { $0.array[...] }
                } catch {
                    throw OperationName.added(to: error, operationID)
                }
            }
        }

        func makeAsyncIterator() -> Iterator { Iterator(pieces: body.makeAsyncIterator(), operationID: operationID) }
    }
#endif

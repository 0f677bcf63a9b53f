/// What follows a request's head, and whether it can be said again.
public struct RequestBody: Sendable {
    public typealias Chunks = AsyncSequence<Bytes, any Error> & Sendable

    public enum Content: Sendable {
        case none
        case bytes(Bytes)
        /// `make` is called once per sending. A one-shot body is never sent a second time.
        case stream(length: Int?, isReplayable: Bool, make: @Sendable () -> any Chunks)
    }

    public let content: Content
    /// What Content-Type to send when the caller names none.
    public let contentType: String?
    /// What `Content-Encoding` to send: how the content was coded.
    public var contentEncoding: String?

    @inlinable public init(_ content: Content, contentType: String? = nil) {
        self.content = content
        self.contentType = contentType
    }

    @inlinable public static var none: RequestBody { RequestBody(.none) }

    public static func bytes(_ bytes: Bytes, contentType: String? = "application/octet-stream") -> RequestBody {
        RequestBody(.bytes(bytes), contentType: contentType)
    }

    public static func string(_ text: String, contentType: String? = "text/plain; charset=utf-8") -> RequestBody {
        RequestBody(.bytes(Bytes(text)), contentType: contentType)
    }

    /// A sequence that can be read once: if the request must be sent again, it fails instead.
    ///
    /// With a `length` the body goes out under Content-Length and must have exactly that many bytes; without one it
    /// is chunked.
    public static func stream(
        _ chunks: any Chunks, length: Int? = nil, contentType: String? = "application/octet-stream"
    ) -> RequestBody {
        RequestBody(.stream(length: length, isReplayable: false) { chunks }, contentType: contentType)
    }

    /// A sequence that `make` can start afresh: the body may be replayed.
    public static func replayable(
        length: Int? = nil, contentType: String? = "application/octet-stream",
        _ make: @escaping @Sendable () -> any Chunks
    ) -> RequestBody {
        RequestBody(.stream(length: length, isReplayable: true, make: make), contentType: contentType)
    }

    public var isReplayable: Bool {
        switch content {
        case .none, .bytes: true
        case .stream(_, let isReplayable, _): isReplayable
        }
    }
}

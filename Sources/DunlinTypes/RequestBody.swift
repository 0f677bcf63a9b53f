/// The body of a request, and whether it can be sent again.
public struct RequestBody: Sendable {
    public typealias Chunks = AsyncSequence<Bytes, any Error> & Sendable

    public enum Content: Sendable {
        case none
        case bytes(Bytes)
        /// Chunks that `make` creates, once for each sending. A one-shot body is never sent a second time.
        case stream(length: Int?, isReplayable: Bool, make: @Sendable () -> any Chunks)
        case file(File)
    }

    /// A regular file or a part of one. For each sending it is opened before anything is sent, and its length is what
    /// it is then.
    public struct File: Sendable, Hashable {
        public var path: String
        /// Offsets of the part to send; nil for all of it.
        public var range: Range<Int>?

        public init(_ path: String, range: Range<Int>? = nil) {
            self.path = path
            self.range = range
        }
    }

    /// Fields that are known only after the body has been sent, such as a checksum.
    public final class Trailers: Sendable {
        /// The names that the head announces.
        public let names: [String]
        /// Makes the fields. Called after the body's last byte, once for each sending.
        public let make: @Sendable () async throws -> Fields

        init(_ names: [String], _ make: @escaping @Sendable () async throws -> Fields) {
            self.names = names
            self.make = make
        }
    }

    /// The content and its fields; nil without a body. Most requests have none, and a body is copied often.
    @usableFromInline let parts: Parts?

    @usableFromInline final class Parts: Sendable {
        @usableFromInline let content: Content
        @usableFromInline let contentType: String?
        let contentEncoding: String?
        @usableFromInline let trailers: Trailers?
        /// Whether the body was sent, shared by the copies of a one-shot body.
        let once: (any OneShot)?

        init(
            _ content: Content, _ contentType: String?, _ contentEncoding: String? = nil, _ trailers: Trailers? = nil,
            _ once: (any OneShot)? = nil
        ) {
            self.content = content
            self.contentType = contentType
            self.contentEncoding = contentEncoding
            self.trailers = trailers
            self.once = once
        }
    }

    @usableFromInline init(_ parts: Parts?) {
        self.parts = parts
    }

    public init(_ content: Content, contentType: String? = nil) {
        parts = Parts(content, contentType)
    }

    /// Creates a body that can be sent once; `once` knows whether it has been.
    package init(_ content: Content, contentType: String?, once: (any OneShot)?) {
        parts = Parts(content, contentType, nil, nil, once)
    }

    @inlinable public static var none: RequestBody { RequestBody(nil) }

    @inlinable public var content: Content { parts?.content ?? .none }
    /// The Content-Type to send if the caller's fields have none.
    @inlinable public var contentType: String? { parts?.contentType }
    /// The `Content-Encoding` to send; nil if the content is not coded.
    public var contentEncoding: String? { parts?.contentEncoding }
    /// The trailers after the body, which is then sent chunked.
    @inlinable public var trailers: Trailers? { parts?.trailers }
    private var once: (any OneShot)? { parts?.once }

    /// Knows whether sending a one-shot body has begun.
    package protocol OneShot: AnyObject, Sendable {
        var isTaken: Bool { get }
    }

    public static func bytes(_ bytes: Bytes, contentType: String? = "application/octet-stream") -> RequestBody {
        RequestBody(.bytes(bytes), contentType: contentType)
    }

    /// A body of an array, a `Data` or any other bytes.
    @_disfavoredOverload
    public static func bytes(
        _ bytes: some Sequence<UInt8>, contentType: String? = "application/octet-stream"
    ) -> RequestBody {
        .bytes(Bytes(bytes), contentType: contentType)
    }

    public static func string(_ text: String, contentType: String? = "text/plain; charset=utf-8") -> RequestBody {
        RequestBody(.bytes(Bytes(text)), contentType: contentType)
    }

    /// A body of a sequence that `make` can create again, so that the body may be sent again.
    public static func replayable(
        length: Int? = nil, contentType: String? = "application/octet-stream",
        _ make: @escaping @Sendable () -> any Chunks
    ) -> RequestBody {
        RequestBody(.stream(length: length, isReplayable: true, make: make), contentType: contentType)
    }

    /// A body of a file, or of its bytes in `range`. It is opened each time it is sent.
    ///
    /// If the file cannot be opened or is not regular, the request fails with code `fileUnreadable` before anything is
    /// sent. If the file shrinks while it is sent, the request fails with `bodyLengthMismatch`; if it grows, the
    /// announced length is sent.
    public static func file(
        _ path: String, range: Range<Int>? = nil, contentType: String? = "application/octet-stream"
    ) -> RequestBody {
        RequestBody(.file(File(path, range: range)), contentType: contentType)
    }

    /// The iterator of chunks of any kind.
    package static func iterator(of chunks: some Chunks) -> any AsyncIteratorProtocol<Bytes, any Error> {
        chunks.makeAsyncIterator()
    }

    /// A copy with other content and the same content type, coding and trailers.
    public func with(_ content: Content) -> RequestBody {
        RequestBody(Parts(content, contentType, contentEncoding, trailers, once))
    }

    /// A copy that declares this content coding.
    public func with(contentEncoding: String?) -> RequestBody {
        RequestBody(Parts(content, contentType, contentEncoding, trailers, once))
    }

    private func with(_ trailers: Trailers) -> RequestBody {
        RequestBody(Parts(content, contentType, contentEncoding, trailers, once))
    }

    /// A copy that is sent chunked and followed by the fields that `make` returns once all of it has been sent. The
    /// head announces `names`.
    ///
    /// Fields that would change how the message is framed, routed or decoded may not be trailers: if announced, the
    /// request fails before anything is sent, otherwise at its end.
    public func withTrailers(
        _ names: String..., make: @escaping @Sendable () async throws -> Fields
    ) -> RequestBody {
        with(Trailers(names, make))
    }

    /// A copy that is sent chunked and followed by `fields`.
    public func withTrailers(_ fields: Fields) -> RequestBody {
        with(Trailers(fields.map(\.name)) { fields })
    }

    /// A copy with only the trailers, and trailer names, that `allowed` returns.
    package func keepingTrailers(_ allowed: @escaping @Sendable (Fields) -> Fields) -> RequestBody {
        guard let trailers else { return self }
        var named = Fields()
        for name in trailers.names { named.append(name: name, value: "") }
        return with(Trailers(allowed(named).map(\.name)) { allowed(try await trailers.make()) })
    }

    /// Whether there may be something to send, as far as is known beforehand.
    public var mayHaveContent: Bool {
        if trailers != nil { return true }
        return switch content {
        case .none: false
        case .bytes(let bytes): !bytes.isEmpty
        case .stream(let length, _, _): length != 0
        case .file(let file): file.range?.isEmpty != true
        }
    }

    /// Whether the whole body is in memory already.
    @inlinable package var isAtHand: Bool {
        switch parts?.content {
        case nil, .none?, .bytes?: true
        case .stream?, .file?: false
        }
    }

    /// Whether there is no body, not even an empty one.
    @inlinable public var isNone: Bool { parts == nil }

    /// Whether both are copies of the same body.
    package func isSame(as other: RequestBody) -> Bool { parts === other.parts }

    /// Whether the body can be sent any number of times.
    public var isReplayable: Bool {
        switch content {
        case .none, .bytes, .file: true
        case .stream(_, let isReplayable, _): isReplayable
        }
    }

    /// Whether only the first who takes the chunks gets them, which takes no time.
    package var isTakenOnce: Bool { once != nil }

    /// Whether the body can be sent now: always if it is replayable, otherwise until it is first sent.
    package var canBeSent: Bool { isReplayable || once.map { !$0.isTaken } ?? false }
}

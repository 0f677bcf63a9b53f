/// The body of a request, and whether it can be sent again.
public struct RequestBody: Sendable {
    public typealias Chunks = AsyncSequence<Bytes, any Error> & Sendable

    public enum Content: Sendable {
        case none
        case bytes(Bytes)
        /// `make` is called each time the body is sent. A one-shot body is never sent a second time.
        case stream(length: Int?, isReplayable: Bool, make: @Sendable () -> any Chunks)
        case file(File)
    }

    /// A regular file, or a part of one. It is opened each time it is sent, before anything is; its length is what it
    /// is then.
    public struct File: Sendable, Hashable {
        public var path: String
        /// Offsets of the part to send; nil for all of it.
        public var range: Range<Int>?

        public init(_ path: String, range: Range<Int>? = nil) {
            self.path = path
            self.range = range
        }
    }

    /// Fields that are known only when the body has been sent, a checksum for instance.
    public final class Trailers: Sendable {
        /// The names, which the head announces.
        public let names: [String]
        /// Called after the body's last byte, each time it is sent.
        public let make: @Sendable () async throws -> Fields

        init(_ names: [String], _ make: @escaping @Sendable () async throws -> Fields) {
            self.names = names
            self.make = make
        }
    }

    /// Nil for no body at all: most requests have none, and a body is copied often.
    @usableFromInline let parts: Parts?

    @usableFromInline final class Parts: Sendable {
        @usableFromInline let content: Content
        @usableFromInline let contentType: String?
        let contentEncoding: String?
        @usableFromInline let trailers: Trailers?
        /// Shared by the copies of a one-shot body.
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

    /// A body that can be sent once, with what knows whether it has been.
    package init(_ content: Content, contentType: String?, once: (any OneShot)?) {
        parts = Parts(content, contentType, nil, nil, once)
    }

    @inlinable public static var none: RequestBody { RequestBody(nil) }

    @inlinable public var content: Content { parts?.content ?? .none }
    /// The Content-Type to send when the caller's fields have none.
    @inlinable public var contentType: String? { parts?.contentType }
    /// The `Content-Encoding` to send, if the content is coded.
    public var contentEncoding: String? { parts?.contentEncoding }
    /// The trailers after the body, which is chunked for that.
    @inlinable public var trailers: Trailers? { parts?.trailers }
    private var once: (any OneShot)? { parts?.once }

    /// Knows whether sending a one-shot body has begun.
    package protocol OneShot: AnyObject, Sendable {
        var isTaken: Bool { get }
    }

    public static func bytes(_ bytes: Bytes, contentType: String? = "application/octet-stream") -> RequestBody {
        RequestBody(.bytes(bytes), contentType: contentType)
    }

    /// The same of an array, a `Data`, or any other bytes.
    @_disfavoredOverload
    public static func bytes(
        _ bytes: some Sequence<UInt8>, contentType: String? = "application/octet-stream"
    ) -> RequestBody {
        .bytes(Bytes(bytes), contentType: contentType)
    }

    public static func string(_ text: String, contentType: String? = "text/plain; charset=utf-8") -> RequestBody {
        RequestBody(.bytes(Bytes(text)), contentType: contentType)
    }

    /// A sequence that `make` can make again, so that the body may be sent again.
    public static func replayable(
        length: Int? = nil, contentType: String? = "application/octet-stream",
        _ make: @escaping @Sendable () -> any Chunks
    ) -> RequestBody {
        RequestBody(.stream(length: length, isReplayable: true, make: make), contentType: contentType)
    }

    /// A file, or the bytes of one at the offsets of `range`. It is opened each time it is sent.
    ///
    /// A file that cannot be opened, or is not regular, fails with code `fileUnreadable` before anything is sent. A
    /// file that shrinks while it is sent fails with `bodyLengthMismatch`; of one that grows, the announced length is
    /// sent.
    public static func file(
        _ path: String, range: Range<Int>? = nil, contentType: String? = "application/octet-stream"
    ) -> RequestBody {
        RequestBody(.file(File(path, range: range)), contentType: contentType)
    }

    /// The body with other content; its content type, coding and trailers stay.
    public func with(_ content: Content) -> RequestBody {
        RequestBody(Parts(content, contentType, contentEncoding, trailers, once))
    }

    /// The body, declared to have this content coding.
    public func with(contentEncoding: String?) -> RequestBody {
        RequestBody(Parts(content, contentType, contentEncoding, trailers, once))
    }

    private func with(_ trailers: Trailers) -> RequestBody {
        RequestBody(Parts(content, contentType, contentEncoding, trailers, once))
    }

    /// The body, chunked and followed by the fields that `make` returns once all of it has been sent. The head
    /// announces `names`.
    ///
    /// Fields that would change how the message is framed, routed or decoded may not come this late: announced, they
    /// fail the request before anything is sent, and otherwise at its end.
    public func withTrailers(
        _ names: String..., make: @escaping @Sendable () async throws -> Fields
    ) -> RequestBody {
        with(Trailers(names, make))
    }

    /// The body, chunked and followed by `fields`.
    public func withTrailers(_ fields: Fields) -> RequestBody {
        with(Trailers(fields.map(\.name)) { fields })
    }

    /// The body, with what `allowed` leaves of its trailers and of their names.
    package func keepingTrailers(_ allowed: @escaping @Sendable (Fields) -> Fields) -> RequestBody {
        guard let trailers else { return self }
        var named = Fields()
        for name in trailers.names { named.append(name: name, value: "") }
        return with(Trailers(allowed(named).map(\.name)) { allowed(try await trailers.make()) })
    }

    /// Whether there is something to send, as far as can be told beforehand.
    public var mayHaveContent: Bool {
        if trailers != nil { return true }
        return switch content {
        case .none: false
        case .bytes(let bytes): !bytes.isEmpty
        case .stream(let length, _, _): length != 0
        case .file(let file): file.range?.isEmpty != true
        }
    }

    /// Whether all of it is in memory already.
    @inlinable package var isAtHand: Bool {
        switch parts?.content {
        case nil, .none?, .bytes?: true
        case .stream?, .file?: false
        }
    }

    /// Whether there is no body at all, not even an empty one.
    @inlinable public var isNone: Bool { parts == nil }

    /// Whether both are copies of one body.
    package func isSame(as other: RequestBody) -> Bool { parts === other.parts }

    /// Whether it can be sent any number of times.
    public var isReplayable: Bool {
        switch content {
        case .none, .bytes, .file: true
        case .stream(_, let isReplayable, _): isReplayable
        }
    }

    /// Whether it can be sent now: always if it is replayable, and until its first sending if it is not.
    package var canBeSent: Bool { isReplayable || once.map { !$0.isTaken } ?? false }
}

public import Dunlin
internal import DunlinSemantics

extension ImageDownloader {
    /// A request for a picture: its URL, what to make from it, and what may be used to get it.
    public struct Request: Sendable {
        /// The method: GET, or another without a body.
        public var method = HTTP.Method.get
        public var target: HTTP.Target
        /// The fields of this request; they replace the session's fields with the same names.
        public var fields = Fields()
        /// The time until all bytes are there, from the download's turn, or from joining one that has begun. An
        /// enclosing `withTimeout` counts from the call.
        public var timeout = HTTPSession.PerRequest<Duration>.session
        /// The filters for the picture, applied in order.
        public var filters: [ImageFilter]
        /// The number of pixels for each point; nil for the setting of the downloader's serializer.
        public var scale: Double?
        /// The order in which waiting downloads begin, highest first. A download has the highest priority of its
        /// waiters.
        public var priority = HTTP.Priority.normal
        /// Whether the picture is decoded. If not, the result is its bytes and the information in their header; filters
        /// do not apply, and the cache of images keeps nothing.
        public var decodes = true
        /// How the cache of images is used; nil to follow `cacheMode`, the use of the HTTP cache.
        public var memory: MemoryUse?
        /// How the session's HTTP cache is used.
        public var cacheMode = HTTPSession.PerRequest<HTTPSession.CacheMode>.session
        /// Whether the network may be used. If not, a picture that is not stored is an error with code `notCached`, and
        /// no connection is opened.
        public var usesNetwork = true

        public init(_ target: HTTP.Target, filters: [ImageFilter] = []) {
            self.target = target
            self.filters = filters
        }
    }

    /// How a request uses the cache of images.
    public enum MemoryUse: Sendable, Hashable, CaseIterable {
        /// A fresh picture is the answer; a stale one is validated.
        case fresh
        /// A stored picture is the answer, however old.
        case any
        /// A stored picture is validated, however new, if its server gave a validator; but not while it is fresh and
        /// `immutable`.
        case validated
        /// Stored pictures are ignored; the new one is stored.
        case reload
        /// Stored pictures are ignored, and the new one is not stored.
        case skip
    }
}

extension ImageDownloader.Request: Equatable {
    /// Whether both request the same picture, processed and obtained in the same way.
    public static func == (left: Self, right: Self) -> Bool {
        left.method == right.method && left.target == right.target && left.fields == right.fields
            && left.timeout == right.timeout && left.filters.name == right.filters.name && left.scale == right.scale
            && left.priority == right.priority && left.decodes == right.decodes && left.memory == right.memory
            && left.cacheMode == right.cacheMode && left.usesNetwork == right.usesNetwork
    }
}

extension ImageDownloader.Request: CustomStringConvertible, CustomReflectable {
    /// Without query and fields, which may contain secrets.
    public var description: String {
        "\(method) \(ShownURL.of(target.text))\(filters.name.map { " (\($0))" } ?? "")"
    }

    public var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}

extension ImageDownloader.Request {
    /// The request's name in errors.
    var name: NetworkError.RequestName { NetworkError.RequestName(method: method, url: ShownURL.of(target.text)) }

    /// The use of the cache of images.
    func memoryUse(_ usual: HTTPSession.CacheMode) -> ImageDownloader.MemoryUse {
        if let memory { return memory }
        return switch usesNetwork ? cacheMode.resolved(usual) ?? .off : .storedOnly {
        case .standard: .fresh
        case .validating: .validated
        case .reloading, .off: .reload
        case .preferringStored, .storedOnly: .any
        }
    }

    /// The use of the HTTP cache.
    var httpCacheMode: HTTPSession.PerRequest<HTTPSession.CacheMode> { usesNetwork ? cacheMode : .storedOnly }
}

extension ImageDownloader.MemoryUse {
    /// The same for what is kept; nil if nothing stored may be the answer.
    var cacheMode: CacheMode? {
        switch self {
        case .fresh: .standard
        case .any: .preferringStored
        case .validated: .validating
        case .reload, .skip: nil
        }
    }
}

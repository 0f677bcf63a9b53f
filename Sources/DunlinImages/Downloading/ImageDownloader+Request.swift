public import Dunlin

extension ImageDownloader {
    /// A picture that is wanted: where it is from, what is to be made of it, and what may be asked for it.
    public struct Request: Sendable {
        /// The method; only GET and what else has no body.
        public var method = HTTP.Method.get
        public var target: HTTP.Target
        /// Fields of this request, in place of the session's of the same names.
        public var fields = Fields()
        /// How long it may take until all bytes are there: from the download's turn, or from when the request joins one
        /// that has begun. `withTimeout` bounds it from when it is asked for.
        public var timeout = HTTPSession.PerRequest<Duration>.session
        /// What is done to the picture, one after the other.
        public var filters: [ImageFilter]
        /// Pixels for each point of the picture; nil for what the downloader's serializer says.
        public var scale: Double?
        /// The order in which downloads begin that wait: the highest first. A download has the highest of those who
        /// wait for it.
        public var priority = HTTP.Priority.normal
        /// Whether the picture is decoded when it is there. Otherwise its bytes and what their header says are the
        /// result, filters do not apply, and nothing is kept in the cache of images.
        public var decodes = true
        /// How the cache of images is used; nil for what `cacheMode` says of the HTTP cache.
        public var memory: MemoryUse?
        /// How the session's HTTP cache is used.
        public var cacheMode = HTTPSession.PerRequest<HTTPSession.CacheMode>.session
        /// False to have what is stored or nothing: what is not there is an error with code `notCached`, and no
        /// connection is opened.
        public var usesNetwork = true

        public init(_ target: HTTP.Target, filters: [ImageFilter] = []) {
            self.target = target
            self.filters = filters
        }
    }

    /// How a request uses the cache of images.
    public enum MemoryUse: Sendable, Hashable, CaseIterable {
        /// What is there and fresh is the answer. What is stale is asked about.
        case fresh
        /// What is there is the answer, however old.
        case any
        /// What is there is asked about, however new, if its server said by what to ask.
        case validated
        /// What is there is not looked at. What comes is stored.
        case reload
        /// What is there is not looked at, and what comes is not stored.
        case skip
    }
}

extension ImageDownloader.Request: Equatable {
    /// Whether both want the same picture, made in the same way and asked for in the same way.
    public static func == (left: Self, right: Self) -> Bool {
        left.method == right.method && left.target == right.target && left.fields == right.fields
            && left.timeout == right.timeout && left.filters.name == right.filters.name && left.scale == right.scale
            && left.priority == right.priority && left.decodes == right.decodes && left.memory == right.memory
            && left.cacheMode == right.cacheMode && left.usesNetwork == right.usesNetwork
    }
}

extension ImageDownloader.Request: CustomStringConvertible, CustomReflectable {
    /// Without query and fields, which may hold secrets.
    public var description: String {
        "\(method) \(ShownURL.of(target.text))\(filters.name.map { " (\($0))" } ?? "")"
    }

    public var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}

extension ImageDownloader.Request {
    /// What errors call it.
    var name: NetworkError.RequestName { NetworkError.RequestName(method: method, url: ShownURL.of(target.text)) }

    /// Has the servers asked, and what they send stored.
    mutating func passHTTPCacheOver(_ usual: HTTPSession.CacheMode) {
        switch cacheMode.resolved(usual) ?? .off {
        case .standard, .validating, .preferringStored: cacheMode = .reloading
        case .reloading, .storedOnly, .off: break
        }
    }

    /// What counts for the cache of images.
    func memoryUse(_ usual: HTTPSession.CacheMode) -> ImageDownloader.MemoryUse {
        if let memory { return memory }
        return switch usesNetwork ? cacheMode.resolved(usual) ?? .off : .storedOnly {
        case .standard: .fresh
        case .validating: .validated
        case .reloading, .off: .reload
        case .preferringStored, .storedOnly: .any
        }
    }
}

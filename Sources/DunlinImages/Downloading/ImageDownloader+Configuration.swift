internal import Dunlin
internal import DunlinSemantics

extension ImageDownloader {
    /// The settings of a downloader, where a request does not set its own. The defaults are AFNetworking's.
    public struct Configuration: Sendable {
        /// The order in which downloads of the same priority begin. Running ones are not affected.
        public enum Order: Sendable, Hashable {
            case firstInFirstOut
            case lastInFirstOut
        }

        /// What happens to a running download when its last waiter has left.
        public enum Unwanted: Sendable, Hashable {
            /// It is cancelled. What has come is kept for the next time if the session has an HTTP cache and the server
            /// can send the rest.
            case cancel
            /// It continues, and its picture is added to the cache.
            case finishForCache
        }

        /// The number of downloads that run at once, until their picture is decoded and filtered. What a filter asks
        /// for comes on top of them, and so does what is asked for in code that others may wait for: interceptors,
        /// refreshes, and, if the session has a queue, hooks and the scopes of its requests.
        public var maximumActive = 4
        public var order = Order.firstInFirstOut
        public var unwanted = Unwanted.cancel
        /// The serializer, which decides which responses are accepted. Requests decide whether pixels are decoded.
        public var serializer = ImageResponseSerializer()
        /// The length limit of a response's body, in bytes; nil for the session's.
        public var bodyLimit: Int?
        /// Returns what requests that share a download and a picture have in common, apart from who asks and what the
        /// response varies by, instead of method, URL and fields: for instance a URL without parts that vary. The cache
        /// of images identifies pictures by it as by a URL, and so does `invalidate`.
        public var identity: (@Sendable (Request) -> String)?
        /// The queue in which decodes wait for their turn.
        public var decodeQueue = DecodeQueue.shared

        public init() {}
    }
}

/// What requests that share a download have in common. Nothing of it is shown anywhere.
struct SharedQuestion: Sendable, Hashable {
    let url: CacheKey
    let asker: CacheAsker
    let method: HTTP.Method
    /// All fields, with the cookies of the session's jar: what a response varies by is known only once it is there.
    let fields: ExactText
    /// The use of the HTTP cache: a request that may not use the network cannot share the download of one that may, nor
    /// the other way round.
    let cache: HTTPSession.PerRequest<HTTPSession.CacheMode>
}

extension SharedQuestion: CustomStringConvertible, CustomReflectable {
    /// Without query and fields, which may contain secrets.
    var description: String { "\(method) \(url)" }
    var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}

/// A question at a time: later, it may be another user's, or have another answer.
struct SharedDownload: Sendable, Hashable {
    let question: SharedQuestion
    let epoch: HTTPSession.Epoch
}

extension SharedDownload: CustomReflectable {
    var customMirror: Mirror { Mirror(self, children: ["question": question], displayStyle: .struct) }
}

extension ImageDownloader.Configuration {
    var queueOrder: ImageDownloadQueue.Order {
        switch order {
        case .firstInFirstOut: .firstInFirstOut
        case .lastInFirstOut: .lastInFirstOut
        }
    }
}

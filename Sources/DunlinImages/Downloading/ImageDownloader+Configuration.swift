internal import Dunlin
internal import DunlinSemantics

extension ImageDownloader {
    /// What a downloader does where a request does not say otherwise. The defaults are AFNetworking's.
    public struct Configuration: Sendable {
        /// In which order downloads of one priority begin. What runs is not affected.
        public enum Order: Sendable, Hashable {
            case firstInFirstOut
            case lastInFirstOut
        }

        /// What becomes of a download that is running when the last who waits for it has gone.
        public enum Unwanted: Sendable, Hashable {
            /// It is cancelled. What has come of it is kept for the next time, if it can be resumed.
            case cancel
            /// It goes on, and its picture is added to the cache.
            case finishForCache
        }

        /// Downloads that are on their way at once, to the decoded and filtered picture.
        public var maximumActive = 4
        public var order = Order.firstInFirstOut
        public var unwanted = Unwanted.cancel
        /// Which responses count. When pixels are decoded, requests say.
        public var serializer = ImageResponseSerializer()
        /// Bytes of a response's body; more are an error. Nil for what the session says.
        public var bodyLimit: Int?
        /// Bytes of unfinished pictures that are kept to be resumed.
        public var resumableBytes = 8 << 20
        /// The fields of a request that may decide which picture its server sends: requests that differ in one do not
        /// share a download or a picture. Names in any case. Fields that say who asks, which are those whose names are
        /// secret or look like it, and `Host` are always among them.
        public var selectingFields: Set<String> = [
            "accept", "accept-language", "authorization", "cookie", "range", "user-agent",
        ]
        /// What requests that share a download have in common, in place of method, URL and selecting fields, but for
        /// those that say who asks: a URL without what differs from time to time, say. The cache of images knows their
        /// pictures by it, as if it were their URL, and so does `invalidate`.
        public var identity: (@Sendable (Request) -> String)?
        /// Where decodes wait for their turn.
        public var decodeQueue = DecodeQueue.shared

        public init() {}
    }
}

/// What requests have in common that share a download. Nothing of it is shown anywhere.
struct ImageIdentity: Sendable, Hashable {
    /// Where the picture is from, or what a program says instead.
    let url: String
    let method: String
    let selection: [String: String]
    /// A request that may not use the network cannot be answered by the download of one that does otherwise, or the
    /// other way round.
    let cache: HTTPSession.PerRequest<HTTPSession.CacheMode>
}

extension ImageIdentity {
    static let user = "the session's user"
}

extension ImageIdentity: CustomStringConvertible, CustomReflectable {
    /// Without user info, query and fields, which may hold secrets.
    var description: String { "\(method) \(ShownURL.of(url))" }
    var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}

/// What a server is asked: an identity, and the whole URL that is sent for it. Where a program says what requests have
/// in common, those of one identity may ask for several URLs. Nothing of it is shown anywhere.
struct ImageQuestion: Sendable, Hashable {
    let identity: ImageIdentity
    let url: String
}

extension ImageQuestion: CustomStringConvertible, CustomReflectable {
    var description: String { identity.description }
    var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}

/// What requests that are under way have in common where one download serves them. Cookies of the session's jar count
/// only here, since servers change them with each response: whoever asks with others may be another user.
struct SharedIdentity: Sendable, Hashable {
    let identity: ImageIdentity
    let cookies: String?
}

extension SharedIdentity: CustomStringConvertible, CustomReflectable {
    var description: String { identity.description }
    var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}

extension ImageDownloader.Configuration {
    func identity(of request: ImageDownloader.Request, _ url: String, by session: HTTPSession) -> ImageIdentity {
        let own = identity?(request)
        var names = own == nil ? Set(selectingFields.map { $0.lowercased() }) : []
        names.formUnion(["cookie", "host"])
        names.formUnion(CredentialFields.names(in: request.fields, session.configuration.secretFields))
        var selection: [String: String] = [:]
        for name in names where request.fields.contains(name) {
            selection[name] = request.fields.values(of: name).joined(separator: ", ")
        }
        // No field has such a name. A cache of images may be another session's too, and this one's user may change.
        selection[ImageIdentity.user] = session.asker
        return ImageIdentity(
            url: own ?? url, method: (own == nil ? request.method : .get).rawValue, selection: selection,
            cache: request.usesNetwork ? request.cacheMode : .storedOnly)
    }

    /// The names of the fields by which requests are told apart: not of cookies, where the session adds them.
    func knownFields(_ session: HTTPSession) -> Set<String> {
        var names = Set(selectingFields.map { $0.lowercased() })
        if session.configuration.cookies != nil { names.remove("cookie") }
        return names
    }

    /// By what the picture is known in the cache of images.
    func key(of request: ImageDownloader.Request, _ identity: ImageIdentity) -> ImageKey {
        var selection = identity.selection
        if identity.method != "GET" { selection["method"] = identity.method }
        return ImageKey(
            url: identity.url, filter: request.filters.name, scale: request.scale ?? serializer.scale,
            selection: selection)
    }

    var queueOrder: DownloadQueue.Order {
        switch order {
        case .firstInFirstOut: .firstInFirstOut
        case .lastInFirstOut: .lastInFirstOut
        }
    }
}

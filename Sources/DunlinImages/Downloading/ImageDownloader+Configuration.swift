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
            /// It is cancelled. What has come is kept for the next time, if it can be resumed.
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
        /// The number of bytes of unfinished pictures that are kept for resuming.
        public var resumableBytes = 8 << 20
        /// The names of request fields that may determine which picture the server sends, in any case. Requests that
        /// differ in one share neither a download nor a picture. Fields that say who asks, by names that are or look
        /// secret, and `Host` are always included.
        public var selectingFields: Set<String> = [
            "accept", "accept-language", "authorization", "cookie", "range", "user-agent",
        ]
        /// Returns what requests that share a download have in common, apart from fields that say who asks, instead of
        /// method, URL and selecting fields: for instance a URL without parts that vary. The cache of images identifies
        /// pictures by it as by a URL, and so does `invalidate`.
        public var identity: (@Sendable (Request) -> String)?
        /// The queue in which decodes wait for their turn.
        public var decodeQueue = DecodeQueue.shared

        public init() {}
    }
}

/// What requests that share a download have in common. Nothing of it is shown anywhere.
struct ImageIdentity: Sendable, Hashable {
    /// The picture's URL, or what the program uses instead.
    let url: ExactText
    let method: String
    let selection: [String: ExactText]
    /// The use of the cache: a request that may not use the network cannot share the download of one that may, nor the
    /// other way round.
    let cache: HTTPSession.PerRequest<HTTPSession.CacheMode>
}

extension ImageIdentity {
    static let user = "the session's user"
    static let urlUser = "the URL's user"

    /// Whom a URL says to ask as; nil for nobody.
    static func userInfo(of url: String) -> String? {
        do throws(AddressError) {
            return try WebAddress(url).userInfo.map { "\($0.user.utf8.count):\($0.user)\($0.password ?? "")" }
        } catch {
            // Whoever requests it is told.
            return nil
        }
    }
}

extension ImageIdentity: CustomStringConvertible, CustomReflectable {
    /// Without user info, query and fields, which may contain secrets.
    var description: String { "\(method) \(ShownURL.of(url.string))" }
    var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}

/// What a server is asked: an identity, and the absolute URL that is requested. If the program defines identities,
/// requests with the same one may have different URLs. Nothing of it is shown anywhere.
struct ImageQuestion: Sendable, Hashable {
    let identity: ImageIdentity
    let url: ExactText
}

extension ImageQuestion: CustomStringConvertible, CustomReflectable {
    var description: String { identity.description }
    var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}

/// What simultaneous requests that share a download have in common. Cookies of the session's jar count only here, since
/// servers change them with each response: a request with other cookies may be another user's.
struct SharedIdentity: Sendable, Hashable {
    let identity: ImageIdentity
    let cookies: ExactText?
    /// The request's own fields: what a response varies by is known only once it is there.
    let fields: ExactText
}

extension ImageDownloader.Request {
    /// The own fields that a request must have to share a download: all but those that name the request.
    var joinedFields: ExactText {
        let lines = fields.map { ($0.name.lowercased(), $0.value) }.filter { !CredentialFields.isOfRequest($0.0) }
        return ExactText(lines.map { "\($0):\($1.utf8.count):\($1)\n" }.sorted().joined())
    }
}

extension SharedIdentity: CustomStringConvertible, CustomReflectable {
    var description: String { identity.description }
    var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}

extension ImageDownloader.Configuration {
    func identity(
        of request: ImageDownloader.Request, _ url: String, by session: HTTPSession, _ secretFields: HTTP.SecretFields
    ) -> ImageIdentity {
        let own = identity?(request)
        var names = own == nil ? Set(selectingFields.map { $0.lowercased() }) : []
        names.formUnion(["cookie", "host"])
        names.formUnion(CredentialFields.names(in: request.fields, secretFields))
        var selection: [String: ExactText] = [:]
        for name in names where request.fields.contains(name) {
            selection[name] = ExactText(request.fields.values(of: name).joined(separator: ", "))
        }
        // No field has such a name. The cache of images may be shared with other sessions, and this session's user may
        // change.
        selection[ImageIdentity.user] = session.asker.map { ExactText($0) }
        if own != nil { selection[ImageIdentity.urlUser] = ImageIdentity.userInfo(of: url).map { ExactText($0) } }
        return ImageIdentity(
            url: ExactText(own ?? url), method: (own == nil ? request.method : .get).rawValue, selection: selection,
            cache: request.usesNetwork ? request.cacheMode : .storedOnly)
    }

    /// The names of the fields that distinguish requests, without cookies if the session adds them.
    func knownFields(hasJar: Bool) -> Set<String> {
        var names = Set(selectingFields.map { $0.lowercased() })
        if hasJar { names.remove("cookie") }
        return names
    }

    /// The key of the picture in the cache of images.
    func key(of request: ImageDownloader.Request, _ identity: ImageIdentity) -> ImageKey {
        var selection = identity.selection.mapValues(\.string)
        if identity.method != "GET" { selection["method"] = identity.method }
        return ImageKey(
            url: identity.url.string, filter: request.filters.name, scale: request.scale ?? serializer.scale,
            selection: selection)
    }

    var queueOrder: DownloadQueue.Order {
        switch order {
        case .firstInFirstOut: .firstInFirstOut
        case .lastInFirstOut: .lastInFirstOut
        }
    }
}

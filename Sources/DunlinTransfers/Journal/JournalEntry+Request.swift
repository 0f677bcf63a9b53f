internal import DunlinSemantics

extension JournalEntry.Request {
    /// Creates what may be stored of a request: its URL as `stored`, and its fields without those that carry
    /// credentials or look so, except those in `kept`, whose names are in lower case. `secretFields` are the session's
    /// and those of its and the request's rules for redirects. A session sends its own defaults and credentials anyway.
    init(
        _ head: RequestHead, _ options: HTTPSession.Options, stored: StoredURL? = nil, hasUserInfo: Bool = false,
        keeping kept: Set<String>, hiding secretFields: HTTP.SecretFields = .usual,
        under sessionGuard: HTTPSession.Guard? = nil
    ) {
        method = head.method.rawValue
        let stored = stored ?? StoredURL(head.origin.description + head.target, hiding: nil)
        (url, hidesSecrets) = (stored.text, stored.hidesSecrets)
        var own = options
        own.fields = ResumeData.kept(options.fields, hiding: secretFields)
            .overlaid(with: options.fields.filtered { kept.contains($0) })
        own.fields.mark(secretFields)
        saved = SavedOptions(own)
        let secrets = options.fields.map { $0.name.lowercased() }.filter {
            options.fields.holdsSecret($0, secretFields) && !kept.contains($0)
        }
        unsaved = SavedOptions.lacking(options).union(secrets).union(hasUserInfo ? [Self.credentials] : []).sorted()
        if case .session = options.guard { self.sessionGuard = sessionGuard }
    }

    private static let credentials = "credentials"

    /// The names of what options give of what is not saved.
    static func names(in options: HTTPSession.Options) -> Set<String> {
        let names = SavedOptions.lacking(options).union(options.fields.map { $0.name.lowercased() })
        // One takes the place of the other.
        let credentials: Set = [credentials, "authorization"]
        if case .none = options.credentials { return names.union(credentials) }
        return names.isDisjoint(with: credentials) ? names : names.union(credentials)
    }

    /// The saved options and those that the resuming caller adds: each added field replaces those with its name.
    /// `present` is the guard of the session that sends the request.
    func options(adding added: HTTPSession.Options?, under present: HTTPSession.Guard?) -> HTTPSession.Options {
        var options = added?.laid(over: saved.options) ?? saved.options
        if case .session = options.guard, let both = both(present) { options.guard = .value(both) }
        return options
    }

    /// The guard of the session that requested the transfer, together with this one; nil if this one is enough.
    private func both(_ present: HTTPSession.Guard?) -> HTTPSession.Guard? {
        guard var both = sessionGuard, both != present else { return nil }
        if let present { both.other = .rules(present) }
        return both
    }

    /// The origin of the URL. A URL that cannot be read has an origin of its own that nothing else has.
    var origin: HTTP.Origin {
        do throws(AddressError) {
            return try WebAddress(url).origin
        } catch {
            return HTTP.Origin(scheme: .http, host: "")
        }
    }

    /// Whether sending the request twice has the same effect as sending it once.
    var isRepeatable: Bool {
        if HTTP.Method(method).isIdempotent { return true }
        return saved.options.fields.contains(Self.idempotencyKey)
    }

    /// The field that makes any request repeatable: the server recognises a repetition.
    static var idempotencyKey: String { "idempotency-key" }
}

extension JournalEntry.Download {
    /// Creates the saved form; nil for a destination that only this process can choose.
    init?(_ destination: HTTPSession.Destination, _ options: HTTPSession.DownloadOptions) {
        switch destination.file {
        case .file(let path): (self.path, isFolder) = (path, false)
        case .folder(let path): (self.path, isFolder) = (path, true)
        case .temporary, .resolved, .named: return nil
        }
        overwrites = options.overwrites
        createsFolders = options.createsFolders
        preallocates = options.preallocates
        contentTypes = options.contentTypes
        bodyLimit = options.bodyLimit
        digestAlgorithm = options.digest?.algorithm.rawValue
        digest = options.digest?.hex
        checksDigestFields = options.checksDigestFields
        segments = options.segments
    }

    var destination: HTTPSession.Destination { isFolder ? .folder(path) : .file(path) }

    var contentDigest: ContentDigest? {
        guard let digest, let algorithm = digestAlgorithm.flatMap(ContentDigest.Algorithm.init(rawValue:)) else {
            return nil
        }
        // The saved text came from a digest.
        do throws(ContentDigest.Malformed) { return try ContentDigest(algorithm, hex: digest) } catch { return nil }
    }

    /// A saved entry survives a power loss, so the file that it describes must too.
    var options: HTTPSession.DownloadOptions {
        var options = HTTPSession.DownloadOptions(
            overwrites: overwrites, createsFolders: createsFolders, digest: contentDigest, contentTypes: contentTypes,
            bodyLimit: bodyLimit)
        options.preallocates = preallocates
        options.checksDigestFields = checksDigestFields
        options.segments = segments
        options.isDurable = true
        return options
    }
}

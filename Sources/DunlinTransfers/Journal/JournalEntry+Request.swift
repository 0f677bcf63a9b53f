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
        (url, hidesSecrets) = (stored.text, stored.hidesSecrets ? true : nil)
        let harmless = ResumeData.kept(options.fields, hiding: secretFields)
        let named = options.fields.filtered { kept.contains($0) }
        fields = []
        timeouts = Self.nanoseconds(options.timeouts)
        label = options.label
        ownFields = harmless.overlaid(with: named)
        let sensitive = Set(named.map { $0.name.lowercased() }).filter {
            named.isSensitive($0) || secretFields.more.contains($0)
        }
        if !sensitive.isEmpty { sensitiveFields = sensitive.sorted() }
        let secrets = options.fields.map { $0.name.lowercased() }.filter {
            options.fields.holdsSecret($0, secretFields) && !kept.contains($0)
        }
        var sources = AccessSource.own(options)
        if hasUserInfo { sources.insert(.credentials) }
        let own = Set(secrets + sources.map(\.rawValue))
        if !own.isEmpty { unsaved = own.sorted() }
        if !options.validatesResponse { acceptsAnyStatus = true }
        if !options.decodesContent { keepsCoding = true }
        switch options.cacheMode {
        case .session: break
        case .none: cacheMode = .off
        case .value(let mode): cacheMode = mode
        }
        if case .none = options.credentials { hasNoCredentials = true }
        if case .value(let value) = options.handlesCookies { handlesCookies = value }
        // Guard and redirects are saved, because the process that resumes the transfer may have a session that lets
        // requests go further.
        switch options.redirects {
        case .session: break
        case .none: redirects = JournalEntry.Redirects(.never)
        case .value(let policy): redirects = JournalEntry.Redirects(policy)
        }
        switch options.guard {
        case .session: self.sessionGuard = sessionGuard
        case .none: hasNoGuard = true
        case .value(let rules): self.guard = rules
        }
    }

    /// The names of what options give of what is not saved.
    static func names(in options: HTTPSession.Options) -> Set<String> {
        let names = Set(AccessSource.own(options).map(\.rawValue) + options.fields.map { $0.name.lowercased() })
        // One takes the place of the other.
        let credentials: Set = [AccessSource.credentials.rawValue, "authorization"]
        if case .none = options.credentials { return names.union(credentials) }
        return names.isDisjoint(with: credentials) ? names : names.union(credentials)
    }

    /// The saved options and those that the resuming caller adds: each added field replaces those with its name.
    /// `present` is the guard of the session that sends the request.
    func options(adding added: HTTPSession.Options?, under present: HTTPSession.Guard?) -> HTTPSession.Options {
        var options = added ?? HTTPSession.Options()
        options.fields = ownFields.overlaid(with: options.fields)
        for (limit, nanoseconds) in timeouts ?? [:] {
            guard let limit = Timeouts.Limit(rawValue: limit), options.timeouts[limit] == .session else { continue }
            options.timeouts[limit] = nanoseconds == .max ? .none : .value(.nanoseconds(nanoseconds))
        }
        options.label = options.label ?? label
        if case .session = options.guard {
            options.guard = hasNoGuard == true ? .none : (self.guard ?? both(present)).map { .value($0) } ?? .session
        }
        if acceptsAnyStatus == true { options.validatesResponse = false }
        if keepsCoding == true { options.decodesContent = false }
        if case .session = options.cacheMode, let cacheMode { options.cacheMode = .value(cacheMode) }
        if case .session = options.credentials, hasNoCredentials == true { options.credentials = .none }
        if case .session = options.handlesCookies {
            options.handlesCookies = handlesCookies.map { .value($0) } ?? .session
        }
        if case .session = options.redirects, let redirects { options.redirects = .value(redirects.policy) }
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

    var ownFields: Fields {
        get {
            var own = Fields()
            for index in stride(from: 0, to: fields.count - 1, by: 2) {
                let isSensitive = sensitiveFields?.contains(fields[index].lowercased()) == true
                own.append(name: fields[index], value: fields[index + 1], sensitive: isSensitive)
            }
            return own
        }
        set { fields = newValue.flatMap { [$0.name, $0.value] } }
    }

    /// Whether sending the request twice has the same effect as sending it once.
    var isRepeatable: Bool {
        if HTTP.Method(method).isIdempotent { return true }
        return stride(from: 0, to: fields.count, by: 2).contains { fields[$0].lowercased() == Self.idempotencyKey }
    }

    /// The field that makes any request repeatable: the server recognises a repetition.
    static var idempotencyKey: String { "idempotency-key" }

    /// The limits that the request sets itself; the largest number means no limit.
    private static func nanoseconds(_ timeouts: HTTPSession.RequestTimeouts) -> [String: Int64]? {
        var limits: [String: Int64] = [:]
        for limit in Timeouts.Limit.allCases {
            switch timeouts[limit] {
            case .session: break
            case .none: limits[limit.rawValue] = .max
            case .value(let duration): limits[limit.rawValue] = duration.clampedNanoseconds
            }
        }
        return limits.isEmpty ? nil : limits
    }
}

extension JournalEntry.Redirects {
    init(_ policy: HTTPSession.RedirectPolicy) {
        (follows, limit, secretFields) = (policy.follows, policy.limit, policy.secretFields)
        allowsHTTPSToHTTP = policy.allowsHTTPSToHTTP
    }

    var policy: HTTPSession.RedirectPolicy {
        var policy = HTTPSession.RedirectPolicy(limit: limit, secretFields: secretFields)
        (policy.follows, policy.allowsHTTPSToHTTP) = (follows, allowsHTTPSToHTTP)
        return policy
    }
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

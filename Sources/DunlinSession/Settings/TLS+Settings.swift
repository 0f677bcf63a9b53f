internal import FoundationEssentials

extension HTTPSession.TLS: SettingsGroup {
    mutating func visitSettings<Visitor: SettingsVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitTrust(&visitor)
        try visitor.visit("versions", &versions, as: { [$0.lowerBound, $0.upperBound].map(Self.name) }) { names in
            let versions = names.compactMap(Self.version)
            return versions.count == 2 && names.count == 2 && versions[0] <= versions[1]
                ? versions[0]...versions[1] : nil
        }
        try visitor.visit("ciphers", &ciphers)
        try visitor.visit("suites", &suites)
        try visitor.visit("groups", &groups)
        try visitor.visit("resumesSessions", &resumesSessions)
        visitor.leaveOut("identity", "keyLog")
    }

    /// Visits the settings that decide which servers are trusted. All are saved: a restored session must not trust more
    /// than before.
    mutating func visitTrust<Visitor: SettingsVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.visit("policy", &policy)
        try visitor.visit("roots", &roots, as: Trusted.init) { $0.roots }
        try visitor.group("revocation", &revocation)
    }

    private static func name(_ version: Version) -> String { version == .tls12 ? "1.2" : "1.3" }

    private static func version(_ name: String) -> Version? {
        Version.allCases.first { Self.name($0) == name }
    }

    /// Roots as they are encoded.
    fileprivate struct Trusted: Codable {
        /// Whether the system's roots are trusted, too.
        var system: Bool
        var sources: [Written] = []

        init(_ roots: Roots) {
            switch roots {
            case .system: system = true
            case .only(let sources): (system, self.sources) = (false, sources.map(Written.init))
            case .systemAnd(let sources): (system, self.sources) = (true, sources.map(Written.init))
            }
        }

        var roots: Roots? {
            let sources = sources.compactMap(\.source)
            guard sources.count == self.sources.count else { return nil }
            if system { return sources.isEmpty ? .system : .systemAnd(sources) }
            return .only(sources)
        }
    }

    /// A file's path, or its contents.
    fileprivate struct Written: Codable {
        var file: String?
        var bytes: Data?

        init(_ source: Source) {
            switch source {
            case .file(let path): file = path
            case .bytes(let bytes): self.bytes = Data(bytes)
            }
        }

        var source: Source? {
            switch (file, bytes) {
            case (let path?, nil): .file(path)
            case (nil, let bytes?): .bytes(Bytes(bytes))
            default: nil
            }
        }
    }
}

extension HTTPSession.TLS.Revocation: SettingsGroup {
    mutating func visitSettings<Visitor: SettingsVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        typealias Written = HTTPSession.TLS.Written
        try visitor.visit("lists", &lists, as: { $0.map(Written.init) }) { written in
            let sources = written.compactMap(\.source)
            return sources.count == written.count ? sources : nil
        }
        try visitor.visit("coversAuthorities", &coversAuthorities)
        try visitor.visit("allowsMissingLists", &allowsMissingLists)
        try visitor.visit("staple", &stapling, as: { $0.name }) { name in
            [OCSPStapling.ignored, .checkedIfPresent, .required].first { $0.name == name }
        }
    }
}

extension HTTPSession.TLS.Revocation.OCSPStapling {
    fileprivate var name: String {
        switch self {
        case .ignored: "ignored"
        case .checkedIfPresent: "checkedIfPresent"
        case .required: "required"
        }
    }
}

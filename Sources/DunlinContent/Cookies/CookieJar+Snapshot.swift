extension CookieJar {
    /// A jar's cookies, which can be saved to a file and restored to a jar later.
    ///
    /// ```swift
    /// let text = try JSONEncoder().encode(jar.snapshot())
    /// try jar.restore(JSONDecoder().decode(CookieJar.Snapshot.self, from: text))
    /// ```
    ///
    /// Encoding does not hide the values: the file is as secret as a password.
    public struct Snapshot: Sendable, Hashable {
        /// The cookies, oldest first, which keeps the order in which they are sent.
        public let cookies: [HTTP.Cookie]
    }

    /// Returns the cookies that have an expiry and, if requested, session cookies, which a program forgets when it
    /// ends.
    public func snapshot(includingSessionCookies: Bool = false) -> Snapshot {
        Snapshot(cookies: cookies.filter { includingSessionCookies || $0.expires != nil })
    }

    /// Adds the snapshot's cookies that have not expired.
    public func restore(_ snapshot: Snapshot) {
        // All of them are valid: a snapshot comes from a jar, or was checked when it was decoded.
        put(snapshot.cookies)
    }
}

extension CookieJar.Snapshot: Codable {
    private enum Key: String, CodingKey {
        case version
        case cookies
    }

    /// The version of the format that `encode` writes.
    private static let version = 1

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(Self.version, forKey: .version)
        try container.encode(cookies, forKey: .cookies)
    }

    /// Throws for an unknown version, and for cookies that could not be sent as they are.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let version = try container.decode(Int.self, forKey: .version)
        guard version == Self.version else {
            throw DecodingError.dataCorruptedError(
                forKey: .version, in: container,
                debugDescription: "the snapshot has version \(version), and only \(Self.version) can be read")
        }
        cookies = try container.decode([HTTP.Cookie].self, forKey: .cookies)
        for cookie in cookies {
            guard let problem = cookie.problem else { continue }
            throw DecodingError.dataCorruptedError(
                forKey: .cookies, in: container,
                debugDescription: "the cookie \(cookie.name.debugDescription) cannot be stored: \(problem)")
        }
    }
}

extension CookieJar.Snapshot: CustomStringConvertible {
    public var description: String { "\(cookies.count) cookies" }
}

internal import DunlinTypes

/// A Digest challenge (RFC 7616 §3.3).
package struct DigestChallenge: Sendable, Equatable {
    package let realm: String
    package internal(set) var nonce: String
    package let opaque: String?
    /// The protection space's URIs, as written; empty for the whole server.
    package let domain: [String]
    /// Whether the last answer was right except for its nonce.
    package let isStale: Bool
    package let algorithm: DigestAlgorithm
    /// The algorithm as written, to be sent back; nil if the server left it out, as it then knows only one.
    package let algorithmText: String?
    /// The qualities that are offered and known; empty without the parameter, as in RFC 2069.
    package let qualities: [DigestQuality]
    /// Whether the server names UTF-8. Name and password are sent in UTF-8 anyway, but the name's normal form depends
    /// on it.
    package let isUTF8: Bool
    /// Whether the user's name is to be hashed.
    package let hashesUser: Bool

    /// The number of a domain's URIs that are read.
    static let mostURIs = 32

    package init(_ challenge: Challenge) throws(ChallengeProblem) {
        if let problem = challenge.problem { throw problem }
        guard let realm = try Self.text("realm", of: challenge) else { throw .missing("realm") }
        guard let nonce = try Self.text("nonce", of: challenge) else { throw .missing("nonce") }
        self.realm = realm
        self.nonce = nonce
        opaque = try Self.text("opaque", of: challenge)
        domain = (challenge["domain"] ?? "").split { $0 == " " || $0 == "\t" }.prefix(Self.mostURIs).map(String.init)
        isStale = Self.isSet("stale", of: challenge)
        algorithmText = challenge["algorithm"]
        if let text = algorithmText {
            guard let algorithm = DigestAlgorithm(text) else { throw .unknownAlgorithm(text) }
            self.algorithm = algorithm
        } else {
            algorithm = .md5
        }
        qualities = try Self.qualities(challenge)
        if qualities.isEmpty, algorithm != .md5 { throw .noQuality(algorithm) }
        isUTF8 = challenge["charset"]?.lowercased() == "utf-8"
        hashesUser = Self.isSet("userhash", of: challenge)
    }

    /// The quality to answer with: the body is hashed only if the server accepts nothing less. Nil means RFC 2069.
    package var quality: DigestQuality? {
        qualities.contains(.authentication) ? .authentication : qualities.first
    }

    private static func qualities(_ challenge: Challenge) throws(ChallengeProblem) -> [DigestQuality] {
        guard let text = challenge["qop"] else { return [] }
        let names = text.lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }
        let known = names.compactMap { DigestQuality(rawValue: String($0)) }
        if known.isEmpty { throw .unknownQuality(text) }
        return known
    }

    private static func text(_ name: String, of challenge: Challenge) throws(ChallengeProblem) -> String? {
        guard let value = challenge.parameters[name] else { return nil }
        guard let text = String(validating: value, as: UTF8.self) else { throw .notText(name) }
        return text
    }

    private static func isSet(_ name: String, of challenge: Challenge) -> Bool {
        challenge[name]?.lowercased() == "true"
    }
}

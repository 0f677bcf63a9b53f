package import DunlinTypes

/// An algorithm of Digest authentication (RFC 7616 §6.1).
package struct DigestAlgorithm: Sendable, Hashable, CustomStringConvertible {
    package let function: HashFunction
    /// Whether the password's key is made once for a session, from its first nonces (`-sess`).
    package let isSession: Bool

    package static let md5 = DigestAlgorithm(function: .md5, isSession: false)

    package init(function: HashFunction, isSession: Bool) {
        self.function = function
        self.isSession = isSession
    }

    /// Creates an algorithm from its name in any case; nil if it is unknown.
    package init?(_ text: String) {
        let name = text.lowercased()
        let isSession = name.hasSuffix("-sess")
        switch isSession ? String(name.dropLast("-sess".count)) : name {
        case "md5": self.init(function: .md5, isSession: isSession)
        case "sha-256": self.init(function: .sha256, isSession: isSession)
        case "sha-512-256": self.init(function: .sha512of256, isSession: isSession)
        default: return nil
        }
    }

    /// The strength, for comparing; sessions make no difference.
    package var strength: Int {
        switch function {
        // Digest authentication has no SHA-1, so none is created with it.
        case .md5, .sha1: 1
        case .sha256: 2
        case .sha512, .sha512of256: 3
        }
    }

    package var description: String {
        (function == .sha512of256 ? "SHA-512-256" : function.rawValue) + (isSession ? "-sess" : "")
    }
}

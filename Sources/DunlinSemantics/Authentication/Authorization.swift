internal import DunlinTypes

/// The values of an Authorization field.
public enum Authorization {
    /// The error when something cannot be in an Authorization field. It holds no secret.
    public enum Problem: Error, Sendable, Hashable, CustomStringConvertible {
        /// The user's name has a colon, which would be taken for the separator from the password.
        case colonInUser
        case controlCharacter
        /// The token is malformed: it may have letters, digits and `-._~+/`, and equals signs at its end.
        case malformedToken

        public var description: String {
            switch self {
            case .colonInUser: "a user name for Basic authentication may not have a colon"
            case .controlCharacter: "user names and passwords may not have control characters"
            case .malformedToken: "a bearer token may only have letters, digits and -._~+/, and equals signs at its end"
            }
        }
    }

    /// Returns Basic credentials (RFC 7617), in UTF-8.
    public static func basic(user: String, password: String) throws(Problem) -> String {
        if user.utf8.contains(UInt8(ascii: ":")) { throw .colonInUser }
        let pair = "\(user):\(password)"
        if hasControls(pair) { throw .controlCharacter }
        return "Basic " + Base64.encode(Bytes(pair))
    }

    /// Returns a bearer token's value (RFC 6750 §2.1).
    public static func bearer(token: String) throws(Problem) -> String {
        var reader = ValueReader(token)
        guard reader.token68() != nil, reader.isAtEnd else { throw .malformedToken }
        return "Bearer " + token
    }

    /// Throws for a user or password that no answer to a challenge can carry.
    package static func check(user: String, password: String) throws(Problem) {
        if hasControls(user) || hasControls(password) { throw .controlCharacter }
    }

    /// C1 control characters have two bytes in UTF-8.
    static func hasControls(_ text: String) -> Bool {
        text.unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }
    }
}

/// A Basic challenge (RFC 7617 §2).
package struct BasicChallenge: Sendable, Equatable {
    /// The realm; empty if the server names none, though it should.
    package let realm: String
    /// Whether the server names UTF-8. Name and password are sent in UTF-8 anyway, but their normal form depends on it.
    package let isUTF8: Bool

    package init(_ challenge: Challenge) throws(ChallengeProblem) {
        if let problem = challenge.problem { throw problem }
        realm = challenge["realm"] ?? ""
        isUTF8 = challenge["charset"]?.lowercased() == "utf-8"
    }

    /// Returns the value of the field that answers it.
    package func answer(user: String, password: String) throws(Authorization.Problem) -> String {
        try Self.value(user, password, isUTF8: isUTF8)
    }

    /// Whether a field's value answers a Basic challenge with this password.
    package static func isAnswer(_ value: String, user: String, password: String) -> Bool {
        [true, false].contains { isUTF8 in
            do throws(Authorization.Problem) {
                return try Self.value(user, password, isUTF8: isUTF8) == value
            } catch {
                return false
            }
        }
    }

    private static func value(
        _ user: String, _ password: String, isUTF8: Bool
    ) throws(Authorization.Problem) -> String {
        guard isUTF8 else { return try Authorization.basic(user: user, password: password) }
        return try Authorization.basic(user: NormalText.of(user), password: NormalText.of(password))
    }
}

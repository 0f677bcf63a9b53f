/// What a Basic challenge asks for (RFC 7617 §2).
package struct BasicChallenge: Sendable, Equatable {
    /// Empty if the server names none, as it should.
    package let realm: String
    /// Whether user name and password are in UTF-8. They are sent in UTF-8 anyhow; their form depends on it.
    package let isUTF8: Bool

    package init(_ challenge: Challenge) throws(ChallengeProblem) {
        if let problem = challenge.problem { throw problem }
        realm = challenge["realm"] ?? ""
        isUTF8 = challenge["charset"]?.lowercased() == "utf-8"
    }

    /// The value of the field that answers it.
    package func answer(user: String, password: String) throws(Authorization.Problem) -> String {
        try Self.value(user, password, isUTF8: isUTF8)
    }

    /// Whether a field's value is an answer by this password, to whatever challenge.
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

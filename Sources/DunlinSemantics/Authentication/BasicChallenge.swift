/// What a Basic challenge asks for (RFC 7617 §2). User name and password are sent in UTF-8, whatever its charset.
package struct BasicChallenge: Sendable, Equatable {
    /// Empty if the server names none, as it should.
    package let realm: String

    package init(_ challenge: Challenge) throws(ChallengeProblem) {
        if let problem = challenge.problem { throw problem }
        realm = challenge["realm"] ?? ""
    }
}

/// Who a session's user is where only its code knows: its authenticator, its handler or its interceptors.
///
/// By default nobody else is that user: another session with the same code may have another one, and so may the next
/// run of the program. Sessions whose configurations name the same user are one user's.
struct SessionUser: Sendable {
    private let name: String?
    /// What no other session has, in any process.
    let number = Self.newNumber()

    init(_ name: String?) {
        self.name = name
    }

    /// `source` is who knows the user, and `part` which part of it is asked, if not all of it is. `era` tells the users
    /// apart that a session without a name may have had one after the other.
    func sign(_ source: Access.Sign.Source, part: String = "all", era: String = "") -> Access.Sign {
        .session(source, part: part, name.map { "named \($0)" } ?? "session \(number) \(era)")
    }

    /// What servers this session's handler may have trusted: a name vouches for it as for the user.
    var trust: String { name.map { "handler named \($0)" } ?? "handler \(number)" }

    /// Where code of the session's leads that stands between it and its servers, a resolver or a transport. Sessions
    /// with the same object are led alike, and a name vouches for that too.
    func way(by code: any Sendable) -> String {
        if let name { return "code named \(name)" }
        return "code \(CodeNumbers.shared.number(of: code) ?? number)"
    }

    static func newNumber() -> String {
        var random = SystemRandomNumberGenerator()
        return String(random.next(), radix: 36) + "-" + String(random.next(), radix: 36)
    }
}

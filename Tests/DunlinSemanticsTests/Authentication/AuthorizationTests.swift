import DunlinSemantics
import LedgerRows
import Testing

@Suite struct `An Authorization field` {
    @Test(
        .rows("RQ-47"), .rules("9110-11.4-1"),
        arguments: [
            ("Aladdin", "open sesame", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
            ("test", "123\u{A3}", "Basic dGVzdDoxMjPCow=="),
            ("", "", "Basic Og=="), ("u", "p:q", "Basic dTpwOnE="),
        ])
    func `an Authorization field carries user and password in UTF-8`(user: String, password: String, expected: String)
        throws
    {
        #expect(try Authorization.basic(user: user, password: password) == expected)
    }

    @Test(arguments: [
        ("a:b", "p", Authorization.Problem.colonInUser), ("a\r\nX", "p", .controlCharacter),
        ("a", "p\n", .controlCharacter), ("a\0", "p", .controlCharacter), ("a", "\u{7F}", .controlCharacter),
        ("a", "\u{85}", .controlCharacter),
    ])
    func `an Authorization field is refused for a name or password that it cannot carry`(
        user: String, password: String, problem: Authorization.Problem
    ) {
        #expect(throws: problem) { try Authorization.basic(user: user, password: password) }
    }

    @Test(arguments: ["mF_9.B5f-4.1JqM", "a", "abc+/~==", "0"])
    func `an Authorization field carries a bearer's token`(token: String) throws {
        #expect(try Authorization.bearer(token: token) == "Bearer \(token)")
    }

    @Test(arguments: ["", "=", "==", "a b", "a=b", "a\r\nX: y", "é", "\"a\"", "a,b", "a\0", " a", "a:b"])
    func `an Authorization field is refused for what is no token`(token: String) {
        #expect(throws: Authorization.Problem.malformedToken) { try Authorization.bearer(token: token) }
    }
}

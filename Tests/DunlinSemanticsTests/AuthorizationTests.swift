import DunlinSemantics
import Testing

@Suite struct `An Authorization field` {
    @Test(arguments: [
        ("Aladdin", "open sesame", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
        ("test", "123\u{A3}", "Basic dGVzdDoxMjPCow=="),
        ("", "", "Basic Og=="), ("u", "p:q", "Basic dTpwOnE="),
    ])
    func `says user and password in UTF-8`(user: String, password: String, expected: String) throws {
        #expect(try Authorization.basic(user: user, password: password) == expected)
    }

    @Test(arguments: [
        ("a:b", "p", Authorization.Problem.colonInUser), ("a\r\nX", "p", .controlCharacter),
        ("a", "p\n", .controlCharacter), ("a\0", "p", .controlCharacter), ("a", "\u{7F}", .controlCharacter),
        ("a", "\u{85}", .controlCharacter),
    ])
    func `is refused for names and passwords that cannot be told`(
        user: String, password: String, problem: Authorization.Problem
    ) {
        #expect(throws: problem) { try Authorization.basic(user: user, password: password) }
    }

    @Test(arguments: ["mF_9.B5f-4.1JqM", "a", "abc+/~==", "0"])
    func `says a bearer's token`(token: String) throws {
        #expect(try Authorization.bearer(token: token) == "Bearer \(token)")
    }

    @Test(arguments: ["", "=", "==", "a b", "a=b", "a\r\nX: y", "é", "\"a\"", "a,b", "a\0", " a", "a:b"])
    func `is refused for what is no token`(token: String) {
        #expect(throws: Authorization.Problem.malformedToken) { try Authorization.bearer(token: token) }
    }
}

import DunlinCommandLine
import Testing

@Suite struct NetrcFileTests {
    private static func login(_ text: String, of host: String = "a.test") throws -> NetrcFile.Login? {
        try NetrcFile(Array(text.utf8)).login(for: host)
    }

    @Test(
        arguments: [
            ("bob", "b"), ("ada", "a"), ("Ada", nil), ("ad", nil), ("", nil), ("eve", nil), ("dan", nil), ("é", "e"),
            // The same letter in two characters is another name.
            ("e\u{301}", nil),
        ] as [(String, String?)])
    func `of a user's entries only those with that name count`(user: String, password: String?) throws {
        let text = """
            machine a.test password x
            machine a.test password b login bob
            machine b.test login dan password x
            machine a.test login ada password a
            machine a.test login ada password x
            machine a.test login é password e
            default login eve password x
            """
        #expect(try NetrcFile(Array(text.utf8)).login(for: "a.test", user: user)?.password == password)
    }

    @Test(
        arguments: [
            ("machine a.test login ada password pw", "ada", "pw"),
            ("machine a.test\r\n  password\tpw\r\n  user ada\r\n", "ada", "pw"),
            ("machine b.test login b password c\nmachine a.test login ada password pw", "ada", "pw"),
            ("machine A.TEST login ada password pw", "ada", "pw"),
            ("MACHINE a.test Login ada PassWord pw", "ada", "pw"),
            ("machine a.test login ada account x password pw", "ada", "pw"),
            ("machine a.test login ada password pw\nmachine a.test login bob password no", "ada", "pw"),
            ("machine a.test login \"ada l\" password \"p\\\"w\\\\ \\tx\"", "ada l", "p\"w\\ \tx"),
            ("machine a.test login ada password p\\w", "ada", "p\\w"),
            ("# machine a.test login x password y\nmachine a.test login ada password pw # end", "ada", "pw"),
            ("machine a.test login ada password #pw", "ada", "#pw"),
            ("machine a.test login machine password login", "machine", "login"),
            ("macdef init\nmachine a.test login x password y\n\nmachine a.test login ada password pw", "ada", "pw"),
            ("machine a.test login ada macdef init\npassword no\n\r\npassword pw", "ada", "pw"),
            ("machine a.test login ada password \"\"", "ada", ""), ("default login x password y", nil, nil),
            ("machine a.test", nil, nil), ("machine a.test login ada", "ada", nil),
            ("machine a.test login é password ü", "é", "ü"), ("", nil, nil), ("macdef x", nil, nil),
            ("machine a.test login ada password pw\ndefault login x password y", "ada", "pw"),
        ] as [(String, String?, String?)])
    func `an entry has a login and a password`(text: String, name: String?, password: String?) throws {
        let login = try Self.login(text)
        #expect(login?.name == name && login?.password == password)
    }

    @Test(arguments: ["b.a.test", "test", "a.test.", "a.tes", "xa.test", "", "*", "a.test:80", "default"])
    func `a host is compared whole`(host: String) throws {
        #expect(try Self.login("machine a.test login ada password pw\ndefault login x password y", of: host) == nil)
    }

    @Test func `an address may have brackets in the file`() throws {
        #expect(try Self.login("machine [::1] login a password b", of: "::1")?.name == "a")
        #expect(try Self.login("machine ::1 login a password b", of: "::1")?.name == "a")
    }

    @Test func `an entry for all hosts is known and gives nothing`() throws {
        let file = try NetrcFile(Array("default login x password y\nmachine a.test login ada password pw".utf8))
        #expect(file.hasDefault && file.login(for: "b.test") == nil && file.login(for: "a.test")?.name == "ada")
    }

    @Test(
        arguments: [
            ("machine", "line 1 has a machine without a value"),
            ("\nmachine a.test login\n\n", "line 2 has a login without a value"),
            ("login ada", "line 1 has a login before any machine"),
            ("machine a.test login ada\nhunter2", "line 2 has a word that netrc files do not have there"),
            (
                "machine a.test login ada password hunter2 hunter3",
                "line 1 has a word that netrc files do not have there"
            ),
            ("machine a.test\npassword \"hunter2\nlogin ada\"", "line 2 has a quote that does not end"),
            ("machine a.test password \"hunter2\\", "line 1 has a quote that does not end"),
            ("machine a.test password \"hunter2\"x", "line 1 has more behind a closing quote"),
            ("machine a.test\0", "it is not UTF-8 text"),
        ])
    func `an error names a line and nothing secret`(text: String, expected: String) {
        #expect(throws: UsageError(description: expected)) { try NetrcFile(Array(text.utf8)) }
    }

    @Test func `bytes that are no text, and long ones, are read in time`() throws {
        #expect(throws: UsageError.self) { try NetrcFile([0xFF, 0xFE]) }
        let many = String(repeating: "machine b.test login x password y\n", count: 20_000)
        #expect(try Self.login(many + "machine a.test login ada password pw")?.name == "ada")
        let long = String(repeating: "x", count: 500_000)
        #expect(try Self.login("machine a.test login \(long) password \"\(long)\"")?.password == long)
    }

    @Test func `a login is not described`() throws {
        let login = try #require(try Self.login("machine a.test login ada password hunter2"))
        var dumped = ""
        dump(login, to: &dumped)
        #expect(!"\(login) \(dumped)".contains("hunter2"))
    }
}

import DunlinSemantics
import DunlinTypes
import LedgerRows
import Testing

@Suite struct `Digest authentication` {
    private static func challenge(_ nonce: String, _ rest: String = "", realm: String = "r") throws -> DigestChallenge {
        try digestChallenge("realm=\(realm), nonce=\(nonce), qop=auth\(rest.isEmpty ? "" : ", \(rest)")")
    }

    /// Why the call has sent an answer before, with the nonce n1; the nonce and the rest of the challenge that comes.
    static let repetitions: [(DigestAnswer.Cause?, String, String, DigestMachine.Action)] = [
        (nil, "n2", "", .answer(.challenged)), (nil, "n2", "stale=true", .answer(.challenged)),
        (nil, "n1", "", .answer(.challenged)),
        (.challenged, "n2", "stale=true", .answer(.renewed)), (.challenged, "n1", "stale=true", .answer(.renewed)),
        (.challenged, "n2", "", .refuse(.wrongPassword)), (.challenged, "n2", "stale=false", .refuse(.wrongPassword)),
        (.challenged, "n2", "stale=yes", .refuse(.wrongPassword)), (.challenged, "n1", "", .refuse(.wrongPassword)),
        (.renewed, "n2", "stale=true", .refuse(.staleAgain)), (.renewed, "n2", "", .refuse(.wrongPassword)),
        (.unasked, "n2", "stale=true", .answer(.renewed)), (.unasked, "n2", "", .answer(.renewed)),
        (.unasked, "n1", "stale=true", .answer(.renewed)), (.unasked, "n1", "", .refuse(.wrongPassword)),
    ]

    @Test(arguments: repetitions)
    func `a challenge is answered once, and a stale nonce once more`(
        cause: DigestAnswer.Cause?, nonce: String, rest: String, action: DigestMachine.Action
    ) throws {
        var machine = try DigestMachine()
        #expect(machine.challenged(try Self.challenge("n1")) == .answer(.challenged))
        let last = try cause.map { try machine.get(cause: $0) }
        #expect(machine.challenged(try Self.challenge(nonce, rest), after: last) == action)
        let isTaken = if case .answer = action { true } else { false }
        #expect(machine.challenge?.nonce == (isTaken ? nonce : "n1"))
    }

    @Test(.rules("9110-11.5-1")) func `another realm has nothing to do with the answer before`() throws {
        var machine = try DigestMachine()
        #expect(machine.challenged(try Self.challenge("n1")) == .answer(.challenged))
        let last = try machine.get(cause: .renewed)
        #expect(machine.challenged(try Self.challenge("n2", realm: "s"), after: last) == .answer(.challenged))
        // The same to Unicode, and two to a server.
        let (composed, decomposed) = ("\"\u{E9}\"", "\"e\u{301}\"")
        #expect(machine.challenged(try Self.challenge("n3", realm: composed)) == .answer(.challenged))
        let other = try machine.get()
        let action = machine.challenged(try Self.challenge("n3", realm: decomposed), after: other)
        #expect(action == .answer(.challenged))
    }

    @Test func `each nonce's uses are counted from 1`() throws {
        var machine = try DigestMachine()
        var counts: [String] = []
        for nonce in ["a", "a", "b", "a", "b"] {
            #expect(machine.challenged(try Self.challenge(nonce)) == .answer(.challenged))
            counts += [try machine.get().count, try machine.get().count]
        }
        let digits = counts.map { $0.drop { $0 == "0" } }
        #expect(digits == ["1", "2", "3", "4", "1", "2", "5", "6", "3", "4"] && counts.allSatisfy { $0.count == 8 })
        for number in 5...31 { #expect(try machine.get().value.contains(number < 16 ? "nc=0000000" : "nc=000000")) }
        #expect(try machine.get().count == "00000020")
    }

    /// Without memory for all nonces that a server can think of.
    @Test func `only the last nonces are remembered`() throws {
        var machine = try DigestMachine()
        for number in 0..<100 {
            #expect(machine.challenged(try Self.challenge("n\(number)")) == .answer(.challenged))
            #expect(try machine.get().count == "00000001")
        }
        #expect(machine.challenged(try Self.challenge("n99")) == .answer(.challenged))
        #expect(try machine.get().count == "00000002")
        #expect(machine.challenged(try Self.challenge("n0")) == .answer(.challenged))
        #expect(try machine.get().count == "00000001")
    }

    @Test func `a new challenge begins a new session`() throws {
        var machine = try DigestMachine()
        let sessions = "algorithm=SHA-256-sess"
        #expect(machine.challenged(try Self.challenge("n1", sessions)) == .answer(.challenged))
        #expect(try [machine.get("/", "c1").clientNonce, machine.get("/", "c2").clientNonce] == ["c1", "c1"])
        #expect(machine.challenged(try Self.challenge("n1", sessions)) == .answer(.challenged))
        #expect(try machine.get("/", "c3").clientNonce == "c1")
        #expect(machine.challenged(try Self.challenge("n2", sessions)) == .answer(.challenged))
        #expect(try machine.get("/", "c4").clientNonce == "c4")
    }

    @Test(arguments: [
        ("ada", "", #"username="ada""#), ("ada", "charset=UTF-8", #"username="ada""#),
        (#"a"d\a:"#, "charset=UTF-8", #"username="a\"d\\a:""#),
        ("\u{E4} b!'()*\"", "charset=utf-8", "username*=UTF-8''%C3%A4%20b!%27%28%29%2A%22"),
        ("\u{E4}", "", "username=\"\u{E4}\""), ("\u{E4}", "charset=ISO-8859-1", "username=\"\u{E4}\""),
        ("", "", #"username="""#),
    ])
    func `a user's name has the form that its letters and the server need`(
        user: String, rest: String, parameter: String
    ) throws {
        var machine = try DigestMachine(user)
        #expect(machine.challenged(try Self.challenge("n", rest)) == .answer(.challenged))
        #expect(try machine.get().value.hasPrefix("Digest \(parameter), realm="))
    }

    @Test(arguments: [("a\r\nX", "p"), ("a", "p\0"), ("a\u{7F}", "p"), ("a", "\u{85}")])
    func `control characters are refused`(user: String, password: String) throws {
        #expect(throws: Authorization.Problem.controlCharacter) { try DigestMachine(user, password) }
        var machine = try DigestMachine()
        #expect(machine.challenged(try Self.challenge("n")) == .answer(.challenged))
        #expect(throws: DigestProblem.unusableClientNonce) { try machine.get("/", "") }
        #expect(throws: DigestProblem.unusableClientNonce) { try machine.get("/", "a\n") }
        #expect(try machine.get().count == "00000001")
    }

    @Test func `without a challenge, a body's hash or a hash function there is no answer`() throws {
        var machine = try DigestMachine()
        #expect(throws: DigestProblem.notChallenged) { try machine.get() }
        #expect(machine.challenged(try digestChallenge("realm=r, nonce=n, qop=auth-int")) == .answer(.challenged))
        #expect(throws: DigestProblem.noBodyHash) { try machine.get() }
        #expect(machine.bodyHashFunction == .md5)
        let request = DigestRequest(method: .get, target: "/", bodyHash: hashing(.md5, .empty))
        #expect(try machine.answer(request, clientNonce: "c").count == "00000001")

        var poor = try DigestMachine(user: "u", password: "p") { $0 == .md5 ? nil : hashing($0, $1) }
        #expect(poor.challenged(try Self.challenge("n")) == .refuse(.unavailable(.md5)))
        #expect(poor.challenged(try Self.challenge("n", "algorithm=SHA-256")) == .answer(.challenged))
    }

    @Test func `no description shows a secret`() throws {
        var machine = try DigestMachine("ada", "sesame")
        #expect(machine.challenged(try Self.challenge("n")) == .answer(.challenged))
        let answer = try machine.get()
        var dumped = ""
        dump(machine, to: &dumped)
        dump(answer, to: &dumped)
        dump(ProtectionSpaces.Access.digest(machine), to: &dumped)
        dump(ProtectionSpaces.Access.basic("Basic c2VzYW1l"), to: &dumped)
        let shown = "\(machine) \(String(reflecting: machine)) \(answer) \(String(reflecting: answer)) \(dumped)"
        #expect(!["ada", "sesame", "c2VzYW1l", answer.value.suffix(33)].contains { shown.contains($0) })
    }
}

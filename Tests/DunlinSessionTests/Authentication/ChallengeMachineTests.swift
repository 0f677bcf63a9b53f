import Dunlin
import Testing

@testable import DunlinSession

@Suite struct `Who answers a challenge` {
    private typealias Space = HTTPSession.AuthenticationChallenge.ProtectionSpace

    private static let spaces = [Space(.digest, realm: "r"), Space(.basic, realm: "r"), Space(.bearer)]

    @Test(
        arguments: [
            (false, false, .deliver), (false, true, .answerByPassword), (true, false, .ask(0)), (true, true, .ask(0)),
        ] as [(Bool, Bool, ChallengeMachine.Action)])
    func `hooks are asked first, then the password answers, and nobody else does`(
        hasHooks: Bool, hasPassword: Bool, action: ChallengeMachine.Action
    ) {
        var machine = ChallengeMachine(hasHooks: hasHooks, hasPassword: hasPassword)
        #expect(machine.challenged(Self.spaces, refused: nil) == action)
        #expect(machine.challenged([], refused: nil) == .deliver)
    }

    @Test func `a handler is asked about one protection space after the other until it does not reject one`() {
        var machine = ChallengeMachine(hasHooks: true, hasPassword: true)
        #expect(machine.challenged(Self.spaces, refused: nil) == .ask(0))
        #expect(machine.rejected(0) == .ask(1))
        #expect(machine.rejected(1) == .ask(2))
        #expect(machine.rejected(2) == .deliver)
        #expect(machine.byDefault() == .answerByPassword)
    }

    @Test func `handlers are asked again with the count of refused answers, up to a limit`() {
        var machine = ChallengeMachine(hasHooks: true, hasPassword: false)
        #expect(machine.challenged(Self.spaces, refused: .memory) == .ask(0))
        #expect(machine.refusals == 0, "what was sent unasked may have been replaced")
        for count in 1..<ChallengeMachine.mostHookAnswers {
            #expect(machine.challenged(Self.spaces, refused: .hook) == .ask(0))
            #expect(machine.refusals == count)
        }
        #expect(machine.challenged(Self.spaces, refused: .hook) == .fail)
    }

    @Test func `a password answers a realm once, and no number of realms without end`() {
        var machine = ChallengeMachine(hasHooks: false, hasPassword: true)
        #expect(machine.challenged(Self.spaces, refused: nil) == .answerByPassword)
        machine.answered(Self.spaces[0])
        #expect(!machine.mayUsePassword)
        #expect(machine.challenged(Self.spaces, refused: .password) == .deliver)
        for number in 1..<ChallengeMachine.mostPasswordAnswers {
            let other = [Space(.basic, realm: "\(number)")]
            #expect(machine.challenged(other, refused: .password) == .answerByPassword)
        }
        #expect(machine.challenged([Space(.basic, realm: "x")], refused: .password) == .deliver)
    }

    @Test(arguments: [
        (["Basic realm=a, Digest realm=a, nonce=n, qop=auth"], ["digest a", "basic a"]),
        (["Digest realm=a, nonce=n, qop=auth", "Digest realm=a, nonce=m, qop=auth, algorithm=SHA-256"], ["digest a"]),
        (
            ["Negotiate", "Bearer realm=\"t\", error=x", "Basic realm=b"],
            ["basic b", "other(\"Negotiate\") ", "bearer t"]
        ),
        (["Digest realm=a", "Basic realm=a, realm=b"], []), ([], []),
    ])
    func `a response's protection spaces are told each once, the strongest first`(
        challenges: [String], spaces: [String]
    ) {
        var head = ResponseHead(status: 401)
        for challenge in challenges { head.fields.append(name: "WWW-Authenticate", value: challenge) }
        #expect(ResponseChallenges(head).spaces.map { "\($0.method) \($0.realm)" } == spaces)
    }
}

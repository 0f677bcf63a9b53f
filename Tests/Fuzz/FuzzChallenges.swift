import DunlinSecure
import DunlinSemantics
import DunlinTypes

/// Fields of a server that asks for credentials, one a line, and behind an empty line what it says of the answer.
/// Whatever comes, challenges are read the same when they are written again, an answer is one field that says what the
/// challenge did, nothing is answered for ever, and the spaces keep to their limit.
enum FuzzChallenges {
    private static let hashing: Hashing = { function, bytes in
        do throws(HashFunction.Unavailable) { return try function.hash(of: bytes) } catch { return nil }
    }

    static func violation(of input: [UInt8]) -> String? {
        let lines = input.split(separator: 0x0A, omittingEmptySubsequences: false).map { Bytes(Array($0)) }
        let end = lines.firstIndex(where: \.isEmpty) ?? lines.count
        let challenges = Challenge.all(in: Array(lines[..<end]))
        if challenges.count > 16 { return "too many challenges" }
        for challenge in challenges {
            if let problem = violation(of: challenge) { return "\(problem): \(challenge)" }
        }
        let info = AuthenticationInfo(Array(lines[end...].dropFirst()))
        let choice = ChallengeChoice(challenges)
        if choice.options.count + choice.refusals.count != challenges.count { return "a challenge is lost" }
        var spaces = ProtectionSpaces(limit: 3)
        for option in choice.options {
            guard case .digest(let challenge) = option else { continue }
            if let problem = violation(answering: challenge, info, &spaces) { return problem }
        }
        return spaces.count > 3 ? "too many spaces" : nil
    }

    private static func violation(of challenge: Challenge) -> String? {
        if challenge.parameters.count > 32 { return "too many parameters" }
        if challenge.token68 != nil, challenge.problem == nil, !challenge.parameters.isEmpty { return "both forms" }
        let isText = challenge.parameters.values.allSatisfy { String(validating: $0, as: UTF8.self) != nil }
        guard challenge.problem == nil, isText else { return nil }
        return Challenge.all(in: [Bytes(challenge.description)]) == [challenge] ? nil : "another challenge"
    }

    private static func violation(
        answering challenge: DigestChallenge, _ info: AuthenticationInfo?, _ spaces: inout ProtectionSpaces
    ) -> String? {
        do {
            var machine = try DigestMachine(user: "\u{E4}\"\\", password: "p", hashing: hashing)
            guard machine.challenged(challenge) == .answer(.challenged) else { return "not answered" }
            let answer = try machine.answer(request(machine), clientNonce: "c", cause: .challenged)
            if let problem = violation(of: answer, to: challenge) { return "\(problem): \(answer.value)" }
            if let info, machine.confirmed(info, of: answer) == .proven { return "a proof without the password" }
            let again = try machine.answer(request(machine), clientNonce: "d", cause: .renewed)
            if let problem = violation(of: again, to: machine.challenge ?? challenge) { return problem }
            if case .answer = machine.challenged(challenge, after: again) { return "answered for ever" }
            let address = try WebAddress("https://a.test/b/c")
            let scope = ProtectionScope.digest(challenge, at: address)
            if scope.paths.count > 32 { return "too many paths" }
            let name = spaces.keep(.digest(machine), origin: "o", realm: challenge.realm, scope: scope)
            let found = spaces.name(for: "o", target: "/b/c")
            return challenge.domain.isEmpty && found != name && spaces.count == 1 ? "not in its space" : nil
        } catch {
            return "\(error)"
        }
    }

    private static func request(_ machine: DigestMachine) -> DigestRequest {
        DigestRequest(
            method: .post, target: "/b/c?d", bodyHash: machine.bodyHashFunction.flatMap { hashing($0, "body") })
    }

    /// What is answered is read as a challenge is: scheme and parameters have the same form.
    private static func violation(of answer: DigestAnswer, to challenge: DigestChallenge) -> String? {
        if answer.value.utf8.contains(where: { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7F }) {
            return "more than one line"
        }
        let read = Challenge.all(in: [Bytes(answer.value)])
        guard read.count == 1, let read = read.first, read.problem == nil else { return "no answer" }
        let texts = [
            ("realm", challenge.realm), ("nonce", challenge.nonce), ("opaque", challenge.opaque),
            ("algorithm", challenge.algorithmText), ("qop", challenge.quality?.rawValue), ("uri", "/b/c?d"),
        ]
        for (name, text) in texts where read.parameters[name] != text.map({ Bytes($0) }) { return "another \(name)" }
        return (read["response"] ?? "").utf8.count == 2 * challenge.algorithm.function.byteCount ? nil : "no response"
    }
}

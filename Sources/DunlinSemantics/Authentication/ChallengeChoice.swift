internal import DunlinTypes

/// The challenges that a password can answer, the best first, and why it cannot answer the others.
///
/// The strongest comes first, whatever order the server has them in: Digest by SHA-512-256, by SHA-256 and by MD5, with
/// sessions or without, and then Basic. Of those that are as strong the server's first one comes first.
package struct ChallengeChoice: Sendable, Equatable {
    package enum Option: Sendable, Equatable {
        case digest(DigestChallenge)
        case basic(BasicChallenge)

        package var realm: String {
            switch self {
            case .digest(let challenge): challenge.realm
            case .basic(let challenge): challenge.realm
            }
        }

        var strength: Int {
            switch self {
            case .digest(let challenge): challenge.algorithm.strength
            case .basic: 0
            }
        }
    }

    package struct Refusal: Sendable, Equatable, CustomStringConvertible {
        package let scheme: String
        package let problem: ChallengeProblem

        package var description: String { "\(VisibleText.of(scheme, upTo: 60)): \(problem)" }
    }

    package let options: [Option]
    /// The refused challenges, in the server's order.
    package let refusals: [Refusal]
    /// The first challenge for a token; it is also among the refusals.
    package let bearer: Challenge?

    package init(_ challenges: [Challenge]) {
        var options: [Option] = []
        var refusals: [Refusal] = []
        for challenge in challenges {
            do throws(ChallengeProblem) {
                options.append(try Self.option(challenge))
            } catch {
                refusals.append(Refusal(scheme: challenge.scheme, problem: error))
            }
        }
        // `sort` need not be stable: the position decides among equals.
        self.options = options.enumerated().sorted {
            ($1.element.strength, $0.offset) < ($0.element.strength, $1.offset)
        }.map(\.element)
        self.refusals = refusals
        bearer = challenges.first { $0.isOf("Bearer") && $0.problem == nil }
    }

    private static func option(_ challenge: Challenge) throws(ChallengeProblem) -> Option {
        switch challenge.scheme.lowercased() {
        case "digest": return .digest(try DigestChallenge(challenge))
        case "basic": return .basic(try BasicChallenge(challenge))
        case "bearer": throw challenge.problem ?? .wantsToken
        default: throw .unknownScheme
        }
    }
}

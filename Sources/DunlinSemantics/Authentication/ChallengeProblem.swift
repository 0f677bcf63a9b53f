internal import DunlinTypes

/// Why a challenge is not answered. The texts in it are the server's.
package enum ChallengeProblem: Error, Sendable, Hashable {
    case malformed
    /// Which of two was meant nobody knows, and somebody may have put in the other.
    case repeated(String)
    case tooManyParameters
    case missing(String)
    /// A parameter that is sent back, and is not UTF-8.
    case notText(String)
    case unknownScheme
    /// Bearer: a password is no answer.
    case wantsToken
    case unknownAlgorithm(String)
    case unknownQuality(String)
    /// Only MD5 was ever used without a quality of protection, and not with sessions.
    case noQuality(DigestAlgorithm)
}

extension ChallengeProblem: CustomStringConvertible {
    package var description: String {
        switch self {
        case .malformed: "it cannot be read"
        case .repeated(let name): "\(Self.shown(name)) is given twice"
        case .tooManyParameters: "it has more than \(ChallengeReader.mostParameters) parameters"
        case .missing(let name): "it has no \(name)"
        case .notText(let name): "its \(name) is not UTF-8"
        case .unknownScheme: "the scheme is not supported"
        case .wantsToken: "it asks for a token and not for a password"
        case .unknownAlgorithm(let text): "the algorithm \"\(Self.shown(text))\" is not supported"
        case .unknownQuality(let text): "no qop of \"\(Self.shown(text))\" is supported"
        case .noQuality(let algorithm): "\(algorithm) needs a qop, and there is none"
        }
    }

    private static func shown(_ text: String) -> String { VisibleText.of(text, upTo: 60) }
}

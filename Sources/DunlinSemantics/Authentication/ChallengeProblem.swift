internal import DunlinTypes

/// The reason not to answer a challenge. The texts in it are the server's.
package enum ChallengeProblem: Error, Sendable, Hashable {
    case malformed
    /// A parameter is repeated: it is unclear which one was meant, and one may be an attacker's.
    case repeated(String)
    case tooManyParameters
    case missing(String)
    /// A parameter that must be sent back is not UTF-8.
    case notText(String)
    case unknownScheme
    /// It is a Bearer challenge, which a password cannot answer.
    case wantsToken
    case unknownAlgorithm(String)
    case unknownQuality(String)
    /// It has no quality of protection, which only MD5 without sessions may lack.
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

package import DunlinTypes

/// Who asks for credentials (RFC 9110 §11.6 and §11.7). The rules are the same for both; the fields have other names.
package enum Challenger: Sendable, Hashable, CaseIterable {
    case origin
    case proxy

    package var status: HTTP.Status {
        switch self {
        case .origin: .unauthorized
        case .proxy: .proxyAuthenticationRequired
        }
    }

    /// The field of a response that asks.
    package var challengeField: String {
        switch self {
        case .origin: "WWW-Authenticate"
        case .proxy: "Proxy-Authenticate"
        }
    }

    /// The field of a request that answers.
    package var answerField: String {
        switch self {
        case .origin: "Authorization"
        case .proxy: "Proxy-Authorization"
        }
    }

    /// The field of a response that says what came of the answer.
    package var infoField: String {
        switch self {
        case .origin: "Authentication-Info"
        case .proxy: "Proxy-Authentication-Info"
        }
    }
}

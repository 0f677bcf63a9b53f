package import DunlinTypes

/// The side that asks for credentials (RFC 9110 §11.6 and §11.7). The rules are the same for both, the fields' names
/// differ.
package enum Challenger: Sendable, Hashable, CaseIterable {
    case origin
    case proxy

    package var status: HTTP.Status {
        switch self {
        case .origin: .unauthorized
        case .proxy: .proxyAuthenticationRequired
        }
    }

    /// The response's field with the challenges.
    package var challengeField: String {
        switch self {
        case .origin: "WWW-Authenticate"
        case .proxy: "Proxy-Authenticate"
        }
    }

    /// The request's field with the answer.
    package var answerField: String {
        switch self {
        case .origin: "Authorization"
        case .proxy: "Proxy-Authorization"
        }
    }

    /// The response's field with the confirmation of an answer.
    package var infoField: String {
        switch self {
        case .origin: "Authentication-Info"
        case .proxy: "Proxy-Authentication-Info"
        }
    }
}

internal import DunlinSemantics

/// A URL as a journal saves it: with asterisks for query values whose names look secret or that contain an encoded
/// secret. Such a URL can no longer be requested.
struct StoredURL: Sendable, Equatable {
    let text: String
    let hidesSecrets: Bool

    /// Creates a stored URL; `secret` says what to hide, nil for nothing.
    init(_ url: String, hiding secret: HTTP.SecretFields?) {
        text = secret.map { WebAddress.withoutSecretsOfQuery(url, hiding: $0) } ?? url
        hidesSecrets = text != url
    }
}

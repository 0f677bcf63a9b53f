internal import DunlinSemantics

/// A URL as a journal saves it: values of its query whose names look like secrets are asterisks.
struct StoredURL: Sendable, Equatable {
    let text: String
    let hidesSecrets: Bool

    /// `secret` is what to hide; nil for nothing.
    init(_ url: String, hiding secret: HTTP.SecretFields?) {
        text = secret.map { WebAddress.named(url, hiding: $0) } ?? url
        hidesSecrets = text != url
    }
}

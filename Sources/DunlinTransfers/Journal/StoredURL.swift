internal import DunlinSemantics

/// A URL as a journal saves it: values of its query whose names look like secrets, and those that have a secret encoded
/// in them, are asterisks. It cannot be asked for any more then.
struct StoredURL: Sendable, Equatable {
    let text: String
    let hidesSecrets: Bool

    /// `secret` is what to hide; nil for nothing.
    init(_ url: String, hiding secret: HTTP.SecretFields?) {
        text = secret.map { WebAddress.withoutSecretsOfQuery(url, hiding: $0) } ?? url
        hidesSecrets = text != url
    }
}

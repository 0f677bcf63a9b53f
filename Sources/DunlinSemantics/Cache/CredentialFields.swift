package import DunlinTypes

/// Which fields of a request say who sends it: all that are hidden where they are printed, for a secret is somebody's.
package enum CredentialFields {
    /// What nearly every request has, and nobody hides anything in. To look for signs of secrets in a name takes longer
    /// than a response from memory should.
    private static let harmless: Set<String> = [
        "accept", "accept-encoding", "accept-language", "cache-control", "content-length", "content-type", "host",
        "if-modified-since", "if-none-match", "if-range", "pragma", "range", "user-agent",
    ]

    /// Their names, in lower case, each once. Cookies are for Vary to name.
    package static func names(in fields: Fields, _ secret: HTTP.SecretFields) -> [String] {
        var names: [String] = []
        for field in fields {
            let name = field.name.lowercased()
            if name == "cookie" || names.contains(name) { continue }
            let says = harmless.contains(name) ? fields.isSensitive(name) : fields.holdsSecret(name, secret)
            if says { names.append(name) }
        }
        return names
    }
}

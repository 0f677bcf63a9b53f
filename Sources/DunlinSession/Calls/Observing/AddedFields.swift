internal import DunlinTransport
internal import DunlinWire

/// The fields that observers add to one exchange. They may identify a trace; they may not change what is asked for, who
/// asks, or how the message is framed.
struct AddedFields {
    private let secretFields: HTTP.SecretFields
    private let own: Fields
    /// What is sent; nil if nothing was added.
    private(set) var fields: Fields?
    /// The names of those that were added, in lower case.
    private(set) var names: [String] = []
    /// How many fields were not added because they may not be.
    private(set) var dropped = 0

    init(to own: Fields, _ secretFields: HTTP.SecretFields) {
        (self.own, self.secretFields) = (own, secretFields)
    }

    /// Adds what `add` wants to add.
    mutating func collect<Value>(_ add: (inout Fields) -> Value) -> Value {
        var wanted = Fields()
        let value = add(&wanted)
        if wanted.isEmpty { return value }
        let present = fields ?? own
        for (name, text) in wanted where !own.contains(name) {
            guard !present.contains(name), isAllowed(name, text, wanted) else {
                dropped += 1
                continue
            }
            var all = fields ?? own
            all.append(name: name, value: text)
            fields = all
            names.append(name.lowercased())
        }
        return value
    }

    private func isAllowed(_ name: String, _ value: String, _ wanted: Fields) -> Bool {
        if Self.isReserved(name) { return false }
        if wanted.holdsSecret(name, secretFields) { return false }
        var field = Fields()
        field.append(name: name, value: value)
        do throws(WireError) {
            // Nil for a field that must be checked together with the message.
            return try RequestEncoder.prepare(field) != nil
        } catch {
            return false
        }
    }

    static func isReserved(_ name: String) -> Bool {
        let lower = name.lowercased()
        return reserved.contains(lower) || prefixes.contains(where: lower.hasPrefix)
    }

    /// Fields of the message's framing, of the connection, and of what the request means.
    private static let reserved: Set<String> = [
        "accept", "authorization", "cache-control", "connection", "cookie", "expect", "forwarded", "host",
        "http2-settings", "idempotency-key", "keep-alive", "max-forwards", "origin", "pragma", "prefer", "range",
        "referer", "te", "trailer", "transfer-encoding", "upgrade", "via",
    ]
    private static let prefixes = ["accept-", "content-", "if-", "proxy-", "sec-"]
}

extension HTTPSession.Exchange {
    /// Whether a field is none that observers may add, because it frames the message, belongs to the connection, or
    /// says what is asked for. Those that hold secrets may not be added either; `secretFields` says which they are.
    public static func isReserved(_ name: String) -> Bool { AddedFields.isReserved(name) }
}

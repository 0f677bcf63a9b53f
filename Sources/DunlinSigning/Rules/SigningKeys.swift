package import Dunlin

/// The keys that signatures are made with. Each is that of a secret, a day, a region and a service, so one serves a
/// whole day, and is derived once.
package struct SigningKeys: Sendable {
    private struct Key: Sendable {
        let secret: String
        let day: Substring
        let region, service: String
        let hmac: HTTP.HMAC
    }

    /// Yesterday's and today's, for two secrets that take turns.
    package static let limit = 4

    /// The latest last.
    private var known: [Key] = []
    /// How many keys were derived.
    package private(set) var derived = 0

    package init() {}

    package mutating func key(_ secret: String, _ scope: SigningScope) throws -> HTTP.HMAC {
        let found = known.last {
            $0.day == scope.day && $0.region == scope.region && $0.service == scope.service
                && $0.secret == secret
        }
        if let found { return found.hmac }
        var key = Bytes("AWS4" + secret)
        for step in [String(scope.day), scope.region, scope.service, "aws4_request"] {
            key = try HTTP.HMAC(.sha256, key: key).code(of: Bytes(step))
        }
        let hmac = HTTP.HMAC(.sha256, key: key)
        derived += 1
        if known.count == Self.limit { known.removeFirst() }
        known.append(Key(secret: secret, day: scope.day, region: scope.region, service: scope.service, hmac: hmac))
        return hmac
    }
}

extension SigningKeys: CustomReflectable {
    /// Hides the keys.
    package var customMirror: Mirror { Mirror(self, children: ["derived": derived], displayStyle: .struct) }
}

import Dunlin

/// What a session says of who asks, as it is stored. Nothing but encoding shows its secrets.
enum SessionCredentials: Equatable, Sendable {
    /// Answers what the server asks for.
    case password(user: String, password: String)
    /// Answers Digest only.
    case digest(user: String, password: String)
    case bearer(String)
    /// The value of an Authorization field.
    case field(String)
}

extension SessionCredentials: Codable {
    private enum Kind: String, Codable {
        case password
        case digest
        case bearer
        case field
    }

    private enum Key: String, CodingKey {
        case kind
        case user
        case secret
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let secret = try container.decode(String.self, forKey: .secret)
        switch try container.decode(Kind.self, forKey: .kind) {
        case .password: self = .password(user: try container.decode(String.self, forKey: .user), password: secret)
        case .digest: self = .digest(user: try container.decode(String.self, forKey: .user), password: secret)
        case .bearer: self = .bearer(secret)
        case .field: self = .field(secret)
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(kind, forKey: .kind)
        switch self {
        case .password(let user, let secret), .digest(let user, let secret):
            try container.encode(user, forKey: .user)
            try container.encode(secret, forKey: .secret)
        case .bearer(let secret), .field(let secret): try container.encode(secret, forKey: .secret)
        }
    }

    private var kind: Kind {
        switch self {
        case .password: .password
        case .digest: .digest
        case .bearer: .bearer
        case .field: .field
        }
    }
}

extension SessionCredentials: CustomStringConvertible, CustomReflectable {
    var description: String {
        switch self {
        case .password(let user, _): "the password of \(user)"
        case .digest(let user, _): "the password of \(user), for Digest only"
        case .bearer: "a bearer token"
        case .field: "an Authorization field"
        }
    }

    var customMirror: Mirror { Mirror(self, children: []) }
}

extension SessionCredentials {
    /// Has a session of the client send them to this origin, and to no other.
    func apply(to configuration: inout HTTPSession.Configuration, for origin: HTTP.Origin) {
        configuration.baseURL = origin.description
        switch self {
        case .password(let user, let password): configuration.credentials = .password(user: user, password: password)
        case .digest(let user, let password): configuration.credentials = .digest(user: user, password: password)
        case .bearer(let token): configuration.credentials = .bearer(token: token)
        case .field(let value): configuration.originFields["Authorization"] = value
        }
    }
}

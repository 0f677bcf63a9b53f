/// `{"kind": "environment"}`, `{"kind": "none"}`, or `{"kind": "url", "url": …, "except": …}`.
extension HTTPSession.Proxy: Codable {
    private enum Key: String, CodingKey {
        case kind, url, except
    }

    private enum Kind: String, Codable {
        case environment, none, url
    }

    /// What can be saved: no user info, and the environment's proxy in the place of a closure.
    var withoutSecrets: HTTPSession.Proxy {
        switch choice {
        case .environment, .direct: self
        case .chooser: .environment
        case .url(let text, let exceptions):
            Self.shown(text).map { .url($0, except: exceptions) } ?? .environment
        }
    }

    /// A URL that cannot be used throws.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        switch try container.decode(Kind.self, forKey: .kind) {
        case .environment: self = .environment
        case .none: self = .none
        case .url:
            self = .url(
                try container.decode(String.self, forKey: .url),
                except: try container.decodeIfPresent(String.self, forKey: .except) ?? "")
            do {
                _ = try chooser([:], .invalidConfiguration)
            } catch {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: decoder.codingPath, debugDescription: "\(error)"))
            }
        }
    }

    /// Without user info. A closure is written as the environment.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        switch withoutSecrets.choice {
        case .environment, .chooser: try container.encode(Kind.environment, forKey: .kind)
        case .direct: try container.encode(Kind.none, forKey: .kind)
        case .url(let text, let exceptions):
            try container.encode(Kind.url, forKey: .kind)
            try container.encode(text, forKey: .url)
            try container.encode(exceptions, forKey: .except)
        }
    }
}

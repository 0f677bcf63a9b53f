/// `{"kind": "environment"}`, `{"kind": "none"}`, or `{"kind": "url", "url": …, "except": …, "connectFields": […]}`.
extension HTTPSession.Proxy: Codable {
    private enum Key: String, CodingKey {
        case kind, url, except, connectFields
    }

    private enum Kind: String, Codable {
        case environment, none, url
    }

    /// What can be saved: without user info and secret fields, and with the environment's proxy instead of a closure.
    func withoutSecrets(_ secretFields: HTTP.SecretFields = .usual) -> HTTPSession.Proxy {
        switch choice {
        case .environment, .direct: self
        case .chooser: .environment
        case .url(let text, let exceptions, let fields):
            Self.shown(text).map { shown in
                .url(shown, except: exceptions, connectFields: fields.withoutSecrets(secretFields))
            } ?? .environment
        }
    }

    /// Decodes a proxy. An unusable URL throws.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        switch try container.decode(Kind.self, forKey: .kind) {
        case .environment: self = .environment
        case .none: self = .none
        case .url:
            let lines = try container.decodeIfPresent([String].self, forKey: .connectFields) ?? []
            guard let fields = Fields(settingsLines: lines) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .connectFields, in: container,
                    debugDescription: "a field must be a name, a colon and a value")
            }
            self = .url(
                try container.decode(String.self, forKey: .url),
                except: try container.decodeIfPresent(String.self, forKey: .except) ?? "", connectFields: fields)
            do {
                _ = try chooser([:], .invalidConfiguration)
            } catch {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: decoder.codingPath, debugDescription: "\(error)"))
            }
        }
    }

    /// Encodes without user info. A closure is written as the environment's proxy.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        switch withoutSecrets().choice {
        case .environment, .chooser: try container.encode(Kind.environment, forKey: .kind)
        case .direct: try container.encode(Kind.none, forKey: .kind)
        case .url(let text, let exceptions, let fields):
            try container.encode(Kind.url, forKey: .kind)
            try container.encode(text, forKey: .url)
            try container.encode(exceptions, forKey: .except)
            if !fields.isEmpty { try container.encode(fields.settingsLines, forKey: .connectFields) }
        }
    }
}

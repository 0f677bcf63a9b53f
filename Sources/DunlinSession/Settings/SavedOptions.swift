/// Options as a journal saves them: those that it saves, by their names.
package struct SavedOptions: Sendable, Equatable, Codable {
    package var options = HTTPSession.Options()

    package init(_ options: HTTPSession.Options = HTTPSession.Options()) {
        for option in RequestOption.all where option.isSet(options) && option.isSaved(options) == true {
            option.lay(options, &self.options)
        }
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: SettingsKey.self)
        for option in RequestOption.all { try option.read(container, &options) }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: SettingsKey.self)
        for option in RequestOption.all where option.isSet(options) { try option.write(options, &container) }
    }

    package static func == (one: Self, other: Self) -> Bool {
        RequestOption.all.allSatisfy { $0.isSame(one.options, other.options) }
    }

    /// The names of what options say that is not saved, and must be given again.
    package static func lacking(_ options: HTTPSession.Options) -> Set<String> {
        Set(RequestOption.all.filter { $0.isSet(options) && $0.isSaved(options) == false }.map(\.name))
    }
}

extension SavedOptions {
    /// The form of an option that is saved or must be given again.
    struct Form<Value: Sendable>: Sendable {
        /// Whether a value is saved; one that is not must be given again.
        let isSaved: @Sendable (Value) -> Bool
        let write: @Sendable (Value, inout KeyedEncodingContainer<SettingsKey>, SettingsKey) throws -> Void
        let read: @Sendable (KeyedDecodingContainer<SettingsKey>, SettingsKey) throws -> Value

        /// Creates a form; `write` returns nil for what is not saved, and `read` for what nobody can have written.
        init<Written: Codable & Sendable>(
            as write: @escaping @Sendable (Value) -> Written?, _ read: @escaping @Sendable (Written) -> Value?
        ) {
            isSaved = { write($0) != nil }
            self.write = { value, container, key in
                if let written = write(value) { try container.encode(written, forKey: key) }
            }
            self.read = { container, key in
                try key.meaning(of: container.decode(Written.self, forKey: key), in: container.codingPath, read)
            }
        }

        /// Nothing is saved, because it is secret, code, or of one machine.
        static var refused: Self { Self(as: { _ -> Bool? in nil }) { _ in nil } }

        /// A choice is saved as its value, or null for none.
        static func choice<Own: Codable>() -> Self where Value == HTTPSession.PerRequest<Own> {
            Self(as: { Optional.some($0.own) }) { (own: Own?) in own.map { Value.value($0) } ?? Value.none }
        }
    }
}

extension SavedOptions.Form where Value: Codable {
    static var saved: Self { Self(as: { $0 }) { $0 } }
}

extension SavedOptions.Form<Fields> {
    private struct Field: Codable, Sendable {
        let name: String
        let value: String
        /// Whether no redirect may take it to another origin.
        let isSensitive: Bool
    }

    static var fields: Self {
        Self(
            as: { fields in
                fields.map { Field(name: $0.name, value: $0.value, isSensitive: fields.isSensitive($0.name)) }
            },
            { (saved: [Field]) in
                var fields = Fields()
                for field in saved { fields.append(name: field.name, value: field.value, sensitive: field.isSensitive) }
                return fields
            })
    }
}

extension SavedOptions.Form<HTTPSession.RequestTimeouts> {
    /// Nanoseconds by limit; the largest number means no limit.
    static var timeouts: Self {
        Self(
            as: { timeouts in
                var limits: [String: Int64] = [:]
                for limit in Timeouts.Limit.allCases {
                    switch timeouts[limit] {
                    case .session: break
                    case .none: limits[limit.rawValue] = .max
                    case .value(let duration): limits[limit.rawValue] = duration.clampedNanoseconds
                    }
                }
                return limits
            },
            { (limits: [String: Int64]) in
                var timeouts = HTTPSession.RequestTimeouts()
                for (name, nanoseconds) in limits {
                    guard let limit = Timeouts.Limit(rawValue: name), nanoseconds >= 0 else { return nil }
                    timeouts[limit] = nanoseconds == .max ? .none : .value(.nanoseconds(nanoseconds))
                }
                return timeouts
            })
    }
}

extension SavedOptions.Form<HTTPSession.PerRequest<HTTP.Credentials>> {
    /// That there are none is saved, and no credentials are.
    static var credentials: Self { Self(as: { $0.own == nil ? true : nil }) { (_: Bool) in Value.none } }
}

extension SavedOptions.Form<HTTPSession.PerRequest<HTTPSession.RedirectPolicy>> {
    private struct Policy: Codable, Sendable {
        var policy = HTTPSession.RedirectPolicy()

        init(_ policy: HTTPSession.RedirectPolicy) { self.policy = policy }

        init(from decoder: any Decoder) throws { try policy.read(from: decoder) }

        func encode(to encoder: any Encoder) throws { try policy.write(to: encoder) }
    }

    static var redirects: Self {
        Self(as: { Optional.some($0.own.map(Policy.init)) }) { (saved: Policy?) in
            guard let saved else { return Value.none }
            return saved.policy.limit < 0 ? nil : Value.value(saved.policy)
        }
    }
}

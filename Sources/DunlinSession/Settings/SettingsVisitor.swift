// Settings are listed once, in `visitSettings`; a visitor writes them or reads them.

protocol SettingsVisitor {
    mutating func visit<Value: Codable>(_ name: String, _ value: inout Value) throws
    /// Settings that belong together.
    mutating func group(_ name: String, _ visit: (inout Self) throws -> Void) throws
    /// The keys that lead to the present group.
    var path: [any CodingKey] { get }
}

extension SettingsVisitor {
    /// A value that is written as another.
    mutating func visit<Value, Written: Codable>(
        _ name: String, _ value: inout Value, as write: (Value) -> Written, _ read: (Written) -> Value?
    ) throws {
        var written = write(value)
        try visit(name, &written)
        guard let read = read(written) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: path + [SettingsKey(name)], debugDescription: "\(written) has no meaning here"))
        }
        value = read
    }

    /// A time, as seconds.
    mutating func visit(_ name: String, seconds value: inout Duration) throws {
        try visit(name, &value, as: \.settingsSeconds, Duration.init(settingsSeconds:))
    }

    /// A time, as seconds, or null for none.
    mutating func visit(_ name: String, seconds value: inout Duration?) throws {
        try visit(name, &value, as: { $0?.settingsSeconds }) { seconds -> Duration?? in
            guard let seconds else { return .some(nil) }
            return Duration(settingsSeconds: seconds).map { .some($0) }
        }
    }
}

struct SettingsWriter: SettingsVisitor {
    var container: KeyedEncodingContainer<SettingsKey>

    var path: [any CodingKey] { container.codingPath }

    mutating func visit<Value: Codable>(_ name: String, _ value: inout Value) throws {
        try container.encode(value, forKey: SettingsKey(name))
    }

    mutating func group(_ name: String, _ visit: (inout Self) throws -> Void) throws {
        var inner = Self(container: container.nestedContainer(keyedBy: SettingsKey.self, forKey: SettingsKey(name)))
        try visit(&inner)
    }
}

/// Reads settings; one that is not there stays as it is.
struct SettingsReader: SettingsVisitor {
    let container: KeyedDecodingContainer<SettingsKey>

    var path: [any CodingKey] { container.codingPath }

    mutating func visit<Value: Codable>(_ name: String, _ value: inout Value) throws {
        let key = SettingsKey(name)
        if container.contains(key) { value = try container.decode(Value.self, forKey: key) }
    }

    mutating func group(_ name: String, _ visit: (inout Self) throws -> Void) throws {
        let key = SettingsKey(name)
        guard container.contains(key) else { return }
        var inner = Self(container: try container.nestedContainer(keyedBy: SettingsKey.self, forKey: key))
        try visit(&inner)
    }
}

struct SettingsKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) {
        stringValue = name
    }

    init?(stringValue: String) {
        self.stringValue = stringValue
    }

    init?(intValue: Int) { nil }
}

extension Duration {
    fileprivate var settingsSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }

    /// Nil for a number that is no time, or does not fit one.
    fileprivate init?(settingsSeconds seconds: Double) {
        guard seconds.isFinite, abs(seconds) < 9e9 else { return nil }
        self = .nanoseconds(Int64((seconds * 1e9).rounded()))
    }
}

// Settings are listed once, in `visitSettings`; visitors write, read or copy them.

/// Settings that belong together.
protocol SettingsGroup {
    /// Visits every setting once.
    mutating func visitSettings<Visitor: SettingsVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure)
}

protocol SettingsVisitor {
    associatedtype Failure: Error
    /// Visits a value that is written in another form.
    mutating func visit<Value, Written: Codable>(
        _ name: String, _ value: inout Value, as write: (Value) -> Written, _ read: (Written) -> Value?
    ) throws(Failure)
    mutating func group(_ name: String, _ group: inout some SettingsGroup) throws(Failure)
    /// Names settings that are not saved: secrets, code, objects, and what is specific to this machine.
    mutating func leaveOut(_ names: String...)
}

extension SettingsVisitor {
    mutating func leaveOut(_ names: String...) {}

    mutating func visit<Value: Codable>(_ name: String, _ value: inout Value) throws(Failure) {
        try visit(name, &value, as: { $0 }) { $0 }
    }

    /// Visits a time, written in seconds.
    mutating func visit(_ name: String, seconds value: inout Duration) throws(Failure) {
        try visit(name, &value, as: \.settingsSeconds, Duration.init(settingsSeconds:))
    }

    /// Visits a time, written in seconds, or null for none.
    mutating func visit(_ name: String, seconds value: inout Duration?) throws(Failure) {
        try visit(name, &value, as: { $0?.settingsSeconds }) { seconds -> Duration?? in
            guard let seconds else { return .some(nil) }
            return Duration(settingsSeconds: seconds).map { .some($0) }
        }
    }
}

struct SettingsWriter: SettingsVisitor {
    var container: KeyedEncodingContainer<SettingsKey>

    mutating func visit<Value, Written: Codable>(
        _ name: String, _ value: inout Value, as write: (Value) -> Written, _ read: (Written) -> Value?
    ) throws {
        let (key, written) = (SettingsKey(name), write(value))
        _ = try key.meaning(of: written, in: container.codingPath, read)
        try container.encode(written, forKey: key)
    }

    mutating func group(_ name: String, _ group: inout some SettingsGroup) throws {
        var inner = Self(container: container.nestedContainer(keyedBy: SettingsKey.self, forKey: SettingsKey(name)))
        try group.visitSettings(&inner)
    }
}

/// Reads settings; a missing one keeps its value.
struct SettingsReader: SettingsVisitor {
    let container: KeyedDecodingContainer<SettingsKey>

    mutating func visit<Value, Written: Codable>(
        _ name: String, _ value: inout Value, as write: (Value) -> Written, _ read: (Written) -> Value?
    ) throws {
        let key = SettingsKey(name)
        guard container.contains(key) else { return }
        value = try key.meaning(of: container.decode(Written.self, forKey: key), in: container.codingPath, read)
    }

    mutating func group(_ name: String, _ group: inout some SettingsGroup) throws {
        let key = SettingsKey(name)
        guard container.contains(key) else { return }
        var inner = Self(container: try container.nestedContainer(keyedBy: SettingsKey.self, forKey: key))
        try group.visitSettings(&inner)
    }
}

/// Copies settings: it first takes their values, then sets them.
struct SettingsCopier: SettingsVisitor {
    private var values: [String: Any] = [:]

    mutating func visit<Value, Written: Codable>(
        _ name: String, _ value: inout Value, as write: (Value) -> Written, _ read: (Written) -> Value?
    ) {
        guard let taken = values[name] else { return values[name] = value }
        value = taken as? Value ?? value
    }

    mutating func group(_ name: String, _ group: inout some SettingsGroup) {
        var inner = values[name] as? Self ?? Self()
        group.visitSettings(&inner)
        values[name] = inner
    }
}

extension SettingsGroup {
    func write(to encoder: any Encoder) throws {
        var (group, writer) = (self, SettingsWriter(container: encoder.container(keyedBy: SettingsKey.self)))
        try group.visitSettings(&writer)
    }

    /// Reads what was written; what is missing stays.
    mutating func read(from decoder: any Decoder) throws {
        var reader = SettingsReader(container: try decoder.container(keyedBy: SettingsKey.self))
        try visitSettings(&reader)
    }

    /// Copies what another group of the same kind would save. Everything else stays.
    mutating func takeSettings(of other: Self) {
        var (other, copier) = (other, SettingsCopier())
        other.visitSettings(&copier)
        visitSettings(&copier)
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

    /// The value that was written under this key.
    func meaning<Value, Written>(
        of written: Written, in path: [any CodingKey], _ read: (Written) -> Value?
    ) throws -> Value {
        if let value = read(written) { return value }
        throw DecodingError.dataCorrupted(
            .init(codingPath: path + [self], debugDescription: "\(written) is not a valid value"))
    }
}

extension Duration {
    fileprivate var settingsSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }

    /// Creates a duration; nil for a number that is not a time or does not fit.
    fileprivate init?(settingsSeconds seconds: Double) {
        guard seconds.isFinite, abs(seconds) < 9e9 else { return nil }
        self = .nanoseconds(Int64((seconds * 1e9).rounded()))
    }
}

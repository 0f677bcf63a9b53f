internal import Dunlin

extension DynamicValue {
    /// Nil if the text is no JSON, or has a key twice in an object: it would lack one of the two values.
    init?(json text: String) {
        do { self = try HTTP.JSON.strict.decode(DynamicValue.self, from: text) } catch { return nil }
    }

    /// As JSON; nil for what JSON has no form of.
    var json: String? {
        do { return String(try HTTP.JSON.standard.encode(self)) } catch { return nil }
    }
}

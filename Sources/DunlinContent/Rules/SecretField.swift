package import DunlinTypes
internal import DunlinWire
internal import Synchronization

/// A field with a secret value that many requests are given in turn: a token, or the cookies of a user. It replaces the
/// fields of its name.
///
/// Most requests of a session have the same fields, and are given the same value. So what came of the last is kept:
/// fields that were prepared still are.
package final class SecretField: Sendable {
    private struct Last {
        let former: PreparedFields
        let value: String
        let fields: PreparedFields
    }

    private let name: String
    private let last = Mutex<Last?>(nil)

    package init(_ name: String) {
        self.name = name
    }

    package func set(_ value: String, in head: inout RequestHead) {
        if let fields = prepared(head.prepared, value) {
            head = RequestHead(method: head.method, origin: head.origin, target: head.target, prepared: fields)
        } else {
            head.fields.remove(name)
            head.fields.append(name: name, value: value, sensitive: true)
        }
    }

    /// The fields with this one, prepared; nil if that cannot be done ahead.
    private func prepared(_ former: PreparedFields?, _ value: String) -> PreparedFields? {
        guard let former else { return nil }
        let known = last.withLock { $0 }
        if let known, known.former === former, known.value.hasSameBytes(as: value) { return known.fields }
        var fields = former.fields
        fields.remove(name)
        fields.append(name: name, value: value, sensitive: true)
        do {
            guard let prepared = try RequestEncoder.prepare(fields) else { return nil }
            last.withLock { $0 = Last(former: former, value: value, fields: prepared) }
            return prepared
        } catch {
            // Encoding the request fails for the same reason, and the error names the request.
            return nil
        }
    }
}

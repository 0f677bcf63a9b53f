package import DunlinTypes
internal import DunlinWire
internal import Synchronization

/// What came of prepared fields when others were last added to them.
///
/// Most requests of a session have the same fields, and are given the same token and the same cookies. So fields that
/// were checked and written once need not be again, because something was added.
package final class PreparedAddition: Sendable {
    private struct Last {
        let former: PreparedFields
        let added: String
        let fields: PreparedFields?
    }

    private let last = Mutex<Last?>(nil)

    package init() {}

    /// Returns the head with `added`, still prepared; nil if it is not, or cannot be. `adding` returns the fields with
    /// it, or nil; it is not called for what was added to the same fields before.
    package func head(
        _ head: RequestHead, with added: String, _ adding: (Fields) -> Fields?
    ) -> RequestHead? {
        guard let former = head.prepared, let fields = fields(former, added, adding) else { return nil }
        return RequestHead(method: head.method, origin: head.origin, target: head.target, prepared: fields)
    }

    /// Forgets what was added.
    package func forget() {
        last.withLock { $0 = nil }
    }

    private func fields(
        _ former: PreparedFields, _ added: String, _ adding: (Fields) -> Fields?
    ) -> PreparedFields? {
        if let last = last.withLock({ $0 }), last.former === former, last.added.hasSameBytes(as: added) {
            return last.fields
        }
        var fields: PreparedFields?
        do {
            fields = try adding(former.fields).flatMap(RequestEncoder.prepare)
        } catch {
            // Encoding the request fails for the same reason, and that error names the request.
        }
        last.withLock { [fields] in $0 = Last(former: former, added: added, fields: fields) }
        return fields
    }
}

internal import DunlinTransport
internal import Synchronization

/// A credential of an authenticator, without its type: what a request carries, and how its successor is fetched.
final class KnownCredential: Sendable {
    /// The fields of a request with this credential, marked as sensitive.
    let fields: Fields
    /// How long it is valid, in nanoseconds; nil for until it is refused.
    let lifetime: Int64?
    /// Fetches the credential that replaces this one.
    let successor: @Sendable (_ client: HTTPSession) async throws -> KnownCredential

    /// Prepared fields, and the same with these. Requests that add no fields have the same, so that they need not be
    /// checked and written for each.
    private let prepared = Mutex<(own: PreparedFields, all: PreparedFields?)?>(nil)

    init(
        _ fields: Fields, lifetime: Duration?,
        successor: @escaping @Sendable (_ client: HTTPSession) async throws -> KnownCredential
    ) {
        var fields = fields
        fields.markAll()
        self.fields = fields
        self.lifetime = lifetime?.clampedNanoseconds
        self.successor = successor
    }

    /// A request with the fields; nil if it has one of them itself, and is sent with that.
    func added(to request: TransportRequest) -> TransportRequest? {
        if let own = request.head.prepared, let all = all(with: own) {
            return request.with { changes in
                let head = changes.head
                changes.head = RequestHead(
                    method: head.method, origin: head.origin, target: head.target, prepared: all)
            }
        }
        if request.head.fields.sharesName(with: fields) { return nil }
        return request.with { $0.head.fields = $0.head.fields.overlaid(with: fields) }
    }

    /// The fields behind prepared ones; nil if those have one of them, or if they cannot be prepared.
    private func all(with own: PreparedFields) -> PreparedFields? {
        if let known = prepared.withLock({ $0 }), known.own === own { return known.all }
        let all: PreparedFields?
        do {
            let isNew = !own.fields.sharesName(with: fields)
            all = isNew ? try RequestBuilder.prepare(own.fields.overlaid(with: fields)) : nil
        } catch {
            // The request that is sent with them fails.
            all = nil
        }
        prepared.withLock { $0 = (own, all) }
        return all
    }
}

internal import DunlinTransport

/// A credential of an authenticator, without its type: what a request carries, and how its successor is fetched.
final class KnownCredential: Sendable {
    /// The fields of a request with this credential, marked as sensitive.
    let fields: Fields
    /// How long it is valid, in nanoseconds; nil for until it is refused.
    let lifetime: Int64?
    /// Fetches the credential that replaces this one.
    let successor: @Sendable (_ client: HTTPSession) async throws -> KnownCredential

    private let addition = PreparedAddition()

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
        let adding = { (own: Fields) in own.sharesName(with: self.fields) ? nil : own.overlaid(with: self.fields) }
        if let head = addition.head(request.head, with: "", adding) { return request.with { $0.head = head } }
        return adding(request.head.fields).map { all in request.with { $0.head.fields = all } }
    }
}

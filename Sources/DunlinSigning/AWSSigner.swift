internal import Dunlin
public import FoundationEssentials
internal import Synchronization

/// Signs requests by AWS Signature Version 4.
///
/// ```swift
/// let signer = AWSSigner(
///     region: "eu-central-1", service: .s3, credentials: credentials)
/// try configuration.sign(with: signer)
/// ```
///
/// The copies of a signer share the keys that were derived, each of which serves a day. No description shows a secret.
public struct AWSSigner: Sendable {
    public var region: String
    public var service: Service
    /// How bodies take part in the signature. A request's own `X-Amz-Content-Sha256` replaces it for that request: a
    /// hash that is known already, or `UNSIGNED-PAYLOAD`.
    public var payload: Payload
    /// The names, in lower case, of fields that are not signed, since they are for one connection, or proxies on the
    /// way change them.
    public var unsignedFields = Self.usuallyUnsignedFields
    /// The date and time. Servers refuse signatures that are more than a few minutes old.
    public var clock: @Sendable () -> Date = { Date() }
    private let provider: @Sendable () async throws -> Credentials
    private let keys = Keys()

    public init(region: String, service: Service, credentials: Credentials, payload: Payload = .signed) {
        self.init(region: region, service: service, payload: payload) { credentials }
    }

    /// Creates a signer whose credentials change. `credentials` is called for each signature, so it should keep what it
    /// fetches until shortly before that expires.
    public init(
        region: String, service: Service, payload: Payload = .signed,
        credentials: @escaping @Sendable () async throws -> Credentials
    ) {
        self.region = region
        self.service = service
        self.payload = payload
        provider = credentials
    }

    public static let usuallyUnsignedFields: Set<String> = [
        "accept-encoding", "authorization", "cache-control", "connection", "expect", "from", "keep-alive",
        "max-forwards", "pragma", "proxy-authorization", "referer", "te", "trailer", "transfer-encoding", "upgrade",
        "user-agent", "via", "x-amzn-trace-id", "x-forwarded-for",
    ]

    /// The credentials of now. Throws if no request can be signed with them.
    func credentials() async throws -> Credentials {
        let credentials = try await provider()
        try credentials.check()
        return credentials
    }

    func scope() throws(NetworkError) -> SigningScope {
        try check()
        return try SigningScope(clock(), region: region, service: service.name)
    }

    func key(_ credentials: Credentials, _ scope: SigningScope) throws -> HTTP.HMAC {
        try keys.known.withLock { try $0.key(credentials.secret, scope) }
    }

    /// The keys that copies of a signer share.
    private final class Keys: Sendable {
        let known = Mutex(SigningKeys())
    }
}

extension AWSSigner: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "AWSSigner(\(service.name) in \(region))" }
    public var debugDescription: String { description }
    public var customMirror: Mirror {
        Mirror(self, children: ["region": region, "service": service.name, "payload": payload], displayStyle: .struct)
    }
}

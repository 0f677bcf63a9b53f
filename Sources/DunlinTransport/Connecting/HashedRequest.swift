internal import DunlinSecure
package import DunlinTypes

/// A request as Digest needs it: with the hash of its body, if answers protect bodies (`auth-int`).
package struct HashedRequest: Sendable {
    package let head: RequestHead
    /// The whole body, if it is in memory; empty without a body.
    private let content: Bytes?
    /// The hashes that were computed ahead.
    package private(set) var hashes: [HashFunction: Bytes]

    package init(_ head: RequestHead, _ body: RequestBody, _ hashes: [HashFunction: Bytes] = [:]) {
        self.head = head
        self.hashes = hashes
        content =
            switch body.content {
            case .none: .empty
            case .bytes(let bytes): bytes
            case .stream, .file: nil
            }
    }

    /// The hash of the body; nil if the body is not in memory.
    func bodyHash(by function: HashFunction) throws -> Bytes? { try hashes[function] ?? content.map(function.hash) }

    /// The size up to which a body is hashed on the loop. More would make others wait too long.
    private static let most = 256 << 10

    /// Hashes a long body ahead, in steps: `run` does that off the loop, within the call's limits. A body that cannot
    /// be hashed is left out.
    package mutating func hash(
        by functions: @autoclosure () -> [HashFunction],
        _ run: (@escaping @Sendable () async throws -> Bytes) async throws -> Bytes
    ) async throws {
        guard let content, content.count > Self.most else { return }
        for function in functions() where hashes[function] == nil {
            do {
                hashes[function] = try await run { try function.hash(of: content) { try Task.checkCancellation() } }
            } catch is HashFunction.Unavailable {
                continue
            }
        }
    }
}

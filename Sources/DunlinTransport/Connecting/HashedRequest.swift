internal import DunlinSecure
package import DunlinTypes

/// A request as Digest has to know it: where its answers protect bodies (`auth-int`), with the hash of its own.
package struct HashedRequest: Sendable {
    package let head: RequestHead
    /// All of the body, if it is at hand; nothing for no body.
    private let content: Bytes?
    /// What was hashed ahead.
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

    /// Nil if the body is not at hand.
    func bodyHash(by function: HashFunction) throws -> Bytes? { try hashes[function] ?? content.map(function.hash) }

    /// More takes longer to hash than others on the loop can wait.
    private static let most = 256 << 10

    /// Hashes a long body ahead, in steps: `run` has that done beside the loop, and within the call's limits. What it
    /// cannot hash, nobody can.
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

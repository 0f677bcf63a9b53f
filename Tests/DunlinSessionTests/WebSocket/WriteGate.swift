/// Lets the writes of a mocked socket through one by one.
struct WriteGate: Sendable {
    private let arrived = AsyncStream.makeStream(of: Void.self)
    private let open = AsyncStream.makeStream(of: Void.self)

    /// What the mocked peer does with each write.
    @Sendable func pass() async {
        arrived.continuation.yield()
        for await _ in open.stream { return }
    }

    /// Waits until the next write has arrived.
    func arrival() async {
        for await _ in arrived.stream { return }
    }

    /// Lets one write through.
    func letThrough() { open.continuation.yield() }
}

internal import DunlinSemantics
internal import Synchronization

/// A body that is stored while it is read. Whoever stops reading leaves nothing behind that could be taken for whole.
final class StoringBody: WrappedBody {
    let source: (any TransportResponse.BodyStream)?
    private let stream: any TransportResponse.BodyStream
    private let storing: Storing
    private let count = Mutex(0)

    init(_ stream: any TransportResponse.BodyStream, into storing: Storing) {
        source = stream
        self.stream = stream
        self.storing = storing
    }

    func next() async throws -> Bytes? {
        do {
            guard let bytes = try await stream.next() else {
                await storing.end(after: count.withLock(\.self), isComplete: true)
                return nil
            }
            let before = count.withLock { count in
                defer { count += bytes.count }
                return count
            }
            await storing.write(bytes, at: before)
            return bytes
        } catch {
            await storing.end(after: count.withLock(\.self), isComplete: false)
            throw error
        }
    }

    var expectedLength: Int? { stream.expectedLength }
    var trailers: Fields { stream.trailers }
    var hop: HTTP.Hop { stream.hop }
}

/// What becomes of a body in the store.
struct Storing: Sendable {
    let writer: any ResponseWriter
    let draft: CacheDraft
    let replaced: [StoredResponse]
    let outcome = StoringOutcome()
    /// How many bytes of the body are stored already.
    var known = 0

    /// `position` counts from the body's beginning.
    func write(_ bytes: Bytes, at position: Int) async {
        let new = known <= position ? bytes : bytes[min(bytes.count, known - position)...]
        if !new.isEmpty { await writer.write(new) }
    }

    func end(after count: Int, isComplete: Bool) async {
        guard let entry = draft.ended(count: count, isComplete: isComplete) else { return await writer.abandon() }
        if await writer.finish(as: entry, replacing: replaced) { outcome.noteStored() }
    }
}

/// Whether a response was stored, which nobody knows before its body has ended.
final class StoringOutcome: Sendable {
    private let stored = Atomic(false)

    var isStored: Bool { stored.load(ordering: .acquiring) }

    func noteStored() { stored.store(true, ordering: .releasing) }
}

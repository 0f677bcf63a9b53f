package import DunlinSemantics
package import DunlinTypes
internal import Synchronization

/// A body that is stored while it is read. If reading stops early, nothing is left that could be taken for whole.
package final class StoringBody: PassedBody {
    package let stream: any TransportResponse.BodyStream
    private let storing: Storing
    private let count = Atomic(0)

    package init(_ stream: any TransportResponse.BodyStream, into storing: Storing) {
        self.stream = stream
        self.storing = storing
    }

    package func next() async throws -> Bytes? {
        do {
            guard let bytes = try await stream.next() else {
                await storing.end(after: count.load(ordering: .relaxed), isComplete: true)
                return nil
            }
            await storing.write(bytes, at: count.add(bytes.count, ordering: .relaxed).oldValue)
            return bytes
        } catch {
            await storing.end(after: count.load(ordering: .relaxed), isComplete: false)
            throw error
        }
    }
}

/// How a body is stored.
package struct Storing: Sendable {
    let writer: any ResponseWriter
    let draft: CacheDraft
    let replaced: [StoredResponse]
    package let outcome = StoringOutcome()
    /// The number of bytes of the body that are stored already.
    private let known: Int

    package init(writer: any ResponseWriter, draft: CacheDraft, replaced: [StoredResponse], known: Int = 0) {
        (self.writer, self.draft, self.replaced, self.known) = (writer, draft, replaced, known)
    }

    /// Stores bytes; `position` counts from the body's beginning.
    package func write(_ bytes: Bytes, at position: Int) async {
        let new = known <= position ? bytes : bytes[min(bytes.count, known - position)...]
        if !new.isEmpty { await writer.write(new) }
    }

    package func end(after count: Int, isComplete: Bool) async {
        guard let entry = draft.ended(count: count, isComplete: isComplete) else { return await writer.abandon() }
        if await writer.finish(as: entry, replacing: replaced) { outcome.noteStored() }
    }
}

/// Whether a response was stored, which is known once its body has ended.
package final class StoringOutcome: Sendable {
    private let stored = Atomic(false)

    package var isStored: Bool { stored.load(ordering: .acquiring) }

    func noteStored() { stored.store(true, ordering: .releasing) }
}

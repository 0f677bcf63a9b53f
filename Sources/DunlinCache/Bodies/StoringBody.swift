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
    private let whenStored: (@Sendable (Bool) -> Void)?

    /// Creates the rules. `whenStored` is called for a response that is stored after its request has ended, with
    /// whether it was stored.
    package init(
        writer: any ResponseWriter, draft: CacheDraft, replaced: [StoredResponse], known: Int = 0,
        whenStored: (@Sendable (Bool) -> Void)? = nil
    ) {
        (self.writer, self.draft, self.replaced, self.known, self.whenStored) = (
            writer, draft, replaced, known, whenStored
        )
    }

    /// Stores bytes; `position` counts from the body's beginning.
    package func write(_ bytes: Bytes, at position: Int) async {
        let new = known <= position ? bytes : bytes[min(bytes.count, known - position)...]
        if !new.isEmpty { await writer.write(new) }
    }

    package func end(after count: Int, isComplete: Bool) async {
        guard let entry = draft.ended(count: count, isComplete: isComplete) else { return await writer.discard() }
        let handed = await writer.hand(as: entry, replacing: replaced) { [outcome, whenStored] isStored in
            outcome.ended(isStored)
            whenStored?(isStored)
        }
        switch handed {
        case .stored: outcome.ended(true)
        case .storing: outcome.began()
        case .refused: break
        }
    }
}

/// Whether a response was stored, which is known once its body has ended, and for some responses only later.
package final class StoringOutcome: Sendable {
    package enum State: UInt8, Sendable, Hashable {
        /// The response was not given to the store yet, or is not to be stored.
        case none
        /// The response waits to be written.
        case storing
        case stored
        /// The response waited, and was not stored.
        case failed
    }

    private let number = Atomic(State.none.rawValue)

    package var state: State { State(rawValue: number.load(ordering: .acquiring)) ?? .none }

    /// Notes that the response waits to be written; no effect if its outcome is known already.
    func began() {
        _ = number.compareExchange(
            expected: State.none.rawValue, desired: State.storing.rawValue, ordering: .acquiringAndReleasing)
    }

    func ended(_ isStored: Bool) {
        number.store((isStored ? State.stored : .failed).rawValue, ordering: .releasing)
    }
}

internal import Synchronization

/// The open journals of a session, which end with it.
final class Journals: Sendable {
    private struct Open {
        weak var journal: TransferJournal?
    }

    private struct State {
        var open: [Open] = []
        var isClosed = false
    }

    private let state = Mutex(State())

    /// False once the session is shut down.
    func add(_ journal: TransferJournal) -> Bool {
        state.withLock { state in
            if state.isClosed { return false }
            state.open.removeAll { $0.journal == nil }
            state.open.append(Open(journal: journal))
            return true
        }
    }

    func close() async {
        let open = state.withLock { state in
            state.isClosed = true
            defer { state.open = [] }
            return state.open.compactMap(\.journal)
        }
        for journal in open { await journal.close() }
    }

    /// The session takes requests again.
    func reopen() {
        state.withLock { $0.isClosed = false }
    }
}

internal import DunlinRules
internal import Synchronization

/// Something that lives as long as its session, such as a journal. It is closed when the session is shut down.
package protocol SessionResident: AnyObject, Sendable {
    /// Takes no more, and stops what is on its way. Returns the requests of that.
    func stop() -> Set<HTTPSession.TaskID>

    /// Stops, and returns once nothing is on its way any more.
    func close() async
}

/// The residents of one session. They keep the session; it does not keep them.
package final class SessionResidents: Sendable {
    private struct Resident {
        weak var object: (any SessionResident)?
    }

    private struct State {
        var residents: [Resident] = []
        var closings = Closings()
    }

    private let state = Mutex(State())

    /// False once the session is shut down.
    package func add(_ resident: any SessionResident) -> Bool {
        state.withLock { state in
            if state.closings.isClosed { return false }
            state.residents.removeAll { $0.object == nil }
            state.residents.append(Resident(object: resident))
            return true
        }
    }

    /// Has all of them stop. Their code may still wait for requests of the session's.
    func stop(_ closing: UInt64) -> Set<HTTPSession.TaskID> {
        let residents = state.withLock { state in
            state.closings.close(closing) ? state.residents.compactMap(\.object) : []
        }
        return residents.reduce(into: []) { $0.formUnion($1.stop()) }
    }

    func close(_ closing: UInt64) async {
        let residents = state.withLock { state -> [any SessionResident] in
            guard state.closings.close(closing) else { return [] }
            defer { state.residents = [] }
            return state.residents.compactMap(\.object)
        }
        for resident in residents { await resident.close() }
    }

    /// Takes residents again, as the session takes requests, unless it was closed once more since that closing.
    func reopen(after closing: UInt64) {
        state.withLock { $0.closings.open(after: closing) }
    }

    /// Whether the session was opened again after this closing or a later one.
    func isOver(_ closing: UInt64) -> Bool { state.withLock { $0.closings.isOver(closing) } }
}

internal import DunlinRules
internal import Synchronization

/// Something that lives as long as its session, such as a journal. It is closed when the session is shut down.
package protocol SessionResident: AnyObject, Sendable {
    /// Learns that the session is being shut down, and that there is some time left.
    func sessionEnds() async

    /// Accepts no more work and stops what is under way. Returns the requests of that work.
    func stop() -> Set<HTTPSession.TaskID>

    /// Stops, and returns when nothing is under way.
    func close() async
}

extension SessionResident {
    package func sessionEnds() async {}
}

/// The residents of one session. They retain the session; it does not retain them.
package final class SessionResidents: Sendable {
    private struct Resident {
        weak var object: (any SessionResident)?
    }

    private struct State {
        var residents: [Resident] = []
        /// With so many residents, those that are gone are removed, so that adding one costs the same however many
        /// there are.
        var fullCount = 16
        var closings = Closings()
    }

    private let state = Mutex(State())

    /// Adds a resident. Returns false if the session is shut down.
    package func add(_ resident: any SessionResident) -> Bool {
        state.withLock { state in
            if state.closings.isClosed { return false }
            if state.residents.count >= state.fullCount {
                state.residents.removeAll { $0.object == nil }
                state.fullCount = max(16, 2 * state.residents.count)
            }
            state.residents.append(Resident(object: resident))
            return true
        }
    }

    /// Tells all residents that a closing has begun, which leaves them some time.
    func announce(_ closing: UInt64) async {
        let residents = state.withLock { $0.closings.isOver(closing) ? [] : $0.residents.compactMap(\.object) }
        for resident in residents { await resident.sessionEnds() }
    }

    /// Stops all residents. Their code may still wait for the session's requests.
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

    /// Accepts residents again after a reopening, unless the session was closed again since that closing.
    func reopen(after closing: UInt64) {
        state.withLock { $0.closings.open(after: closing) }
    }

    /// Whether the session was reopened after this closing or a later one.
    func isOver(_ closing: UInt64) -> Bool { state.withLock { $0.closings.isOver(closing) } }
}

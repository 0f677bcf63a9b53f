internal import DunlinReactor
internal import DunlinSemantics
internal import DunlinTransport

/// Notes for each hop what its answer is of, for calls whose answer is kept outside the session's cache.
struct ProvenanceStage: Stage {
    func seesAll(of call: LiveCall) -> Bool { call.asked.isKept }

    func driver(for call: LiveCall) -> (any StageDriver)? { call.asked.isKept ? Driver() : nil }

    private final class Driver: StageDriver {
        private var provenance = Provenance()
        /// The access of the hop's last sending, and when it was made.
        private var access: Access?
        private var sentAt: Int64 = 0

        func judgesWay(of request: TransportRequest) -> Bool { true }

        func answer(_ request: TransportRequest, _ call: LiveCall) async throws -> StageAnswer? {
            access = try call.access(to: request)
            sentAt = WallClock.seconds
            return nil
        }

        func received(_ response: TransportResponse, _ call: LiveCall) async throws -> StageAction {
            guard let access else { return .pass(response) }
            provenance.add(call.step(response, to: access, sentAt: sentAt))
            return .pass(response, StageNotes(callHistory: call.callHistory.with { $0.provenance = provenance }))
        }

        func takeBack() -> StageNotes {
            if access != nil { provenance.removeLast() }
            return StageNotes()
        }

        func movedOn() { access = nil }

        func startOver() { (access, provenance) = (nil, Provenance()) }
    }
}

internal import DunlinTransport

/// Marks the response fields that the session calls secret.
struct SecretFieldStage: Stage {
    let names: HTTP.SecretFields

    func seesAll(of call: LiveCall) -> Bool { true }

    func driver(for call: LiveCall) -> (any StageDriver)? { Driver(names) }

    private final class Driver: StageDriver {
        private let names: HTTP.SecretFields

        init(_ names: HTTP.SecretFields) {
            self.names = names
        }

        func received(_ response: TransportResponse, _ call: LiveCall) async throws -> StageAction {
            .pass(response.marking(names))
        }
    }
}

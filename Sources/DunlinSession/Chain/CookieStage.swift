internal import DunlinSemantics
internal import DunlinTransport

/// Sends each hop with the jar's cookies for it, and stores those that its response sets. Cookies belong to what is
/// sent, not to the request from which later hops are made.
struct CookieStage: Stage {
    let jar: CookieJar

    func seesAll(of call: LiveCall) -> Bool { true }

    func driver(for call: LiveCall) -> (any StageDriver)? {
        call.asking.jar.map(Driver.init)
    }

    private final class Driver: StageDriver {
        private let jar: CookieJar
        /// The jar's number when the hop was sent.
        private var number: String?

        init(_ jar: CookieJar) {
            self.jar = jar
        }

        func sending(_ request: TransportRequest, _ call: LiveCall) async throws -> TransportRequest {
            // All cookies may have been removed since: those of now are another user's.
            let isStill = call.asking.jar != nil
            number = isStill ? call.delegate.jarNumber : nil
            return isStill ? jar.completing(request) : request
        }

        func received(_ response: TransportResponse, _ call: LiveCall) async throws -> StageAction {
            if let number { jar.receive(response.head.fields, from: call.request.head, ifStill: number) }
            return .pass(response)
        }
    }
}

internal import Synchronization

/// The request of an observed call as far as it is known: as it was made, then as it was sent last.
final class RecordedRequest: Sendable {
    private let state: Mutex<RequestRecord.Source>
    let settings: CurlSettings

    init(_ asked: RequestRecord.Source, _ settings: CurlSettings) {
        state = Mutex(asked)
        self.settings = settings
    }

    /// Notes that it is being sent in this form.
    func note(_ sent: TransportRequest) {
        let source = RequestRecord.Source(sent)
        state.withLock { $0 = source }
    }

    var record: RequestRecord { RequestRecord(state.withLock { $0 }, settings) }
}

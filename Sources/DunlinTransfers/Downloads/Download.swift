internal import DunlinReactor
internal import DunlinTransport
internal import Synchronization

/// Writes a response's body to a file: chooses its place, writes it to a part file beside that, and moves it to its
/// name when it is complete. Until then nothing appears at the destination. A `DownloadRun` drives it.
struct Download: Sink {
    typealias Apart = Self
    var apart: Self { self }
    typealias Value = HTTPSession.DownloadedFile

    let destination: HTTPSession.Destination
    let options: HTTPSession.DownloadOptions
    /// The resume data to continue from.
    let data: ResumeData?
    let leftover: Leftover

    init(
        to destination: HTTPSession.Destination, _ options: HTTPSession.DownloadOptions = .init(),
        resuming data: ResumeData? = nil
    ) {
        self.destination = destination
        self.options = options
        self.data = data
        leftover = Leftover(data)
    }

    /// Whether the part file stays if the download fails.
    var keepsParts: Bool { options.resuming == .ifValidatorMatches || data != nil }

    /// The number of pieces for which the file's record has room.
    var pieces: Int { options.segments?.count ?? 1 > 1 ? ResumeRecord.manyPieces : 1 }

    func shared(_ value: HTTPSession.Response<HTTPSession.DownloadedFile>) -> (any Sendable)? { value.value }

    func take(from sending: inout Sending) async throws -> HTTPSession.Response<HTTPSession.DownloadedFile> {
        try await take(nil, from: &sending)
    }

    /// Takes over `arrival`, the response to a request that was not made as a download.
    func take(
        _ arrival: Sending.Arrival?, from sending: inout Sending
    ) async throws -> HTTPSession.Response<HTTPSession.DownloadedFile> {
        var run = DownloadRun(self, of: sending)
        return try await run.run(arrival, from: &sending)
    }

    /// Why a response is refused; nil if it is not. A refused body goes into the error and not into a file.
    func refusal(of head: ResponseHead, _ call: HTTPSession.Call) -> NetworkError? {
        guard call.options.validatesResponse else { return nil }
        return HTTP.ResponseRules(contentTypes: options.contentTypes).refusal(
            of: head, in: call.session.contentSettings)
    }
}

/// What a download that ended early left to continue from, and whether the caller asked for it.
final class Leftover: Sendable {
    private let state: Mutex<(isWanted: Bool, data: ResumeData?)>

    /// Creates a leftover with the data that the download continues from.
    init(_ data: ResumeData?) {
        state = Mutex((false, data))
    }

    var data: ResumeData? {
        get { state.withLock { $0.data } }
        set { state.withLock { $0.data = newValue } }
    }

    var isWanted: Bool { state.withLock { $0.isWanted } }

    func want() {
        state.withLock { $0.isWanted = true }
    }
}

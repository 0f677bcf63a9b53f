internal import DunlinReactor
internal import DunlinTransport
internal import Synchronization

/// Writes a response's body to a file: decides where it goes, writes it beside that, and moves it to its name when it
/// is whole. Until then nothing can be seen at the destination. A `DownloadRun` drives it.
struct Download: Sink {
    typealias Value = HTTPSession.DownloadedFile

    let destination: HTTPSession.Destination
    let options: HTTPSession.DownloadOptions
    /// The resume data to go on with.
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

    /// Whether an unfinished file stays when its download ends.
    var keepsParts: Bool { options.resuming == .ifValidatorMatches || data != nil }

    /// How many pieces of the file its record has room for.
    var pieces: Int { options.segments?.count ?? 1 > 1 ? ResumeRecord.manyPieces : 1 }

    func shared(_ value: HTTPSession.Response<HTTPSession.DownloadedFile>) -> (any Sendable)? { value.value }

    func take(
        from call: isolated TaskDelegate
    ) async throws -> HTTPSession.Response<HTTPSession.DownloadedFile> {
        try await take(nil, from: call)
    }

    /// `arrival` is a response that came for a request that was no download.
    func take(
        _ arrival: LiveCall.Arrival?, from call: isolated TaskDelegate
    ) async throws -> HTTPSession.Response<HTTPSession.DownloadedFile> {
        var run = DownloadRun(self, of: call[.main])
        return try await run.run(arrival, from: call)
    }

    /// Why a response is refused; its body goes to the error and to no file.
    func refusal(of head: ResponseHead, _ call: HTTPSession.Call) -> NetworkError? {
        guard call.options.validatesResponse else { return nil }
        return HTTP.ResponseRules(contentTypes: options.contentTypes).refusal(
            of: head, in: call.session.contentSettings)
    }
}

/// What a download that ended early leaves to go on with, and whether the caller asked for that.
final class Leftover: Sendable {
    private let state: Mutex<(isWanted: Bool, data: ResumeData?)>

    /// Begins with the data that the download goes on with.
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

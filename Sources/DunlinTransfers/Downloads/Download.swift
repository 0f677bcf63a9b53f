internal import DunlinReactor
internal import DunlinTransport
internal import Synchronization

/// Takes a response's body into a file: decides where it goes, writes it beside that, and gives it its name when it is
/// whole. Until then nothing can be seen at the destination. What drives it is a `DownloadRun`.
struct Download: Sink {
    typealias Value = HTTPSession.DownloadedFile

    let destination: HTTPSession.Destination
    let options: HTTPSession.DownloadOptions
    /// What to go on with.
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

    /// Whether what there is of a file stays when its download ends before it is whole.
    var keepsParts: Bool { options.resuming == .ifValidatorMatches || data != nil }

    /// For how many pieces of the file its record has room.
    var pieces: Int { options.segments?.count ?? 1 > 1 ? ResumeRecord.manyPieces : 1 }

    func shared(_ value: HTTPSession.Response<HTTPSession.DownloadedFile>) -> (any Sendable)? { value.value }

    func take(_ call: inout LiveCall) async throws -> HTTPSession.Response<HTTPSession.DownloadedFile> {
        try await take(nil, &call)
    }

    /// `arrival` is a response that came for somebody else.
    func take(
        _ arrival: LiveCall.Arrival?, _ call: inout LiveCall
    ) async throws -> HTTPSession.Response<HTTPSession.DownloadedFile> {
        var run = DownloadRun(self, call.request)
        return try await run.run(&call, arrival)
    }

    /// Why a response is not taken at all; its body goes to the error and to no file.
    func refusal(of head: ResponseHead, _ call: HTTPSession.Call) -> NetworkError? {
        guard call.options.validatesResponse else { return nil }
        return HTTP.ResponseRules(contentTypes: options.contentTypes).refusal(of: head)
    }
}

/// What a download that ended early leaves to go on with, and whether somebody asked for that.
final class Leftover: Sendable {
    private let state: Mutex<(isWanted: Bool, data: ResumeData?)>

    /// What there is before the download has begun.
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

internal import Dunlin
internal import DunlinSemantics

/// Brings the bytes of one download.
struct ImageTransfer: Sendable {
    /// What is known of a response apart from its body.
    struct Arrival: Sendable {
        let head: ResponseHead
        let use: HTTPSession.CacheUse?
        /// Who asked for it.
        let asker: ImageKey.Asker
        /// The answer as it is kept; nil if it may not be given again.
        let kept: KeptAnswer?
    }

    /// How the transfer ended.
    enum Ending: Sendable {
        case whole(HTTP.WholeResponse, Arrival)
        /// 304: the stored picture is unchanged.
        case confirmed(Arrival)
        case failed(any Error)
    }

    let session: HTTPSession
    let request: ImageDownloader.Request
    /// The value of `Accept`, unless the request has its own; nil if the session sets one.
    let accept: String?
    let limit: Int
    /// What the program says the picture is the same for, instead of its URL; nil for nothing.
    let identity: String?
    /// The time before which nothing was stored in the HTTP cache that may answer; nil for any.
    let oldestStored: Int64?
    /// The time by which pictures age.
    let now: @Sendable () -> Int64
    /// Called when the request's turn has come.
    var begun: (@Sendable () -> Void)?

    /// Sends the request, and again without the conditions if what they bring is useless.
    func run(
        _ stale: ImageDownloader.Stale?, _ report: (ImageDownloader.Progress) async -> Void
    ) async -> Ending {
        var stale = stale
        while true {
            do {
                let fields = request.fields.overlaid(with: stale?.conditions ?? Fields())
                var inquiry = try session.inquiry(
                    request.method, request.target, fields, options: options, accept: accept)
                if let identity { inquiry = inquiry.named(identity) }
                let response = try await session.stream(inquiry)
                guard let known = stale?.stored.answer, response.status == .notModified else {
                    return await read(response, inquiry, report)
                }
                // Redirects may lead elsewhere by now, where another picture has the same tag or an older date, and the
                // user may be another one.
                if inquiry.isConfirmed(known, by: response) {
                    return .confirmed(arrival(response, inquiry, confirming: known))
                }
                stale = nil
            } catch {
                return .failed(named(error))
            }
        }
    }

    private func read(
        _ response: HTTPSession.StreamedResponse, _ inquiry: Inquiry,
        _ report: (ImageDownloader.Progress) async -> Void
    ) async -> Ending {
        let limit = response.status.isSuccess ? limit : min(limit, 64 << 10)
        var body = ImageBody(expecting: response.body.expectedLength)
        do {
            for try await piece in response.body {
                body.append(piece)
                if body.count > limit {
                    // For a refused response, the beginning is enough.
                    if !response.status.isSuccess { break }
                    throw tooLong(response.head)
                }
                await report(body.progress)
            }
        } catch {
            return .failed(named(error))
        }
        return .whole(HTTP.WholeResponse(head: response.head, body: body.bytes), arrival(response, inquiry))
    }

    private func arrival(
        _ response: HTTPSession.StreamedResponse, _ inquiry: Inquiry, confirming known: KeptAnswer? = nil
    ) -> Arrival {
        let isPart = response.status == .partialContent
        return Arrival(
            head: response.head, use: response.cacheUse, asker: ImageKey(inquiry, filter: nil, scale: 1).asker,
            kept: isPart ? nil : inquiry.kept(response, at: now(), confirming: known))
    }

    private var options: HTTPSession.Options {
        var options = HTTPSession.Options()
        options.keepsProvenance = true
        if request.priority != .normal { options.priority = request.priority }
        if request.timeout != .session { options.timeouts.total = request.timeout }
        let mode = request.httpCacheMode
        if mode != .session { options.cacheMode = mode }
        if let begun { options.begun = begun }
        if let oldestStored { options.oldestStored = oldestStored }
        return options
    }

    private func tooLong(_ head: ResponseHead) -> NetworkError {
        NetworkError(
            .limitExceeded, "the picture has more than \(limit) bytes; allow more with the downloader's `bodyLimit`",
            phase: .receive, requestMayHaveBeenSent: true, response: head)
    }

    /// The error with the request's name. A task that was cancelled from inside does not count as a cancelled caller.
    func named(_ error: any Error) -> any Error {
        if error is CancellationError { return ImageDownloader.Receipt.cancelled(request) }
        guard var error = error as? NetworkError, error.request == nil else { return error }
        error.request = request.name
        return error
    }
}

/// The part of a body that has come. A body in one piece is not copied.
struct ImageBody {
    private var first = Bytes.empty
    /// All pieces; empty while there is only the first.
    private var all: [UInt8] = []
    private let expected: Int?

    init(expecting expected: Int?) {
        self.expected = expected
    }

    var count: Int { all.isEmpty ? first.count : all.count }
    var bytes: Bytes { all.isEmpty ? first : Bytes(all) }

    var progress: ImageDownloader.Progress {
        ImageDownloader.Progress(completed: count, total: expected)
    }

    mutating func append(_ piece: Bytes) {
        if count == 0 {
            first = piece
            return
        }
        if all.isEmpty {
            // A declared length does not justify much memory before the bytes have come.
            all.reserveCapacity(max(first.count + piece.count, min(expected ?? 0, 1 << 20)))
            all += first
            first = .empty
        }
        all += piece
    }
}

internal import Dunlin
internal import DunlinSemantics

/// Brings the bytes of one download: all in one response, or the rest after an earlier one.
struct ImageTransfer: Sendable {
    /// What is known of a response apart from its body.
    struct Arrival: Sendable {
        let head: ResponseHead
        let use: HTTPSession.CacheUse?
        let source: FinalURL?
    }

    /// How the transfer ended.
    enum Ending: Sendable {
        case whole(HTTP.WholeResponse, Arrival)
        /// 304: the stored picture is unchanged.
        case confirmed(ResponseHead)
        /// The transfer failed; the part can be resumed.
        case failed(any Error, PartialImage?)
    }

    /// How an exchange differs from the requested one.
    enum Difference: Sendable {
        /// It was sent with other cookies of the jar.
        case cookies
        /// The session had another user, though it may have the former one again.
        case user
    }

    let session: HTTPSession
    let request: ImageDownloader.Request
    /// The value of `Accept`, unless the request has its own; nil if the session sets one.
    let accept: String?
    let limit: Int
    /// The absolute URL that is requested. Nil if the program defines identities: URLs may then vary, and the picture
    /// is the same unless redirects lead elsewhere.
    let url: String?
    /// The user, as the session identified it at the time of the request.
    let user: String?
    /// The observer of the jar's cookies; nil without a jar.
    let cookies: CookieObserver?
    /// Called when the request's turn has come.
    var begun: (@Sendable () -> Void)?

    /// Sends the request, and again without the part or the condition if these turn out to be useless. `differs` is
    /// called if the request was sent for another user or with other cookies than intended, and returns whether it must
    /// be sent once more.
    func run(
        _ kept: PartialImage?, _ stale: ImageFreshness?, _ report: (ImageDownloader.Progress) async -> Void,
        differs: (Difference) async -> Bool
    ) async -> Ending {
        var part = request.fields.contains("range") ? nil : kept
        var known = stale.flatMap { asks(about: $0) ? $0 : nil }
        var isSentAgain = false
        while true {
            do {
                let edition = session.askerEdition
                let response = try await session.stream(
                    request.target, method: request.method, fields: fields(part, known),
                    options: options)
                let (finalURL, difference) = (finalURL(of: response), difference(since: edition))
                switch Answer(
                    response, signs(of: response), from: finalURL, to: part, about: part == nil ? known : nil)
                {
                case .again:
                    // With a part, the picture in memory was not asked about.
                    if part == nil { known = nil }
                    part = nil
                // The rest may be another user's by now, as after passwords were forgotten, so nothing stored may be
                // used. The same holds for a confirmed picture.
                case .confirmed where difference == .user, .body(_?) where difference == .user:
                    (part, known) = (nil, nil)
                case .confirmed: return .confirmed(response.head)
                case .body(let earlier):
                    // Once: everybody who waits by then has asked before it is sent again, and cannot ask for more.
                    if let difference, await differs(difference), !isSentAgain {
                        (isSentAgain, part, known) = (true, nil, nil)
                        continue
                    }
                    part = nil
                    return await read(response, behind: earlier, from: finalURL, report)
                }
            } catch {
                return .failed(named(error), part)
            }
        }
    }

    /// How the exchange differs; nil if it was sent as requested, and nothing was replaced and put back meanwhile.
    private func difference(since edition: HTTPSession.AskerEdition) -> Difference? {
        if !session.asker.hasSameBytes(as: user) || session.askerEdition != edition { return .user }
        return cookies?.haveDiffered == true ? .cookies : nil
    }

    /// What a response can be used for.
    private enum Answer {
        /// Its body, after the part if there is one.
        case body(PartialImage?)
        case confirmed
        /// The part or the confirmation is useless: send again without it.
        case again

        init(
            _ response: HTTPSession.StreamedResponse, _ signs: PartialImage.Signs, from finalURL: FinalURL?,
            to part: PartialImage?, about known: ImageFreshness?
        ) {
            switch (response.status.code, part, known) {
            // Redirects may now lead elsewhere, where another picture has the same tag or an older date.
            case (304, _, let known?): self = known.source == finalURL ? .confirmed : .again
            case (416, _?, _): self = .again
            case (206, let part?, _):
                let isRest =
                    part.signs.isContinued(by: signs)
                    && part.isContinued(by: response.head, of: response.body.expectedLength, from: finalURL)
                self = isRest ? .body(part) : .again
            default: self = .body(nil)
            }
        }
    }

    /// The final URL of a response; nil if it is the requested one.
    private func finalURL(of response: HTTPSession.StreamedResponse) -> FinalURL? {
        let finalURL = FinalURL(response.url)
        let isAskedFor = if let url { finalURL.text == url } else { response.history.isEmpty }
        return isAskedFor ? nil : finalURL
    }

    private func read(
        _ response: HTTPSession.StreamedResponse, behind earlier: PartialImage?, from finalURL: FinalURL?,
        _ report: (ImageDownloader.Progress) async -> Void
    ) async -> Ending {
        let limit = response.status.isSuccess ? limit : min(limit, 64 << 10)
        var body = ImageBody(behind: earlier, expecting: response.body.expectedLength)
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
            let arrival = Arrival(head: response.head, use: response.cacheUse, source: finalURL)
            return .whole(HTTP.WholeResponse(head: response.head, body: body.bytes), arrival)
        } catch {
            let isResumable =
                !request.fields.contains("range") && [200, 206].contains(response.status.code)
                && response.body.expectedLength != nil
            let isOwn = (error as? NetworkError)?.code == .limitExceeded
            guard isResumable, !isOwn else { return .failed(named(error), nil) }
            var signs = signs(of: response)
            // The earlier part's answer has set them.
            if let earlier { signs.setsCookies = signs.setsCookies || earlier.signs.setsCookies }
            let part = PartialImage(body.bytes, of: response.head, from: finalURL, signs: signs)
            return .failed(named(error), part)
        }
    }

    private func signs(of response: HTTPSession.StreamedResponse) -> PartialImage.Signs {
        var signs = PartialImage.Signs()
        signs.hadCredentials = CredentialFields.areNamed(response.sent, session.configuration.secretFields)
        signs.hadCookies = response.sent.contains("cookie")
        signs.setsCookies = ([response.head] + response.history.map(\.head)).contains {
            $0.fields.contains("set-cookie")
        }
        return signs
    }

    /// Whether a picture can be validated: not by a request that has conditions of its own.
    private func asks(about known: ImageFreshness) -> Bool {
        !known.conditions.isEmpty && !known.conditions.contains { request.fields.contains($0.name) }
    }

    private func fields(_ part: PartialImage?, _ known: ImageFreshness?) -> Fields {
        var fields = request.fields
        if let accept, !fields.contains("accept") {
            fields.append(name: "Accept", value: accept)
        }
        // The request for a part already has a condition on the part, which is enough.
        if let part { return fields.overlaid(with: part.fields) }
        for condition in known?.conditions ?? [] { fields.append(name: condition.name, value: condition.value) }
        return fields
    }

    private var options: HTTPSession.Options {
        var options = HTTPSession.Options()
        if request.priority != .normal { options.priority = request.priority }
        if request.timeout != .session { options.timeouts.total = request.timeout }
        let mode = request.usesNetwork ? request.cacheMode : .storedOnly
        if mode != .session { options.cacheMode = mode }
        if let begun { options.begun = begun }
        if let cookies { options.cookiesSent = { cookies.note($0) } }
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
    private let resumed: Int
    private let expected: Int?

    init(behind part: PartialImage?, expecting rest: Int?) {
        let resumed = part?.bytes.count ?? 0
        self.resumed = resumed
        expected = rest.map { $0 + resumed }
        if let part { first = part.bytes }
    }

    var count: Int { all.isEmpty ? first.count : all.count }
    var bytes: Bytes { all.isEmpty ? first : Bytes(all) }

    var progress: ImageDownloader.Progress {
        ImageDownloader.Progress(completed: count, total: expected, resumed: resumed)
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

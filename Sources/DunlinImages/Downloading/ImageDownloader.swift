public import Dunlin
public import FoundationEssentials

/// Downloads pictures: each once for all who want it, so many at a time, and decoded for all of them.
///
/// ```swift
/// let downloader = ImageDownloader(session: session)
/// let image = try await downloader.image("https://a.test/cat.jpg", filters: [.fit(into: size)])
/// ```
///
/// A request looks in this order: is the same on its way already; is the picture in the cache of images; and only then
/// it is downloaded, which asks the session's HTTP cache first, if the session has one. The request goes over the
/// session with all that it is configured to do: credentials, pins, retries, redirects.
///
/// Everybody who waits for a download is answered when it has ended, in order of arrival. It is cancelled when the last
/// of them has gone. Each has the time of its own request (`Request.timeout`), and whoever has no more of it gets
/// `NetworkError` with code `timedOut` while the others wait on. A downloader that nobody holds any more ends: whoever
/// still waits gets `NetworkError` with code `sessionClosed`. The session stays open; it is its owner's.
public actor ImageDownloader {
    public nonisolated let session: HTTPSession
    /// Where pictures are looked for first; nil for nowhere.
    public nonisolated let cache: (any ImageRequestCache)?
    public nonisolated let configuration: Configuration

    /// One who waits.
    struct Waiting: Sendable {
        let receiptID: UUID
        let request: Request
        let key: ImageKey
        let state: ReceiptState
    }

    /// A download from its first waiter to its end.
    struct Download: Sendable {
        let question: ImageQuestion
        let request: Request
        /// The request's own and the jar's, when it was asked for.
        let cookies: String?
        /// The picture that is asked about, and its key.
        var stale: (key: ImageKey, picture: ImageBuffer, freshness: ImageFreshness)?
        var progress: Progress?
        /// The last who waited, if the download goes on for the cache alone.
        var last: Waiting?
        /// Whether its URL was invalidated since it began, or its user was replaced before: nothing of it is kept.
        var isOutdated = false
        /// Whether somebody has joined it since it began.
        var wasJoined = false
        /// Whether the servers are asked because its URL was invalidated, and nothing older can be stored after that.
        var isRenewal = false
        /// What was made of the picture, by the names of the chains.
        var made: [String?: Result<ImageBuffer, any Error>] = [:]

        var identity: ImageIdentity { question.identity }
    }

    var machine: DownloadMachine<SharedIdentity>
    var waiting: [UInt64: Waiting] = [:]
    var downloads: [UInt64: Download] = [:]
    var tasks: [UInt64: Task<Void, Never>] = [:]
    var parts: PartialImages<ImageIdentity>
    var invalidated = InvalidatedURLs<ImageQuestion>()
    /// Set as long as somebody's time may be up.
    var alarm: LoopAlarm?
    private var lastNumber: UInt64 = 0
    private(set) var isClosed = false
    private var ownDesk: Desk?

    /// A downloader over a session. Without a `cache` no picture is kept once it was handed out.
    public init(
        session: HTTPSession, cache: (any ImageRequestCache)? = AutoPurgingImageCache(),
        configuration: Configuration = Configuration()
    ) {
        (self.session, self.cache, self.configuration) = (session, cache, configuration)
        machine = DownloadMachine(
            maximum: configuration.maximumActive, order: configuration.queueOrder,
            finishesForCache: configuration.unwanted == .finishForCache)
        parts = PartialImages(capacity: configuration.resumableBytes)
    }

    deinit {
        ownDesk?.events.finish()
        for task in tasks.values { task.cancel() }
        for (_, waiter) in waiting.sorted(by: { $0.key < $1.key }) {
            waiter.state.settle(.failure(Self.ended(waiter.request)))
        }
    }

    /// Downloads that are on their way, and those that wait for a slot.
    public var active: Int { machine.active }
    public var queued: Int { machine.queued }

    var desk: Desk {
        if let ownDesk { return ownDesk }
        let desk = Desk(self)
        ownDesk = desk
        // Ends with the downloader, which finishes the stream.
        Task.detached { for await event in desk.stream { await desk.downloader?.take(event) } }
        return desk
    }

    private func take(_ event: Event) {
        switch event {
        case .leave(let number): leave(number)
        case .turned(let download): turned(download)
        case .expire: expire()
        }
    }
}

// MARK: - Asking

extension ImageDownloader {
    /// The picture at a URL, with filters applied.
    ///
    /// Throws `NetworkError`, with code `imageDecodingFailed` for what is no picture; what a filter of your own throws;
    /// and `CancellationError` when the task is cancelled. Then the download is cancelled too, if nobody else wants it.
    public nonisolated func image(
        _ target: HTTP.Target, filters: [ImageFilter] = [], priority: HTTP.Priority = .normal
    ) async throws -> ImageBuffer {
        var request = Request(target, filters: filters)
        request.priority = priority
        return try await image(for: request)
    }

    /// The same for a request that says more.
    public nonisolated func image(for request: Request) async throws -> ImageBuffer {
        try await response(for: request).image
    }

    /// The picture, its bytes, and where it came from.
    public nonisolated func response(for request: Request) async throws -> Response {
        try Task.checkCancellation()
        let receipt = try await download(request)
        if let outcome = receipt.state.outcome { return try outcome.get() }
        return try await withTaskCancellationHandler {
            try await receipt.state.value()
        } onCancel: {
            receipt.state.settle(.failure(CancellationError()))
            // The task that waited is answered already; its place is given up as soon as the downloader has time.
            receipt.desk.events.yield(.leave(receipt.number))
        }
    }

    /// Asks for a picture, and returns at once with a receipt. Throws `NetworkError` with code `invalidRequest` for a
    /// target that is no URL, and with code `sessionClosed` after `shutdown`. `id` is the caller's own name for it.
    public func download(_ request: Request, id: UUID = UUID()) throws -> Receipt {
        let receipt = try receipt(for: request, id)
        if receipt.isOver { return receipt }
        let (number, state) = (receipt.number, receipt.state)
        let url = try url(of: request.target)
        let identity = configuration.identity(of: request, url, by: session)
        let waiter = Waiting(
            receiptID: id, request: request, key: configuration.key(of: request, identity), state: state)
        let (limit, now) = (session.waitLimit(request.timeout), session.loopTime)
        let priority = request.priority.rawValue
        // In AFNetworking's order. Nothing here waits, so nobody comes between one look and the next.
        let shared = SharedIdentity(
            identity: identity, cookies: session.cookieField(for: url, beside: request.fields))
        if limit.inherited > now, let joined = machine.join(number, shared, priority, limit, at: now) {
            waiting[number] = waiter
            if tasks[joined] != nil { downloads[joined]?.wasJoined = true }
            if let progress = downloads[joined]?.progress { state.report(progress) }
            perform([])
            return receipt
        }
        var download = Download(
            question: ImageQuestion(identity: identity, url: url), request: request, cookies: shared.cookies)
        if let found = lookUp(waiter, &download) {
            state.settle(found)
            return receipt
        }
        if let refusal = refusal(of: request, limit, at: now) {
            state.settle(.failure(refusal))
            return receipt
        }
        waiting[number] = waiter
        let (begun, actions) = machine.begin(number, shared, priority, limit)
        downloads[begun] = download
        perform(actions)
        return receipt
    }

    /// Asks for pictures that may be wanted soon: after all others that wait, until somebody asks for them. Requests
    /// that cannot be sent are over at once, each with its error.
    @discardableResult
    public func prefetch(_ requests: [Request]) -> [Receipt] {
        requests.map { request in
            var request = request
            request.priority = .prefetch
            do {
                return try download(request)
            } catch {
                let state = ReceiptState()
                state.settle(.failure(error))
                return Receipt(id: UUID(), request: request, number: 0, state: state, desk: desk)
            }
        }
    }

    /// Cancels the receipts of this id; the same as `Receipt.cancel`. Has no effect if there is none that waits.
    public func cancel(_ id: UUID) {
        for (number, waiter) in waiting.filter({ $0.value.receiptID == id }).sorted(by: { $0.key < $1.key }) {
            waiter.state.settle(.failure(Receipt.cancelled(waiter.request)))
            leave(number)
        }
    }

    private func receipt(for request: Request, _ id: UUID) throws -> Receipt {
        if isClosed { throw Self.ended(request) }
        lastNumber += 1
        return Receipt(id: id, request: request, number: lastNumber, state: ReceiptState(), desk: desk)
    }
}

// MARK: - Its end

extension ImageDownloader {
    /// Ends the downloader: whoever waits gets `NetworkError` with code `sessionClosed`, and so does whoever asks from
    /// now on. Returns when all that ran has ended. The session and the cache stay as they are.
    public func shutdown() async {
        isClosed = true
        let (answered, actions) = machine.close()
        for number in answered {
            guard let waiter = waiting.removeValue(forKey: number) else { continue }
            waiter.state.settle(.failure(Self.ended(waiter.request)))
        }
        perform(actions)
        downloads = downloads.filter { machine.knows($0.key) }
        parts.removeAll { _ in true }
        for task in Array(tasks.values) { await task.value }
    }

    /// Forgets all that is known of a URL: what the session's HTTP cache has stored, its pictures in memory, and what
    /// is kept to be resumed. What is on its way goes on for those who wait for it, and is not kept; for whoever asks
    /// from now on the picture is downloaded anew, and the HTTP cache is passed over wherever redirects lead. The
    /// downloader remembers this for the 4,096 URLs invalidated last. Requests that may not use the network, or not the
    /// HTTP cache, stay as they are.
    ///
    /// Where `configuration.identity` says what pictures are known by, `url` is one of these; the HTTP cache forgets it
    /// if it is a URL.
    public func invalidate(_ url: String) async throws {
        let url = configuration.identity == nil ? try self.url(of: .url(url)) : url
        if Self.isWhole(url) { try await session.configuration.cache?.remove(url) }
        // In one step, after the wait: nobody puts back what was found before.
        for id in downloads.keys where downloads[id]?.identity.url == url { outdate(id) }
        cache?.invalidate(url)
        parts.removeAll { $0.url == url }
        if session.configuration.cache != nil { invalidated.insert(url) }
    }

    /// A download that has not begun brings what is new then, as long as it does not ask about what is forgotten now.
    private func outdate(_ id: UInt64) {
        if machine.retire(id) {
            downloads[id]?.isOutdated = true
        } else {
            downloads[id]?.stale = nil
        }
    }

    static func ended(_ request: Request) -> NetworkError {
        var error = NetworkError(.sessionClosed, "the image downloader has ended", isSafeToRetry: true)
        error.request = request.name
        return error
    }
}

extension HTTP.Priority {
    /// Of what nobody waits for yet.
    public static let prefetch = Self(-1_000_000)
}

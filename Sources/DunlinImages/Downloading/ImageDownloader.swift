public import Dunlin
public import FoundationEssentials
internal import Synchronization

/// An actor that downloads pictures: each once for all who want it, a limited number at a time, decoded for all of
/// them.
///
/// ```swift
/// let downloader = ImageDownloader(session: session)
/// let image = try await downloader.image("https://a.test/cat.jpg", filters: [.fit(into: size)])
/// ```
///
/// A request first joins an identical one under way, then looks in the cache of images, and only then is downloaded,
/// which asks the session's HTTP cache first, if there is one. The request uses the session with its whole
/// configuration: credentials, pins, retries, redirects.
///
/// The waiters of a download are answered when it has ended, in order of arrival. It is cancelled when the last of them
/// leaves. Each has its own time limit (`Request.timeout`); one whose time is up gets a `NetworkError` with code
/// `timedOut`, and the others keep waiting. Releasing the downloader ends it: remaining waiters get a `NetworkError`
/// with code `sessionShutDown`. The session belongs to its owner and stays open.
public actor ImageDownloader {
    public nonisolated let session: HTTPSession
    /// The cache that is asked first; nil for none.
    public nonisolated let cache: (any ImageRequestCache)?
    public nonisolated let configuration: Configuration
    /// The session's settings. The session makes a copy of them each time it is asked.
    nonisolated let settings: HTTPSession.Configuration
    /// What was invalidated.
    nonisolated let invalidated = Mutex(Invalidations())

    /// A waiter.
    struct Waiting: Sendable {
        let receiptID: UUID
        let request: Request
        let key: ImageKey
        let state: ReceiptState
    }

    /// A download from its first waiter to its end.
    struct Download: Sendable {
        let shared: SharedDownload
        /// The key of the picture that was asked for first.
        let key: ImageKey
        let request: Request
        /// Who asked first.
        let caller: Caller
        /// What was removed when it was sent: anything removed later is newer.
        var removals: [UInt64]
        /// The picture to validate, and its key.
        var stale: Stale?
        var progress: Progress?
        /// The last waiter, if the download continues only for the cache.
        var last: Waiting?
        /// The results by the names of the chains.
        var made: [String?: Result<ImageBuffer, any Error>] = [:]
        /// The name of the chain that is being applied.
        var chain: String?
    }

    /// A stored picture that the server is asked about.
    struct Stale: Sendable {
        let key: ImageKey
        let stored: StoredImage
        let conditions: Fields
    }

    var machine: ImageDownloadMachine<SharedDownload>
    var waiting: [UInt64: Waiting] = [:]
    var downloads: [UInt64: Download] = [:]
    var tasks: [UInt64: Task<Void, Never>] = [:]
    /// The alarm; set while somebody's time may run out.
    var alarm: LoopAlarm?
    private var lastNumber: UInt64 = 0
    private(set) var isClosed = false
    /// The downloads within which `shutdown` was called.
    private var closers: Set<UInt64> = []
    private var ownReference: Reference?

    /// Creates a downloader that uses a session. Without a `cache`, pictures are not kept after delivery.
    public init(
        session: HTTPSession, cache: (any ImageRequestCache)? = AutoPurgingImageCache(),
        configuration: Configuration = Configuration()
    ) {
        (self.session, self.cache, self.configuration) = (session, cache, configuration)
        settings = session.configuration
        machine = ImageDownloadMachine(
            maximum: configuration.maximumActive, order: configuration.queueOrder,
            finishesForCache: configuration.unwanted == .finishForCache)
    }

    deinit {
        ownReference?.events.finish()
        for task in tasks.values { task.cancel() }
        for (_, waiter) in waiting.sorted(by: { $0.key < $1.key }) {
            waiter.state.settle(.failure(Self.ended(waiter.request)))
        }
    }

    /// The number of running downloads, and of those that wait for a slot.
    public var active: Int { machine.active }
    public var queued: Int { machine.queued }

    var reference: Reference {
        if let ownReference { return ownReference }
        let reference = Reference(self)
        ownReference = reference
        // The task ends with the downloader, which finishes the stream.
        Task.detached { for await event in reference.stream { await reference.downloader?.take(event) } }
        return reference
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
    /// Returns the picture at a URL, with filters applied.
    ///
    /// Throws a `NetworkError`, with code `imageDecodingFailed` for content that is not a picture; any error of your
    /// own filters; and `CancellationError` if the task is cancelled, which also cancels the download unless somebody
    /// else wants it.
    public nonisolated func image(
        _ target: HTTP.Target, filters: [ImageFilter] = [], priority: HTTP.Priority = .normal
    ) async throws -> ImageBuffer {
        var request = Request(target, filters: filters)
        request.priority = priority
        return try await image(for: request)
    }

    /// Returns the picture for a request.
    public nonisolated func image(for request: Request) async throws -> ImageBuffer {
        try await response(for: request).image
    }

    /// Returns the picture, its bytes, and where it came from.
    public nonisolated func response(for request: Request) async throws -> Response {
        try Task.checkCancellation()
        let receipt = try await download(request)
        if let outcome = receipt.state.outcome { return try outcome.get() }
        return try await withTaskCancellationHandler {
            try await receipt.state.value()
        } onCancel: {
            receipt.state.settle(.failure(CancellationError()))
            // The awaiting task has its answer already; its place is given up when the downloader has time.
            receipt.reference.events.yield(.leave(receipt.number))
        }
    }

    /// Requests a picture, and returns a receipt at once. Throws a `NetworkError` with code `invalidRequest` for a
    /// target that is not a URL, and with code `sessionShutDown` after `shutdown`. `id` is the caller's own ID for it.
    public func download(_ request: Request, id: UUID = UUID()) throws -> Receipt {
        try download(request, id, by: caller)
    }

    private func download(_ request: Request, _ id: UUID, by caller: Caller) throws -> Receipt {
        let receipt = try receipt(for: request, id)
        if receipt.isOver { return receipt }
        let (number, state) = (receipt.number, receipt.state)
        let inquiry = try inquiry(for: request)
        let waiter = Waiting(receiptID: id, request: request, key: key(of: request, inquiry), state: state)
        let (limit, now) = (session.waitLimit(request.timeout), session.loopTime)
        let priority = request.priority.rawValue
        // In AFNetworking's order. Nothing here waits, so nobody can come in between.
        let removals = removals(of: waiter.key.url)
        let mayJoin = caller.mayWait && inquiry.isShareable
        if mayJoin, limit.inherited > now, !downloads.isEmpty {
            let shared = shared(inquiry, request)
            leaveOutdated(shared, removals)
            if let joined = machine.join(number, shared, priority, limit, at: now) {
                waiting[number] = waiter
                if let progress = downloads[joined]?.progress { state.report(progress) }
                setAlarm()
                return receipt
            }
        }
        let found = lookUp(request, waiter.key, inquiry)
        if case .give(let picture) = found {
            state.settle(.success(response(waiter, .memory, picture: picture)))
            return receipt
        }
        let shared = shared(inquiry, request)
        var download = Download(
            shared: shared, key: waiter.key, request: request, caller: caller, removals: removals)
        if case .ask(let stale) = found { download.stale = stale }
        if let refusal = refusal(of: download, limit, at: now) {
            state.settle(.failure(refusal))
            return receipt
        }
        let (begun, actions) = machine.begin(number, shared, priority, limit, isAlone: !caller.mayWait)
        if !inquiry.isShareable { machine.retire(begun) }
        waiting[number] = waiter
        downloads[begun] = download
        perform(actions)
        return receipt
    }

    /// Requests pictures that may be wanted soon. They come after all other waiting requests, until somebody asks for
    /// them. Requests that cannot be sent are over at once, each with its error.
    ///
    /// They wait for their turn also if they are requested in a filter or other code that a download waits for; await
    /// the receipts only after it. Those that the session's own interceptor, handler or refresh requests do not wait.
    @discardableResult
    public func prefetch(_ requests: [Request]) -> [Receipt] {
        var caller = caller
        // What does not pass all code of the session's is nobody else's.
        caller.mayWait = !caller.isException
        return requests.map { request in
            var request = request
            request.priority = .prefetch
            do {
                return try download(request, UUID(), by: caller)
            } catch {
                let state = ReceiptState()
                state.settle(.failure(error))
                return Receipt(id: UUID(), request: request, number: 0, state: state, reference: reference)
            }
        }
    }

    /// Cancels the waiting receipts with this ID, like `Receipt.cancel`.
    public func cancel(_ id: UUID) {
        for (number, waiter) in waiting.filter({ $0.value.receiptID == id }).sorted(by: { $0.key < $1.key }) {
            waiter.state.settle(.failure(Receipt.cancelled(waiter.request)))
            leave(number)
        }
    }

    /// Nobody joins what began before its URL was forgotten; what has not begun will bring what is there then.
    private func leaveOutdated(_ shared: SharedDownload, _ removals: [UInt64]) {
        guard let id = machine.joinable(shared), tasks[id] != nil, downloads[id]?.removals != removals else { return }
        machine.retire(id)
    }

    private func receipt(for request: Request, _ id: UUID) throws -> Receipt {
        if isClosed { throw Self.ended(request) }
        lastNumber += 1
        return Receipt(id: id, request: request, number: lastNumber, state: ReceiptState(), reference: reference)
    }
}

// MARK: - Its end

extension ImageDownloader {
    /// Ends the downloader: current waiters and later callers get a `NetworkError` with code `sessionShutDown`. Returns
    /// when everything that ran has ended. The session and the cache are not affected.
    ///
    /// If called within a download (in one of its filters, or in a hook of its request), it does not wait for that
    /// download, nor for others within which it was called.
    public func shutdown() async {
        isClosed = true
        let within = caller.within
        let (answered, actions) = machine.close()
        for number in answered {
            guard let waiter = waiting.removeValue(forKey: number) else { continue }
            waiter.state.settle(.failure(Self.ended(waiter.request)))
        }
        perform(actions)
        downloads = downloads.filter { machine.knows($0.key) }
        let excluded = within.isEmpty ? [] : within.union(closers)
        closers.formUnion(within)
        for (id, task) in tasks where !excluded.contains(id) { await task.value }
    }

    /// Forgets everything stored for a URL: in the session's HTTP cache, and in memory. Running downloads continue for
    /// their waiters, but are not stored; later requests of this downloader get nothing from the HTTP cache that was
    /// asked for before, wherever redirects lead. The downloader remembers this for the 4,096 URLs invalidated last.
    /// Requests that may not use the network are not affected.
    ///
    /// With `configuration.identity`, `url` is one of its results; the HTTP cache forgets it if it is a URL.
    public func invalidate(_ url: String) async throws {
        let url = configuration.identity == nil ? try self.url(of: .url(url)) : url
        if Self.isWhole(url) { try await settings.cache?.remove(url) }
        // In one step after the wait, so that nothing found before is put back.
        let normal = ImageKey.normal(url)
        let time = session.cacheTime
        invalidated.withLock { $0.note(normal, at: time) }
        cache?.invalidate(normal)
    }

    static func ended(_ request: Request) -> NetworkError {
        var error = NetworkError(.sessionShutDown, "the image downloader has ended", isSafeToRetry: true)
        error.request = request.name
        return error
    }
}

extension HTTP.Priority {
    /// The priority of pictures that nobody waits for yet.
    public static let prefetch = Self(-1_000_000)
}

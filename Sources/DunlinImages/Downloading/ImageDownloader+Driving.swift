internal import Dunlin
internal import FoundationEssentials

/// What the downloader does between a request and its answer. It all runs on the actor, and nothing but `drive` waits.
extension ImageDownloader {
    func leave(_ number: UInt64) { perform(remove(number)) }

    /// Removes a waiter. Returns the actions to perform.
    func remove(_ number: UInt64) -> [DownloadMachine<SharedIdentity>.Action] {
        guard let waiter = waiting.removeValue(forKey: number) else { return [] }
        let (download, actions) = machine.leave(number)
        if let download {
            if !machine.knows(download) {
                downloads[download] = nil
            } else if machine.waiters(of: download).isEmpty {
                downloads[download]?.last = waiter
            }
        }
        return actions
    }

    func setPriority(_ priority: HTTP.Priority, of number: UInt64) {
        machine.setPriority(priority.rawValue, of: number)
    }

    func perform(_ actions: [DownloadMachine<SharedIdentity>.Action]) {
        for action in actions {
            switch action {
            case .start(let id): start(id)
            case .stop(let id): tasks[id]?.cancel()
            }
        }
        setAlarm()
    }

    /// The answer of the cache of images; nil if the image has to be downloaded. A stored picture to validate is passed
    /// on with the download.
    func lookUp(_ waiter: Waiting, _ download: inout Download) -> ReceiptState.Outcome? {
        let use = waiter.request.memoryUse(settings.cacheMode)
        guard let cache, waiter.request.decodes, use != .reload, use != .skip else { return nil }
        switch cache.lookUp(waiter.key) {
        case .nothing: return nil
        case .fresh(let picture, _) where use != .validated:
            return .success(response(waiter, .memory, picture: picture))
        case .stale(let picture, _) where use == .any:
            return .success(response(waiter, .memory, picture: picture))
        case .fresh(let picture, let freshness), .stale(let picture, let freshness):
            if !freshness.conditions.isEmpty { download.stale = (waiter.key, picture, freshness) }
            return nil
        }
    }

    /// Why nothing may be sent; nil if it may. The request may use only a cache that the session does not have, or its
    /// time is up, or it would need its own result.
    func refusal(of download: Download, _ limit: HTTPSession.WaitLimit, at now: HTTP.Instant) -> NetworkError? {
        let request = download.request
        let mode =
            request.usesNetwork ? request.cacheMode.resolved(settings.cacheMode) ?? .off : .storedOnly
        var error: NetworkError
        if mode == .storedOnly, settings.cache == nil {
            error = NetworkError(
                .notCached, "the picture is not in memory, and its request may not use the network",
                isSafeToRetry: true)
        } else if limit.inherited <= now {
            let reason = "the deadline of the enclosing `withTimeout` has passed"
            error = limit.failure(reason, from: nil, at: now, requestMayHaveBeenSent: false)
        } else if isWithinItself(download) {
            error = NetworkError(
                .invalidRequest, "the picture was asked for by its own filter, or in a hook of its own request")
        } else {
            return nil
        }
        error.request = request.name
        return error
    }

    private func start(_ id: UInt64) {
        guard var download = downloads[id] else { return }
        // Everything stored is the former user's; if the user has changed, its owner is unknown.
        if !isOfUser(download) { (download.isOutdated, download.stale) = (true, nil) }
        let mustAsk = invalidated.mustAsk(download.question, of: download.identity.url.string)
        // It is requested with the current cookies.
        let cookies = session.cookieField(for: download.question.url.string, beside: download.request.fields)
        if !cookies.hasSameBytes(as: download.cookies?.string) { _ = machine.retire(id) }
        download.isRenewal = mustAsk && !isBesideOutdated(id, download)
        downloads[id] = download
        var request = download.request
        if let priority = machine.priority(of: id) { request.priority = HTTP.Priority(priority) }
        if mustAsk || download.isOutdated { request.passHTTPCacheOver(settings.cacheMode) }
        // Each waiter has its own limit.
        request.timeout = .none
        var transfer = ImageTransfer(
            session: session, request: request,
            accept: (settings.fields["accept"] ?? "*/*") == "*/*" ? configuration.serializer.accept : nil,
            limit: configuration.bodyLimit ?? settings.limits.bodyBytes ?? .max,
            url: configuration.identity == nil ? download.identity.url.string : nil,
            user: download.identity.selection[ImageIdentity.user]?.string,
            cookies: settings.cookies == nil ? nil : CookieObserver(download.jarCookies))
        if session.hasQueue {
            transfer.begun = { [reference] in reference.events.yield(.turned(id)) }
        }
        var serializer = configuration.serializer
        serializer.inflation = .lazy
        let run = Run(
            id: id, transfer: transfer, serializer: serializer, queue: configuration.decodeQueue,
            reference: reference, surroundings: download.asker.surroundings)
        let part = download.isOutdated ? nil : parts.take(download.identity)
        let stale = download.stale?.freshness
        // The task ends with its download and is cancelled with it; it does not retain the downloader, and inherits
        // only the enclosures of the asking task.
        tasks[id] = Task.detached { await run.begin(part, stale) }
        if !session.hasQueue { turned(id) }
    }

    /// Whether another download of the same URL is under way that may still put outdated content into the HTTP cache.
    private func isBesideOutdated(_ id: UInt64, _ download: Download) -> Bool {
        downloads.contains { $0.key != id && $0.value.isOutdated && $0.value.identity.url == download.identity.url }
    }

    /// Notes that a download was sent for another user, or with other cookies, than it was requested for: nobody joins
    /// it any more. Returns true if somebody has joined it since it began, who may be neither user: then it has to be
    /// sent again.
    func differs(_ id: UInt64, _ difference: ImageTransfer.Difference) -> Bool {
        guard let download = downloads[id] else { return false }
        if difference == .user {
            downloads[id]?.isOutdated = true
            downloads[id]?.stale = nil
        }
        return machine.retire(id) && download.wasJoined
    }

    /// Whether it was sent as the session's user, who is still the one that the download was requested for.
    private func isOfUser(_ download: Download) -> Bool {
        !download.asker.isException
            && session.asker.hasSameBytes(as: download.identity.selection[ImageIdentity.user]?.string)
    }

    func moved(_ id: UInt64, _ progress: Progress) {
        downloads[id]?.progress = progress
        for number in machine.waiters(of: id) { waiting[number]?.state.report(progress) }
    }

    /// Ends a download without a picture. What has come is kept for the next.
    func fail(_ id: UInt64, _ error: any Error, _ part: PartialImage?) {
        if let part, let download = downloads[id], !download.isOutdated, !isClosed, isOfUser(download) {
            parts.put(part, for: download.identity)
        }
        end(id) { _ in .failure(error) }
    }

    /// Notes that the server confirmed the picture in memory. Returns false if that does not answer every waiter: then
    /// everything has to be downloaded.
    func confirm(_ id: UInt64, _ head: ResponseHead) -> Bool {
        guard let download = downloads[id], let stale = download.stale else { return false }
        downloads[id]?.stale = nil
        guard isOfUser(download), wanted(of: id).allSatisfy({ $0.key == stale.key && $0.request.decodes }) else {
            return false
        }
        // All waiters asked before the URL was invalidated, if it was; nobody has joined since. They get what the
        // server has confirmed, as they would get a body that came that late, and it is not stored either.
        if !download.isOutdated {
            let freshness = stale.freshness.renewed(by: head, now: Self.wallClock)
            if cache?.renew(stale.key, freshness: freshness) == false {
                cache?.add(stale.picture, for: stale.key, freshness: freshness)
            }
        }
        end(id) { .success(self.response($0, .confirmedMemory, head, picture: stale.picture)) }
        return true
    }

    /// The next chain of filters that somebody waits for and that has not been applied yet; nil if there is none, and
    /// then everybody was answered.
    func nextChain(_ id: UInt64, _ content: ResponseImage, _ arrival: ImageTransfer.Arrival) -> [ImageFilter]? {
        guard let download = downloads[id] else { return nil }
        machine.arrived(id)
        let wanted = wanted(of: id)
        if let next = wanted.first(where: { $0.request.decodes && download.made[$0.key.filter] == nil }) {
            downloads[id]?.chain = next.key.filter
            return next.request.filters
        }
        let (head, use) = (arrival.head, arrival.use)
        var freshness = ImageFreshness(
            head, now: Self.wallClock, age: use?.age,
            selecting: configuration.knownFields(hasJar: settings.cookies != nil))
        freshness.source = arrival.source
        // The cache may still have an older version of a picture that was resumed.
        let isWhole = head.status.isSuccess && head.status.code != 206
        if isWhole, download.isRenewal, !download.isOutdated, isOfUser(download) {
            invalidated.asked(download.question, of: download.identity.url.string)
        }
        let source = use.map { $0.source == .network && !$0.isRevalidated ? Response.Source.network : .httpCache }
        var (outcomes, stored): ([ImageKey: Result<ImageBuffer, any Error>], Set<ImageKey>) = ([:], [])
        for waiter in wanted where waiter.request.decodes {
            let outcome = download.made[waiter.key.filter]?.map { $0.scaled(waiter.key.scale) }
            outcomes[waiter.key] = outcome
            if !download.isOutdated, !stored.contains(waiter.key), store(outcome, of: waiter, freshness) {
                stored.insert(waiter.key)
            }
        }
        end(id) { waiter in
            guard waiter.request.decodes, let outcome = outcomes[waiter.key] else {
                return .success(self.response(waiter, source ?? .network, head, content))
            }
            return outcome.map { self.response(waiter, source ?? .network, head, content, picture: $0) }
        }
        return nil
    }

    func made(_ id: UInt64, _ chain: String?, _ outcome: Result<ImageBuffer, any Error>) {
        downloads[id]?.made[chain] = outcome
    }

    /// Stores a picture. Returns false if there is none, or if it may not be stored for this waiter.
    private func store(
        _ outcome: Result<ImageBuffer, any Error>?, of waiter: Waiting, _ freshness: ImageFreshness
    ) -> Bool {
        guard let cache, case .success(let picture) = outcome,
            session.asker.hasSameBytes(as: waiter.key.selection[ImageIdentity.user]),
            waiter.request.memoryUse(settings.cacheMode) != .skip,
            cache.shouldCache(picture, for: waiter.key)
        else { return false }
        cache.add(picture, for: waiter.key, freshness: freshness)
        return true
    }

    /// The requests that a download serves: its waiters', or the last one's if only the cache is left.
    private func wanted(of id: UInt64) -> [Waiting] {
        let waiters = machine.waiters(of: id).compactMap { waiting[$0] }
        if !waiters.isEmpty || configuration.unwanted == .cancel { return waiters }
        return downloads[id]?.last.map { [$0] } ?? []
    }

    private func end(_ id: UInt64, _ outcome: (Waiting) -> ReceiptState.Outcome) {
        let (answered, actions) = machine.end(id)
        downloads[id] = nil
        tasks[id] = nil
        for number in answered {
            guard let waiter = waiting.removeValue(forKey: number) else { continue }
            waiter.state.settle(outcome(waiter))
        }
        perform(actions)
    }

    private func response(
        _ waiter: Waiting, _ source: Response.Source, _ head: ResponseHead? = nil, _ content: ResponseImage? = nil,
        picture: ImageBuffer? = nil
    ) -> Response {
        Response(
            request: waiter.request, receiptID: waiter.receiptID, source: source, head: head,
            content: content?.scaled(waiter.key.scale), picture: picture)
    }

    static var wallClock: Int64 { Int64(Date().timeIntervalSince1970) }
}

/// A running download, outside the actor, which it does not retain.
///
/// It runs on the session's loop, where a request costs least, and leaves it for whatever takes longer: large bodies,
/// pixels, and the user's code.
private struct Run: Sendable {
    let id: UInt64
    let transfer: ImageTransfer
    let serializer: ImageResponseSerializer
    let queue: DecodeQueue
    let reference: ImageDownloader.Reference
    let surroundings: Enclosure.Surroundings
    /// The number of bytes up to which a body's header is read where it arrived, as a session serializes it.
    private static let atOnce = 64 << 10

    func begin(_ part: PartialImage?, _ stale: ImageFreshness?) async {
        let (subject, owner) = (Enclosure.Subject.picture(of: ObjectIdentifier(reference), id), transfer.session.owner)
        await surroundings.within {
            await Enclosure.enter(subject, of: owner.ofDownloader) { await download(part, stale) }
        }
    }

    private func download(_ part: PartialImage?, _ stale: ImageFreshness?) async {
        do {
            try await transfer.session.onEventLoop { @concurrent in await drive(part, stale) }
        } catch {
            await reference.downloader?.fail(id, transfer.named(error), part)
        }
    }

    @concurrent private func drive(_ part: PartialImage?, _ stale: ImageFreshness?) async {
        let ending = await transfer.run(part, stale) {
            await reference.downloader?.moved(id, $0)
        } differs: {
            await reference.downloader?.differs(id, $0) ?? false
        }
        switch ending {
        case .failed(let error, let part): await reference.downloader?.fail(id, error, part)
        case .confirmed(let head):
            // Somebody wants a picture that was not validated: send once more, without a condition.
            let isAnswer = await onDefaultPool { await reference.downloader?.confirm(id, head) }
            if isAnswer == false { await drive(nil, nil) }
        case .whole(let response, let arrival): await make(response, arrival)
        }
    }

    /// Reads the header, and makes the wanted pictures while somebody wants more.
    private func make(_ response: HTTP.WholeResponse, _ arrival: ImageTransfer.Arrival) async {
        do {
            try serializer.validate(response)
            let isShort = response.body.count <= Self.atOnce
            let content =
                isShort
                ? try serializer.serialize(response) : try await onDefaultPool { try serializer.serialize(response) }
            guard let chain = await reference.downloader?.nextChain(id, content, arrival) else { return }
            try await onDefaultPool { try await decode(content, chain, arrival) }
        } catch let error as ImageError {
            await reference.downloader?.fail(id, transfer.named(NetworkError(decoding: error, of: response.head)), nil)
        } catch {
            await reference.downloader?.fail(id, transfer.named(error), nil)
        }
    }

    private func decode(
        _ content: ResponseImage, _ first: [ImageFilter], _ arrival: ImageTransfer.Arrival
    ) async throws {
        let picture = try await content.decoded(queue)
        var next: [ImageFilter]? = first
        while let chain = next {
            await reference.downloader?.made(id, chain.name, await applied(chain, picture))
            next = await reference.downloader?.nextChain(id, content, arrival)
        }
    }

    private func applied(_ chain: [ImageFilter], _ picture: ImageBuffer) async -> Result<ImageBuffer, any Error> {
        do {
            return .success(try await chain.apply(to: picture))
        } catch {
            return .failure(transfer.named(error))
        }
    }

    /// Runs on the default pool, for a task that prefers a loop.
    private func onDefaultPool<Value: Sendable, Failure: Error>(
        _ work: @Sendable @concurrent () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await withTaskExecutorPreference(globalConcurrentExecutor) { @concurrent () throws(Failure) in
            try await work()
        }
    }
}

extension ImageBuffer {
    /// The same pixels for a screen with this many pixels for each point.
    func scaled(_ scale: Double) -> ImageBuffer {
        var copy = self
        copy.scale = scale
        return copy
    }
}

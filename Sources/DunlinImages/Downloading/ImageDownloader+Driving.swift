internal import Dunlin
internal import DunlinSemantics
internal import FoundationEssentials
internal import Synchronization

/// What the downloader does between a request and its answer. It all runs on the actor, and nothing but `drive` waits.
extension ImageDownloader {
    func leave(_ number: UInt64) { perform(remove(number)) }

    /// Removes a waiter. Returns the actions to perform.
    func remove(_ number: UInt64) -> [ImageDownloadMachine<SharedDownload>.Action] {
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

    func perform(_ actions: [ImageDownloadMachine<SharedDownload>.Action]) {
        for action in actions {
            switch action {
            case .start(let id): start(id)
            case .stop(let id): tasks[id]?.cancel()
            }
        }
        setAlarm()
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
        let removals = removals(of: download.key.url)
        if removals != download.removals {
            // It will bring what is there now, unless it validates what was forgotten.
            (download.stale, download.removals) = (nil, removals)
            downloads[id] = download
        }
        var request = download.request
        if let priority = machine.priority(of: id) { request.priority = HTTP.Priority(priority) }
        // Each waiter has its own limit.
        request.timeout = .none
        var transfer = ImageTransfer(
            session: session, request: request, accept: accept,
            limit: configuration.bodyLimit ?? settings.limits.bodyBytes ?? .max,
            identity: identity(of: request),
            oldestStored: request.usesNetwork ? invalidated.withLock { $0[download.key.url]?.oldest } : nil,
            now: { [cache] in cache?.now ?? 0 })
        if session.hasQueue {
            transfer.begun = { [reference] in reference.events.yield(.turned(id)) }
        }
        var serializer = configuration.serializer
        serializer.inflation = .lazy
        let run = Run(
            id: id, transfer: transfer, serializer: serializer, queue: configuration.decodeQueue,
            reference: reference, surroundings: download.caller.surroundings)
        let stale = download.stale
        // The task ends with its download and is cancelled with it; it does not retain the downloader, and inherits
        // only the enclosures of the asking task.
        tasks[id] = Task.detached { await run.begin(stale) }
        if !session.hasQueue { turned(id) }
    }

    func moved(_ id: UInt64, _ progress: Progress) {
        downloads[id]?.progress = progress
        for number in machine.waiters(of: id) { waiting[number]?.state.report(progress) }
    }

    /// Ends a download without a picture.
    func fail(_ id: UInt64, _ error: any Error) {
        end(id) { _ in .failure(error) }
    }

    /// Notes that the server confirmed the picture in memory, which is kept as the answer says from now on. Returns
    /// false if that does not answer every waiter: then everything has to be downloaded.
    func confirm(_ id: UInt64, _ arrival: ImageTransfer.Arrival) -> Bool {
        guard let download = downloads[id], let stale = download.stale else { return false }
        downloads[id]?.stale = nil
        guard wanted(of: id).allSatisfy({ $0.key == stale.key && $0.request.decodes }) else { return false }
        let picture = stale.stored.image
        if arrival.kept == nil { cache?.removeImage(for: stale.key) }
        store(picture, of: arrival, for: stale.key, download)
        end(id) { .success(self.response($0, .confirmedMemory, arrival.head, picture: picture)) }
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
        let source = use.map { $0.source == .network && !$0.isRevalidated ? Response.Source.network : .httpCache }
        var (outcomes, stored): ([ImageKey: Result<ImageBuffer, any Error>], Set<ImageKey>) = ([:], [])
        for waiter in wanted where waiter.request.decodes {
            let outcome = download.made[waiter.key.filter]?.map { $0.scaled(waiter.key.scale) }
            outcomes[waiter.key] = outcome
            guard waiter.request.memoryUse(settings.cacheMode) != .skip, case .success(let picture) = outcome,
                stored.insert(waiter.key).inserted
            else { continue }
            var key = waiter.key
            // The user may be another one since it was asked for.
            key.asker = arrival.asker
            store(picture, of: arrival, for: key, download)
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

    /// Stores a picture, unless it was asked for by code that others' requests pass and this one's did not. One that
    /// may not be stored removes what it would have replaced.
    private func store(
        _ picture: ImageBuffer, of arrival: ImageTransfer.Arrival, for key: ImageKey, _ download: Download
    ) {
        guard let cache, !download.caller.isException else { return }
        if let kept = arrival.kept {
            guard cache.shouldCache(picture, for: key) else { return }
            cache.add(StoredImage(picture, of: kept), for: key, since: download.removals[0])
        } else if arrival.head.status.isSuccess, arrival.head.status != .partialContent {
            cache.removeImage(for: key)
        }
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

    func response(
        _ waiter: Waiting, _ source: Response.Source, _ head: ResponseHead? = nil, _ content: ResponseImage? = nil,
        picture: ImageBuffer? = nil
    ) -> Response {
        Response(
            request: waiter.request, receiptID: waiter.receiptID, source: source, head: head,
            content: content?.scaled(waiter.key.scale), picture: picture)
    }
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

    func begin(_ stale: ImageDownloader.Stale?) async {
        let (subject, owner) = (Enclosure.Subject.picture(of: ObjectIdentifier(reference), id), transfer.session.owner)
        await surroundings.within {
            await Enclosure.enter(subject, of: owner.ofDownloader) { await download(stale) }
        }
    }

    private func download(_ stale: ImageDownloader.Stale?) async {
        do {
            try await transfer.session.onEventLoop { @concurrent in await drive(stale) }
        } catch {
            await reference.downloader?.fail(id, transfer.named(error))
        }
    }

    @concurrent private func drive(_ stale: ImageDownloader.Stale?) async {
        let ending = await transfer.run(stale) { await reference.downloader?.moved(id, $0) }
        switch ending {
        case .failed(let error): await reference.downloader?.fail(id, error)
        case .confirmed(let arrival):
            // Somebody wants a picture that was not validated: send once more, without a condition.
            let isAnswer = await onDefaultPool { await reference.downloader?.confirm(id, arrival) }
            if isAnswer == false { await drive(nil) }
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
            await reference.downloader?.fail(id, transfer.named(NetworkError(decoding: error, of: response.head)))
        } catch {
            await reference.downloader?.fail(id, transfer.named(error))
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

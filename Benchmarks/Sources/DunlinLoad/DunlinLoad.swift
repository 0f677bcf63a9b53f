public import BenchmarkLoad
public import Dunlin
internal import FoundationEssentials
internal import Synchronization

extension Load {
    /// A session for this load.
    public func session() throws -> HTTPSession {
        var configuration = HTTPSession.Configuration(baseURL: "\(scheme)://\(host):\(port)")
        // A socket that is kept keeps its connection.
        let connections = job == .open ? requests : concurrency * segments
        configuration.connections.perOrigin = connections
        configuration.connections.total = connections
        // As libcurl's CURLOPT_FORBID_REUSE: the client closes, and says nothing of it.
        if isFresh { configuration.connections.maximumUses = 1 }
        if let authority { configuration.tls.roots = .only([.file(authority)]) }
        if !proxy.isEmpty { configuration.proxy = .url(proxy) }
        if isReal { try equip(&configuration) }
        if isResilient { harden(&configuration) }
        if cache.isThere {
            configuration.cache = HTTPSession.Cache(
                cache.isOnDisk ? .init(memory: 0, disk: 64 << 20) : .init(memory: 8 << 20, disk: 0),
                folder: cache.isOnDisk ? folder : nil)
            // The server says nothing of how long its response keeps.
            if cache.hits { configuration.cacheMode = .preferringStored }
        }
        configuration.tls.resumesSessions = isResumed || !isFresh
        return try HTTPSession(configuration)
    }

    /// The load over Dunlin, where it is called, and what is observed beside it.
    public func measure(_ session: HTTPSession) async throws {
        let watching = await watch(session)
        defer { for task in watching { task.cancel() } }
        try await measureUnwatched(session)
        if cache.isOnDisk {
            // What is still to be written is, or it would come into a folder that is being removed.
            await session.configuration.cache?.close()
            try FileManager.default.removeItem(atPath: folder)
        }
        if rest > 0 { try await Task.sleep(for: .seconds(rest)) }
    }

    /// A cache's folder, of this process alone.
    private var folder: String { "/tmp/dunlin-benchmark-\(ProcessInfo.processInfo.processIdentifier)" }

    private func watch(_ session: HTTPSession) async -> [Task<Void, Never>] {
        var watching: [Task<Void, Never>] = []
        if ["reachability", "all"].contains(watched) {
            watching.append(Task { for await _ in Reachability.shared.statuses {} })
        }
        if ["activity", "all"].contains(watched) {
            // Shown at once, or a short load would be over before it is.
            let monitor = ActivityMonitor(
                delays: .init(activation: .zero), clock: SlowClock(slowness: max(1, slowness)))
            await monitor.follow(session)
            await monitor.enable()
            watching.append(Task { for await _ in await monitor.changes {} })
        }
        return watching
    }

    private func measureUnwatched(_ session: HTTPSession) async throws {
        let target = HTTP.Target(path)
        if job != .none { return try await measureJob(session, target) }
        if !output.isEmpty { return try await measure(Keep(session: session, target: target, load: self)) }
        if isBulk { return try await measure(Download(session: session, target: target, options: observing)) }
        if upload > 0 { return try await measure(Upload(session: session, target: target, length: upload, file: file)) }
        let options = HTTPSession.Options()
        if cache != .none, !cache.hits { return try await measure(GetAnew(session: session, path: path)) }
        if isFresh, authority != nil {
            let first = SecureGet(session: session, target: target, options: options, isResumed: nil)
            let get = SecureGet(session: session, target: target, options: options, isResumed: isResumed)
            return try await measure(get, warmingUpWith: first)
        }
        try await measure(Get(session: session, target: target, options: options))
    }
}

extension Load {
    /// With somebody who looks at each step of a download, if there is to be one.
    private var observing: HTTPSession.Options {
        var options = HTTPSession.Options()
        guard isObserved else { return options }
        options.hooks.downloadProgress = { _, progress in
            precondition(!progress.isFinal || progress.wireBytes == length, "a final progress that is not the end")
        }
        return options
    }
}

private struct Get: Sender {
    let session: HTTPSession
    let target: HTTP.Target
    let options: HTTPSession.Options

    func send() async throws -> Reply {
        let response = try await session.get(target, options: options, as: .bytes)
        return Reply(status: response.status.code, length: response.value.count)
    }
}

/// A URL that was not asked for yet.
private final class GetAnew: Sender {
    private let session: HTTPSession
    private let path: String
    private let count = Atomic<Int>(0)

    init(session: HTTPSession, path: String) {
        (self.session, self.path) = (session, path)
    }

    func send() async throws -> Reply {
        let target = HTTP.Target("\(path)?\(count.add(1, ordering: .relaxed).newValue)")
        let response = try await session.get(target, as: .bytes)
        return Reply(status: response.status.code, length: response.value.count)
    }
}

/// The same, where it matters how the connection was secured.
private struct SecureGet: Sender {
    let session: HTTPSession
    let target: HTTP.Target
    let options: HTTPSession.Options
    /// Nil if either will do.
    let isResumed: Bool?

    func send() async throws -> Reply {
        let response = try await session.get(target, options: options, as: .bytes)
        if let isResumed, response.metrics.hops.last?.security?.isResumed != isResumed {
            throw WrongHandshake(wanted: isResumed ? "resumed" : "full")
        }
        return Reply(status: response.status.code, length: response.value.count)
    }
}

private struct WrongHandshake: Error {
    let wanted: String
}

private struct Download: Sender {
    let session: HTTPSession
    let target: HTTP.Target
    let options: HTTPSession.Options

    func send() async throws -> Reply {
        try await session.withResponse(from: target, options: options) { response in
            var count = 0
            for try await chunk in response.body { count += chunk.count }
            return Reply(status: response.status.code, length: count)
        }
    }
}

/// Into a file.
private struct Keep: Sender {
    let session: HTTPSession
    let target: HTTP.Target
    let load: Load

    func send() async throws -> Reply {
        var transfer = HTTPSession.DownloadOptions(overwrites: true)
        transfer.resuming = load.isRecorded ? .ifValidatorMatches : .never
        if load.segments > 1 { transfer.segments = HTTPSession.Segments(load.segments) }
        if !load.digest.isEmpty { transfer.digest = try ContentDigest(.sha256, hex: load.digest) }
        let response = try await session.download(target, to: .file(load.output), transfer: transfer)
        return Reply(status: response.status.code, length: response.value.byteCount)
    }
}

private struct Upload: Sender {
    let session: HTTPSession
    let target: HTTP.Target
    let length: Int
    let file: String

    func send() async throws -> Reply {
        let body: RequestBody = file.isEmpty ? .stream(Zeros(count: length), length: length) : .file(file)
        let response = try await session.put(target, body: body, as: .bytes)
        return Reply(status: response.status.code, length: response.value.count)
    }
}

/// A body without a cost of its own: one chunk, said again until there are enough bytes.
struct Zeros: AsyncSequence, Sendable {
    let count: Int

    struct Iterator: AsyncIteratorProtocol {
        let chunk = Bytes([UInt8](repeating: 0, count: 256 * 1024))
        var left: Int

        mutating func next() async throws -> Bytes? {
            guard left > 0 else { return nil }
            let size = Swift.min(left, chunk.count)
            left -= size
            return size == chunk.count ? chunk : chunk[0..<size]
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(left: count) }
}

/// The clock of a machine on which everything takes longer.
struct SlowClock: Clock {
    let slowness: Int

    var now: ContinuousClock.Instant { ContinuousClock.now }
    var minimumResolution: Duration { ContinuousClock().minimumResolution }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        try await ContinuousClock().sleep(for: (deadline - now) * slowness, tolerance: tolerance)
    }
}

import Dunlin
import DunlinImages
import Foundation
import Synchronization

/// What came of a call: what was given, and by which of those who keep or share.
struct KeptOutcome: Sendable {
    let call: KeptCall
    let began: ContinuousClock.Instant
    let giver: String
    /// Nil if nothing was given.
    let content: KeptContent?
}

/// What outlasts the sessions of a world: downloads that were stopped midway.
final class KeptFiles: Sendable {
    struct Stopped: Sendable {
        let call: KeptCall
        let path: String
        var data: ResumeData?
    }

    let folder: String
    private let stopped = Mutex<[Stopped]>([])

    init(_ folder: String) { self.folder = folder }

    func put(_ next: Stopped) { stopped.withLock { $0.append(next) } }

    /// The last that one of the same use left.
    func take(_ use: KeptCall.Use) -> Stopped? {
        stopped.withLock { all in all.lastIndex { $0.call.use == use }.map { all.remove(at: $0) } }
    }
}

/// One call of a storm over what is kept, run.
struct KeptRun: Sendable {
    var call: KeptCall
    let began = ContinuousClock.now
    let world: KeptWorld
    let files: KeptFiles

    /// Returns when the request has ended, however it did.
    func go() async -> [KeptOutcome] {
        guard let cancel = call.cancel else { return await ended() }
        let task = Task { await ended() }
        await pause(cancel)
        task.cancel()
        return await task.value
    }

    private func pause(_ duration: Duration) async {
        do { try await Task.sleep(for: duration) } catch { return }
    }

    private func ended() async -> [KeptOutcome] {
        do {
            switch call.use {
            case .whole: return [try await whole()]
            case .stream: return [try await stream()]
            case .file: return [try await file()]
            case .resumed: return [try await resumed()]
            case .segments: return [try await segments()]
            case .journal: return try await call.begins ? begun() : restored()
            case .picture: return [try await picture()]
            case .shown:
                let picture = world.downloaders[call.session].imageInMemory(for: pictureRequest)
                return [outcome("picture for a target", picture.map { KeptContent($0) })]
            }
        } catch {
            return [failed(error)]
        }
    }

    private func outcome(_ giver: String, _ content: KeptContent?) -> KeptOutcome {
        KeptOutcome(call: call, began: began, giver: giver, content: content)
    }

    private func failed(_ error: any Error) -> KeptOutcome {
        let code = (error as? NetworkError).map { "\($0.code)" } ?? "\(type(of: error))"
        return outcome("\(call.use): \(code)", nil)
    }

    // MARK: Responses

    private func whole() async throws -> KeptOutcome {
        let response = try await session.get(target, options: options, as: .bytes)
        return outcome("response from \(Self.source(response.cacheUse))", KeptContent(response.body))
    }

    private static func source(_ use: HTTPSession.CacheUse?) -> String {
        guard let use, use.source != .network else { return "the network" }
        return "\(use.source)" + (use.isRevalidated ? ", confirmed" : use.isStale ? ", stale" : "")
    }

    /// Read to its end, or given up.
    private func stream() async throws -> KeptOutcome {
        try await session.withResponse(from: target, options: options) { response in
            guard response.status.isSuccess else { return outcome("stream: \(response.status)", nil) }
            var whole: [UInt8] = []
            for try await piece in response.body {
                whole += piece
                if call.begins { return outcome("stream, given up", nil) }
            }
            return outcome("stream from \(Self.source(response.cacheUse))", KeptContent(Bytes(whole)))
        }
    }

    // MARK: Files

    /// Goes on with what another left.
    private func file() async throws -> KeptOutcome {
        let former = files.take(.file)
        var run = self
        if let former { run.call.continue(former.call) }
        return try await run.file(at: former?.path ?? path("file-\(call.number)"))
    }

    private func file(at path: String) async throws -> KeptOutcome {
        let task = try session.downloadTask(
            target, options: slowly, to: .file(path), resuming: .ifValidatorMatches, transfer: .init(overwrites: true))
        if call.begins {
            await stopMidway(task)
            if case .failure = await task.result { files.put(.init(call: call, path: path)) }
        }
        return try read(try await task.response, "file")
    }

    private func stopMidway(_ task: HTTPSession.RequestTask<HTTPSession.DownloadedFile>) async {
        task.resume()
        while !Task.isCancelled, task.downloaded.decodedBytes == 0, task.resultIfEnded == nil {
            await pause(.microseconds(200))
        }
        task.cancel()
    }

    private func resumed() async throws -> KeptOutcome {
        let path = path("resumed-\(call.number)")
        if !call.begins, let former = files.take(.resumed), let data = former.data {
            var run = self
            run.call.continue(former.call)
            return try run.read(
                try await run.session.download(resumeData: data, options: run.options, to: .file(path)), "resume data")
        }
        let task = try session.downloadTask(target, options: slowly, to: .file(path))
        await stopMidway(task)
        if let data = await task.cancelProducingResumeData() { files.put(.init(call: call, path: path, data: data)) }
        return try read(try await task.response, "file")
    }

    private func segments() async throws -> KeptOutcome {
        var transfer = HTTPSession.DownloadOptions(overwrites: true)
        transfer.segments = HTTPSession.Segments(3, minimumLength: 256)
        return try read(
            try await session.download(
                target, options: slowly, to: .file(path("segments-\(call.number)")), transfer: transfer), "segments")
    }

    private func read(_ response: HTTPSession.Response<HTTPSession.DownloadedFile>, _ kind: String) throws
        -> KeptOutcome
    {
        let giver = response.status == .partialContent ? "\(kind), continued" : kind
        return outcome(giver, try read(response.value.path))
    }

    private func read(_ path: String) throws -> KeptContent {
        let data = try Data(contentsOf: URL(filePath: path))
        try FileManager.default.removeItem(atPath: path)
        return KeptContent(Bytes(data))
    }

    private func path(_ name: String) -> String { "\(files.folder)/\(name)" }

    // MARK: Journals

    private func journal() async throws -> TransferJournal {
        var rules = TransferJournal.Rules()
        (rules.attempts, rules.firstDelay) = (2, .milliseconds(1))
        return try await TransferJournal(in: path("journal"), of: session, rules: rules)
    }

    /// A transfer that is left midway, to whoever comes next.
    private func begun() async throws -> [KeptOutcome] {
        let journal = try await journal()
        let transfer = try await journal.download(
            target, options: slowly, to: .file(path("journal-\(call.number)")), transfer: .init(overwrites: true))
        transfer.resume()
        await pause(KeptServer.wait / 2)
        await journal.close()
        if case .success(let value) = transfer.resultIfEnded { return [ended(.success(value))] }
        files.put(.init(call: call, path: transfer.id))
        return [outcome("journal: left", nil)]
    }

    private func restored() async throws -> [KeptOutcome] {
        guard let former = files.take(.journal) else { return [] }
        var run = self
        run.call.continue(former.call)
        let journal = try await run.journal()
        var outcomes: [KeptOutcome] = []
        if let transfer = try await journal.restoredTransfers().first(where: { $0.id == former.path }) {
            transfer.resume(options: run.options)
            outcomes = [run.ended(await transfer.result)]
            transfer.cancel()
        }
        await journal.close()
        return outcomes
    }

    private func ended(_ result: Result<TransferJournal.Outcome, any Error>) -> KeptOutcome {
        do {
            guard let file = try result.get().file else { return outcome("journal: no file", nil) }
            return outcome("journal", try read(file.path))
        } catch {
            return failed(error)
        }
    }

    // MARK: Pictures

    private func picture() async throws -> KeptOutcome {
        let response = try await world.downloaders[call.session].response(for: pictureRequest)
        let isRest = response.head?.status == .partialContent
        let giver =
            switch response.source {
            case .memory: "picture in memory"
            case .confirmedMemory: "picture confirmed by 304"
            case _ where isRest: "picture with a kept part"
            case .httpCache: "picture from the HTTP cache"
            case .network: "picture from the network"
            }
        return outcome(giver, KeptContent(try await response.image))
    }
}

// MARK: - What is asked for

extension KeptRun {
    private var session: HTTPSession { world.sessions[call.session] }
    private var target: HTTP.Target { .url(world.server.url(of: call.resource)) }

    private var fields: Fields {
        var fields: Fields = ["X-Theme": call.theme]
        switch call.way {
        case .field: fields["Authorization"] = "Bearer \(call.user)"
        case .cookie: fields["Cookie"] = "me=\(call.user)"
        case .session, .basic, .bearer, .password: break
        }
        return fields
    }

    private var options: HTTPSession.Options {
        var options = HTTPSession.Options(fields: fields)
        options.cacheMode = call.mode.map { .value($0) } ?? .session
        switch call.way {
        case .basic: options.credentials = .basic(user: call.user, password: "pw")
        case .bearer: options.credentials = .bearer(token: call.user)
        case .password: options.credentials = .password(user: call.user, password: "pw")
        case .session, .field, .cookie: break
        }
        return options
    }

    /// So slowly that it can be stopped midway.
    private var slowly: HTTPSession.Options {
        var options = options
        options.fields[KeptServer.paceField] = KeptServer.slow
        return options
    }

    private var pictureRequest: ImageDownloader.Request {
        var request = ImageDownloader.Request(target)
        request.fields = fields
        request.cacheMode = call.mode.map { .value($0) } ?? .session
        return request
    }
}

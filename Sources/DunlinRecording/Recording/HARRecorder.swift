public import Dunlin
internal import DunlinReactor
internal import DunlinTypes
internal import Synchronization

/// Writes what a session sends and receives into an HTTP archive.
///
/// ```swift
/// let recorder = try HARRecorder("today.har")
/// configuration.observers.append(recorder)
/// …
/// try await recorder.finish()
/// ```
///
/// Each exchange becomes an entry when it has ended: each redirect, retry and answered challenge, and each answer of
/// the cache. The file is a whole archive after every entry, so that nothing is lost when the process is killed. It is
/// readable by its owner only.
///
/// Secrets are left out, by the names that are secret for the session (`secretFields`): of fields, cookies, queries,
/// forms, JSON and URLs. A token in a text under another name is not known to be one.
///
/// No request waits for the recorder or its disk. If more entries wait than `Settings` allows, or the disk is full,
/// entries are lost; the archive and `lost` say how many.
public final class HARRecorder: HTTPSession.Observer {
    /// What to do if the file exists.
    public enum Existing: Sendable, Hashable {
        case refuse
        /// Entries are added behind those that it has.
        case append
    }

    public struct Settings: Sendable {
        /// How many bytes of each body are written; nil for none.
        public var bodyLimit: Int?
        /// What to do if the file exists.
        public var existing = Existing.refuse
        /// The tag that requests must have; nil for all requests. To record one request, give it a tag.
        public var tag: String?
        /// Names whose values are left out, besides those of the session.
        public var secretFields = HTTP.SecretFields.usual
        /// How many entries may wait to be written, and how many bytes they may hold.
        public var mostWaiting = 10_000
        public var mostBytesWaiting = 64 << 20
        /// Whether nothing of a file that exists is kept.
        var replaces = false
        /// Whether a request has one entry, its last exchange.
        var onlyLast = false

        public init(bodyLimit: Int? = nil, existing: Existing = .refuse, tag: String? = nil) {
            (self.bodyLimit, self.existing, self.tag) = (bodyLimit, existing, tag)
        }
    }

    let settings: Settings
    private let maker: EntryMaker
    private let path: String
    private let lostBefore: Int
    private let file: Mutex<HARFile>
    private let queue: Mutex<DraftQueue<UnsafeContinuation<Void, Never>>>
    private let failure = Mutex<HAR.Problem?>(nil)

    /// Creates the file, or opens it. Throws if it may not be written to, or if another recorder does.
    public init(_ path: String, _ settings: Settings = Settings()) throws(HAR.Problem) {
        self.settings = settings
        self.path = path
        var start = HAR()
        let more = settings.secretFields.more
        start.secretNames = more.isEmpty ? nil : more.sorted()
        let file = try HARFile(path, settings.existing, start, replaces: settings.replaces)
        lostBefore = file.lostBefore
        maker = EntryMaker(
            secretFields: settings.secretFields, namesOfAll: file.secretNames, bodyLimit: settings.bodyLimit)
        queue = Mutex(DraftQueue(mostDrafts: settings.mostWaiting, mostBytes: settings.mostBytesWaiting))
        self.file = Mutex(file)
    }

    public func began(_ request: HTTPSession.TaskSnapshot) -> (any HTTPSession.RequestObserver)? {
        if let tag = settings.tag, !request.tags.contains(tag) { return nil }
        return RequestRecording(request, self)
    }

    /// How many entries this recorder has lost.
    public var lost: Int { queue.withLock { $0.lost } }
    /// How many entries the archive lacks. A damaged one may say any number.
    private var lostOfAll: Int { lost.addingClamped(lostBefore) }

    /// Returns when all exchanges that have ended by now are written, and would survive a loss of power. Throws if
    /// entries were lost. It may be called again, and exchanges that end later are recorded, too.
    public func finish() async throws(HAR.Problem) {
        await withUnsafeContinuation { continuation in
            if !queue.withLock({ $0.wait(continuation) }) { continuation.resume() }
        }
        let (lost, all) = (lost, lostOfAll)
        let outcome = await DiskThreads.shared.run { [self] in
            file.withLock { file in Result { () throws(Errno) in try file.close(lost: all) } }
        }
        if case .failure(let error) = outcome {
            throw HAR.Problem(path: path, reason: "it cannot be written: \(error)")
        }
        if let failure = failure.withLock(\.self) { throw failure }
        if lost > 0 {
            throw HAR.Problem(path: path, reason: "\(lost) entries were lost: they came too fast to be written")
        }
    }

    func record(_ draft: Draft) {
        guard queue.withLock({ $0.add(draft) }) else { return }
        DiskThreads.shared.start { [self] in write() }
    }

    /// Writes drafts until there are none.
    private func write() {
        while let drafts = queue.withLock({ $0.next() }) {
            for draft in drafts { write(draft) }
            for waiter in queue.withLock({ $0.wrote(drafts.count) }) { waiter.resume() }
        }
    }

    private func write(_ draft: Draft) {
        do {
            let text = try HAR.json.encode(maker.entry(of: draft))
            let lost = lostOfAll
            try file.withLock { file in try file.append(text, lost: lost) }
        } catch {
            queue.withLock { $0.lose() }
            failure.withLock { $0 = $0 ?? HAR.Problem(path: path, reason: "entries were lost: \(error)") }
        }
    }
}

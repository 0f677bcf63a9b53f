internal import DunlinReactor
internal import DunlinSecure
internal import DunlinSemantics
internal import DunlinTransport
internal import Synchronization

/// Transfers that outlive their process: each is saved in a folder before it is sent, and a later process continues
/// what an earlier one left unfinished.
///
/// ```swift
/// let journal = try await TransferJournal(in: "/var/lib/app/transfers", of: client)
/// for transfer in try await journal.restoredTransfers() {
///     show(try transfer.metadata(as: Film.self))
///     transfer.resume()
/// }
/// let transfer = try await journal.download("films/7.mp4", to: .file("/data/7.mp4"), metadata: film)
/// let file = try await transfer.value.file
/// ```
///
/// Any number of processes may share a folder; each transfer belongs to one of them while that process runs. Nothing is
/// transferred while no process runs. Transfers are forgotten when they are over.
///
/// A journal ends with `close()`, or when its session is shut down; unfinished transfers stay in the folder. Transfers
/// that have begun retain their journal and its session.
public final class TransferJournal: SessionResident, Sendable {
    /// Called with a transfer's outcome before the transfer is forgotten. If the process ends meanwhile, the transfer
    /// is restored and reported again.
    package typealias EndHook = @Sendable (Transfer, Result<Outcome, any Error>) async -> Void

    /// The absolute path of the folder.
    public var folder: String { storage.path }
    let session: HTTPSession
    let storage: JournalFolder
    let rules: Rules
    let ended: EndHook?
    private let list = Mutex(TransferList<Held, ValueWaiter<Void>>())

    /// A transfer, held weakly because it retains its journal.
    private struct Held {
        weak var transfer: Transfer?
    }

    /// Opens the journal in a folder, which is created if it is missing, readable only by this user.
    ///
    /// Throws a `FileFailure` if that is impossible or if the folder does not belong to this user alone
    /// (`FileFailure.distrust`), and a `NetworkError` with code `sessionShutDown` if the session is shut down.
    public init(
        in folder: String, of session: HTTPSession, rules: Rules = Rules(),
        ended: (@Sendable (Transfer, Result<Outcome, any Error>) async -> Void)? = nil
    ) async throws {
        self.session = session
        self.rules = rules
        self.ended = ended
        do throws(Errno) {
            storage = JournalFolder(path: try FileSystem.absolute(folder))
        } catch {
            throw HTTPSession.FileFailure(folder, error)
        }
        let storage = storage
        try await HTTPSession.FileFailure.onDisk { () throws(HTTPSession.FileFailure) in try storage.open() }
        guard session.core.residents.add(self) else {
            throw NetworkError(.sessionShutDown, "the session is shut down; make another, or call `restart()`")
        }
    }

    /// All unfinished transfers of this journal, begun or not, oldest first.
    public var transfers: [Transfer] { list.withLock { $0.transfers.compactMap(\.transfer) } }

    /// The problems since the journal was opened: entries that were damaged, unreadable or possibly written by others,
    /// and files that could not be removed.
    public var issues: [HTTPSession.JournalIssue] { list.withLock { $0.issues } }

    /// Takes over the unfinished transfers of processes that have ended, unless others have taken them. Each begins
    /// when it is resumed or awaited. A second call returns those that were left since the first.
    ///
    /// A damaged entry is set aside, as a file whose name ends in `.transfer-damaged`, and reported in `issues` and as
    /// an event.
    public func restoredTransfers() async throws -> [Transfer] {
        let storage = storage
        let ids = try await HTTPSession.FileFailure.onDisk { () throws(HTTPSession.FileFailure) in try storage.ids() }
        var restored: [Transfer] = []
        for id in ids where !list.withLock({ $0.has(id) }) {
            let found = await DiskThreads.shared.run { () -> Restored? in Restored(id, in: storage) }
            switch found?.finding {
            case nil, .inUse: break
            case .damaged(let path, let damage): note(HTTPSession.JournalIssue(path: path, error: damage))
            case .unreadable(let failure): note(HTTPSession.JournalIssue(path: failure.path, error: failure))
            case .entry(let entry, let file):
                let machine = JournalMachine(entry, rules, found: found?.named, ofAnother: isOfAnother(entry))
                restored.append(try enter(Transfer(machine, file, .restored, self)))
            }
        }
        return restored
    }

    /// An entry that was taken over, with the file that is where the entry says.
    private struct Restored: Sendable {
        let finding: JournalFolder.Finding
        let named: JournalEntry.NamedFile?

        init?(_ id: String, in storage: JournalFolder) {
            guard let finding = storage.take(id) else { return nil }
            self.finding = finding
            if case .entry(let entry, _) = finding, case .publishing(let file) = entry.state {
                named = JournalFolder.named(file.path)
            } else {
                named = nil
            }
        }
    }
}

// MARK: - New ones

extension TransferJournal {
    /// Saves a download, which begins when it is resumed or awaited. The destination must be a file or a folder; others
    /// would have to be chosen by this process, which may be gone by then, and throw a `NetworkError` with code
    /// `invalidRequest`.
    ///
    /// Of the options, fields, timeouts, guard, redirects, cache mode, `decodesContent`, `validatesResponse` and label
    /// are saved, except fields that look secret (unless in `Rules.keptFields`) and secrets of the URL (unless
    /// `Rules.keepsSecretsOfURLs`). The session's defaults and credentials are sent as for any request, and only by
    /// sessions with the same `userID`. The restored transfer has the same `metadata`.
    public func download(
        _ target: HTTP.Target, query: HTTP.Query = .init(), options: HTTPSession.Options = .init(),
        to destination: HTTPSession.Destination, transfer: HTTPSession.DownloadOptions = .init(),
        metadata: (any Encodable & Sendable)? = nil
    ) async throws -> Transfer {
        try transfer.segments?.validate()
        guard let download = JournalEntry.Download(destination.anchored, transfer) else {
            throw NetworkError(
                .invalidRequest,
                "a journal downloads to `.file` or `.folder` only: another process cannot run a closure")
        }
        let arguments = Transfer.Arguments(target: target, query: query, options: options, transfer: transfer)
        return try await add(.download(download), .get, .none, arguments, metadata)
    }

    /// Saves an upload, which begins when it is resumed or awaited. The file must exist until the upload is over.
    ///
    /// Each attempt sends the whole upload, so a server may get it more than once. Where that matters, add a field
    /// `Idempotency-Key` or use an idempotent method. Other uploads are sent again only if they were not sent; for a
    /// restored one, `Transfer.attempts` shows whether it may have been.
    public func upload(
        _ target: HTTP.Target, method: HTTP.Method = .post, query: HTTP.Query = .init(),
        options: HTTPSession.Options = .init(), file path: String, contentType: String? = "application/octet-stream",
        metadata: (any Encodable & Sendable)? = nil
    ) async throws -> Transfer {
        let absolute: String
        do throws(Errno) {
            absolute = try FileSystem.absolute(path)
        } catch {
            throw HTTPSession.FileFailure(path, error)
        }
        let upload = JournalEntry.Upload(path: absolute, contentType: contentType)
        let arguments = Transfer.Arguments(target: target, query: query, options: options)
        return try await add(.upload(upload), method, upload.body, arguments, metadata)
    }

    private func add(
        _ work: JournalEntry.Work, _ method: HTTP.Method, _ body: RequestBody, _ arguments: Transfer.Arguments,
        _ metadata: (any Encodable & Sendable)?
    ) async throws -> Transfer {
        let call = try session.core.call(
            method, arguments.target, query: arguments.query, body: body, options: arguments.options, isObserved: false)
        let kept = Set(rules.keptFields.map { $0.lowercased() })
        let request = JournalEntry.Request(
            call.head, arguments.options, stored: stored(call.head.origin.description + call.head.target),
            hasUserInfo: Self.hasUserInfo(arguments.target), keeping: kept,
            hiding: arguments.options.unstoredFields(session.configuration), under: session.configuration.guard)
        let words = try metadata.map { String(try HTTP.JSON.standard.encode($0)) }
        let id = JournalEntry.makeID()
        let user = try session.configuration.userID.map { try JournalEntry.digest(of: $0, id: id) }
        let entry = JournalEntry(id: id, request: request, work: work, metadata: words, user: user)
        if list.withLock({ $0.isClosed }) { throw Self.closed }
        let (bytes, storage) = (try entry.bytes(), storage)
        let file = try await HTTPSession.FileFailure.onDisk { () throws(HTTPSession.FileFailure) in
            try storage.add(entry, bytes)
        }
        do {
            return try enter(Transfer(JournalMachine(entry, rules, isAnew: true), file, .arguments(arguments), self))
        } catch {
            // The journal was closed meanwhile; nobody may later find an entry that the caller was told does not exist.
            try await HTTPSession.FileFailure.onDisk { () throws(HTTPSession.FileFailure) in
                try storage.forget(entry.id)
            }
            throw error
        }
    }

    /// Whether a target names a user, which no URL that is saved does. A relative one does not.
    private static func hasUserInfo(_ target: HTTP.Target) -> Bool {
        do throws(AddressError) { return try WebAddress(target.text).userInfo != nil } catch { return false }
    }

    /// Whether a session with another `userID` requested a transfer, or that cannot be told.
    private func isOfAnother(_ entry: JournalEntry) -> Bool {
        guard let user = entry.user else { return false }
        guard let present = session.configuration.userID else { return true }
        do throws(HashFunction.Unavailable) {
            return try JournalEntry.digest(of: present, id: entry.id) != user
        } catch {
            return true
        }
    }

    /// The names of secrets in URLs.
    var secretFields: HTTP.SecretFields { session.configuration.secretFields }

    /// A URL as it is saved.
    func stored(_ url: String) -> StoredURL {
        StoredURL(url, hiding: rules.keepsSecretsOfURLs ? nil : secretFields)
    }

    private func enter(_ transfer: Transfer) throws -> Transfer {
        if list.withLock({ $0.add(Held(transfer: transfer), transfer.id) }) { return transfer }
        transfer.close()
        throw Self.closed
    }

    private static var closed: NetworkError { NetworkError(.sessionShutDown, "the journal is closed") }
}

// MARK: - The end

extension TransferJournal {
    /// Returns when every transfer of this journal is over, including those added meanwhile. Throws `CancellationError`
    /// if the awaiting task is cancelled, which cancels no transfer, and a `NetworkError` with code `invalidRequest` in
    /// a hook of one of the transfers, which waits for the hook. A transfer that is never resumed is never over.
    public func waitUntilEmpty() async throws {
        if Enclosure.subjects.contains(.transfer(of: ObjectIdentifier(self))) {
            throw NetworkError(
                .invalidRequest, "`waitUntilEmpty` was called in a hook of a transfer that waits for this hook")
        }
        if await untilEmpty() { try Task.checkCancellation() }
    }

    /// Stops all transfers, and returns when none is running. They stay in the folder, where another process or journal
    /// may take them over at once. Whoever awaits one gets a `NetworkError` with code `cancelled`. Calling it again has
    /// no effect.
    ///
    /// If called within a request, such as in a hook, or by code that refreshes a credential, it stops them without
    /// waiting, because a transfer may wait for that code. It returns at once if the awaiting task is cancelled.
    public func close() async {
        _ = stop()
        if Enclosure.subjects.isEmpty { _ = await untilEmpty() }
    }

    /// Waits until no transfer is left or the awaiting task is cancelled. Returns false if there was none to wait for.
    private func untilEmpty() async -> Bool {
        let (waiter, interrupt) = (ValueWaiter<Void>(on: session.core.loop), Cancellation())
        guard let number = list.withLock({ $0.wait(waiter) }) else { return false }
        await withTaskCancellationHandler {
            _ = await waiter.wait(until: .never, cancellation: interrupt)
        } onCancel: {
            interrupt.cancel(.task)
        }
        list.withLock { $0.leave(number) }
        return true
    }

    package func stop() -> Set<HTTPSession.TaskID> {
        let transfers = list.withLock { $0.close().compactMap(\.transfer) }
        let requests = transfers.compactMap(\.task)
        for transfer in transfers { transfer.close() }
        return Set(requests)
    }

    func over(_ transfer: Transfer, isForgotten: Bool) {
        remove(transfer.id, isForgotten: isForgotten)
    }

    /// Notes that a transfer was released before it had begun.
    func lost(_ id: String) {
        remove(id, isForgotten: false)
    }

    private func remove(_ id: String, isForgotten: Bool) {
        let (isEmptied, waiters) = list.withLock { $0.remove(id, isForgotten: isForgotten) }
        if isEmptied { session.core.hub.tell(.journalEmptied(folder: folder)) }
        for waiter in waiters { _ = waiter.deliver(()) }
    }

    func note(_ issue: HTTPSession.JournalIssue) {
        list.withLock { $0.note(issue) }
        session.core.hub.tell(.journalIssue(folder: folder, issue))
    }
}

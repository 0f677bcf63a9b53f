internal import DunlinReactor
internal import DunlinSemantics
internal import Synchronization

extension TransferJournal {
    /// A saved transfer, which belongs to this journal until it is over.
    ///
    /// It begins with `resume()`, or when its outcome is first awaited. From then on it runs by itself, with further
    /// attempts by the journal's rules, and the object may be released. If it is released before it has begun, the
    /// transfer stays in the folder until it is restored.
    ///
    /// Cancelling a task that awaits it does not cancel the transfer.
    public final class Transfer: Sendable {
        /// What this process requested the transfer with.
        struct Arguments: Sendable {
            var target: HTTP.Target
            /// The URL that was given to `resume`, instead of the saved one.
            var url: String?
            var query = HTTP.Query()
            var options: HTTPSession.Options
            var transfer: HTTPSession.DownloadOptions?
        }

        enum Source: Sendable {
            case arguments(Arguments)
            case restored
        }

        private struct State: Sendable {
            var machine: JournalMachine
            var arguments: Arguments?
            var task: TaskDelegate?
            /// The entry's file, locked while the transfer is ours.
            var file: PartFile?
        }

        let journal: TransferJournal
        let settlement = Settlement<Result<Outcome, any Error>>()
        /// Thrown when the transfer is cancelled or the journal closed.
        let cancellation = Cancellation()
        private let first: JournalEntry
        private let isAnew: Bool
        /// The number of the session's jar when the transfer was requested or restored.
        private let jarNumber: String?
        private let state: Mutex<State>

        init(_ machine: JournalMachine, _ file: PartFile, _ source: Source, _ journal: TransferJournal) {
            self.journal = journal
            first = machine.entry
            jarNumber = journal.session.configuration.cookies?.number
            var arguments: Arguments?
            if case .arguments(let own) = source { arguments = own }
            isAnew = arguments != nil
            state = Mutex(State(machine: machine, arguments: arguments, file: file))
        }

        deinit {
            // Nobody has begun the transfer: its driver would retain it.
            guard settlement.valueIfSettled == nil else { return }
            unlock()
            journal.lost(first.id)
        }
    }

    public enum Kind: Sendable, Hashable {
        /// A download to a file or into a folder.
        case download(to: String)
        /// An upload of a file.
        case upload(from: String)
    }

    /// The outcome of a transfer.
    public struct Outcome: Sendable {
        /// The file of a download; nil for an upload.
        public let file: HTTPSession.DownloadedFile?
        /// The server's response; for an upload, with its body. Nil for a download that an earlier process completed
        /// but could not report.
        public let response: HTTPSession.Response<Bytes>?
    }
}

// MARK: - What it is

extension TransferJournal.Transfer {
    /// The transfer's ID, the same in every process.
    public var id: String { first.id }

    public var kind: TransferJournal.Kind {
        switch first.work {
        case .download(let download): .download(to: download.path)
        case .upload(let upload): .upload(from: upload.path)
        }
    }

    public var method: HTTP.Method { HTTP.Method(first.request.method) }
    /// The transfer's URL as it is saved: without user info, and with asterisks for secrets in its query.
    public var url: String { entry.request.url }
    /// Whether the URL had secrets, which are not saved, so that the transfer must be begun with `resume(from:)`. Begun
    /// otherwise, it fails with `NetworkError` code `invalidRequest` and stays in the folder.
    public var needsURL: Bool { state.withLock { $0.machine.lacksURL } }
    /// Whether the request had credentials, secret fields, an authentication handler, a proxy, host overrides, socket
    /// options or rules for interfaces of its own, which are not saved, so that the transfer must be begun with options
    /// that have them. Begun otherwise, it fails with `NetworkError` code `invalidRequest` and stays in the folder: it
    /// would be sent as the session's user, or by another way. A transfer that was requested by a session with a
    /// `userID` needs a session with the same one; no options replace it.
    public var needsOptions: Bool { state.withLock { !$0.machine.lacking.isEmpty } }
    public var label: String? { first.request.saved.options.label }
    /// How often the transfer was begun, by all processes. With 0, nothing can have been sent.
    public var attempts: Int { entry.attempts }
    /// Whether an earlier process requested the transfer.
    public var isRestored: Bool { !isAnew }

    /// Returns the metadata that the transfer was created with; nil if there is none. Throws the decoder's errors.
    public func metadata<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value? {
        try first.metadata.map { try HTTP.JSON.standard.decode(type, from: Bytes($0)) }
    }

    /// The ID of the request that is being sent for the transfer, as in the session's `tasks`; nil while there is none.
    public var task: HTTPSession.TaskID? { state.withLock { $0.task?.id } }

    var entry: JournalEntry { state.withLock { $0.machine.entry } }

    /// What to request next: without cookies after all were removed, because those of now are another user's, unless
    /// the session's `userID` still names the same one.
    var arguments: Arguments? {
        var arguments = state.withLock { $0.arguments }
        let configuration = journal.session.configuration
        if configuration.userID == nil, configuration.cookies?.number != jarNumber {
            arguments?.options.handlesCookies = .value(false)
        }
        return arguments
    }
}

// MARK: - What becomes of it

extension TransferJournal.Transfer {
    /// Begins the transfer; no effect if it has begun. For a restored transfer, `options` supplies what was not saved:
    /// hooks, credentials, secret fields. They override what was saved. In the process that requested the transfer,
    /// each overrides the one that it was requested with.
    public func resume(options: HTTPSession.Options? = nil) {
        begin(nil, options)
    }

    /// Begins the transfer with another URL of the same file, for instance because the old one has expired. Throws a
    /// `NetworkError` with code `invalidRequest` for a URL that is not absolute.
    ///
    /// As with a redirect, another origin gets no secrets of the old one: no secret fields, none of `Rules.keptFields`
    /// but `Idempotency-Key`, and no credentials. Options given here are sent.
    public func resume(from url: String, options: HTTPSession.Options? = nil) throws {
        do throws(AddressError) {
            let address = try WebAddress(url)
            begin(address, options)
        } catch {
            throw NetworkError(.invalidRequest, "the transfer cannot begin with this URL: \(error)")
        }
    }

    private func begin(_ address: WebAddress?, _ options: HTTPSession.Options?) {
        let url = address.map { $0.origin.description + $0.target }
        let mustDrive = state.withLock { state in
            guard state.machine.start() else { return false }
            if let address { move(&state, to: address.origin, options) }
            if let url { state.machine.ask(journal.stored(url)) }
            if let options { state.machine.give(JournalEntry.Request.names(in: options)) }
            let former = state.arguments
            if url != nil || options != nil || former == nil {
                let request = state.machine.entry.request
                // What this process requested is known completely; what is saved may not be.
                let target = url.map { HTTP.Target($0) } ?? former?.target ?? HTTP.Target(request.url)
                state.arguments = Arguments(
                    target: target, url: url, query: url == nil ? former?.query ?? .init() : .init(),
                    options: request.options(
                        adding: Self.options(options, over: former), under: journal.session.configuration.guard),
                    transfer: former?.transfer)
            }
            return true
        }
        if mustDrive { drive() }
    }

    private static func options(_ options: HTTPSession.Options?, over former: Arguments?) -> HTTPSession.Options? {
        guard let options, let former else { return options ?? former?.options }
        return options.laid(over: former.options)
    }

    /// Drops what another origin must not see, of what was requested with before and here.
    private func move(_ state: inout State, to next: HTTP.Origin, _ options: HTTPSession.Options?) {
        let entry = state.machine.entry.request
        let origin = entry.origin
        if origin.isSame(as: next) { return }
        let configuration = journal.session.configuration
        let named = Set(journal.rules.keptFields.map { $0.lowercased() }).subtracting([
            JournalEntry.Request.idempotencyKey
        ])
        // Its rule for redirects says which fields are secret.
        let own = entry.options(adding: Self.options(options, over: state.arguments), under: configuration.guard)
        let kept = own.allowed(entry.saved.options.fields, from: origin, to: next, configuration)
        state.machine.keep(kept.filtered { !named.contains($0) })
        state.machine.leaveUser()
        guard var former = state.arguments?.options else { return }
        former = former.moved(from: origin, to: next, configuration)
        former.fields = former.fields.filtered { !named.contains($0) }
        state.arguments?.options = former
    }

    /// Drives the transfer in a detached task, so that its starter's limits and enclosures do not apply. The task ends
    /// with the transfer; closing the journal waits for it.
    private func drive() {
        Task.detached { await JournalDriver(transfer: self).run() }
    }

    /// Cancels the transfer, begun or not, and forgets it; it fails with `NetworkError` code `cancelled`. No effect if
    /// it is over. A transfer whose request is cancelled in another way, such as by the registry, stays in the folder.
    public func cancel() {
        let (isNews, mustDrive, task) = state.withLock { state in
            (state.machine.cancel(), state.machine.start(), state.task)
        }
        if isNews { stop(task) }
        if mustDrive { drive() }
    }

    /// The outcome. Awaiting it begins the transfer if it has not begun. If the awaiting task is cancelled, the wait
    /// ends with `CancellationError`, and the transfer goes on. In a hook of this transfer, which waits for the hook,
    /// it is a `NetworkError` with code `invalidRequest` until the transfer is over.
    public var result: Result<TransferJournal.Outcome, any Error> {
        get async {
            if resultIfEnded == nil, Enclosure.subjects.contains(.transfer(of: ObjectIdentifier(self))) {
                return .failure(Self.awaitedWithin)
            }
            resume()
            return await settlement.valueUnlessCancelled ?? .failure(CancellationError())
        }
    }

    public var value: TransferJournal.Outcome {
        get async throws { try await result.get() }
    }

    /// The outcome; nil until it is over.
    public var resultIfEnded: Result<TransferJournal.Outcome, any Error>? { settlement.valueIfSettled }

    /// Leaves the transfer to the next journal: at once if it has not begun, otherwise when its driver notices.
    func close() {
        let (isNews, task, isSuspended) = state.withLock { state in
            let isSuspended = state.machine.isSuspended
            return (state.machine.close(), state.task, isSuspended)
        }
        guard isNews else { return }
        if !isSuspended { return stop(task) }
        unlock()
        settlement.settle(.failure(Self.left))
        journal.over(self, isForgotten: false)
    }

    private func stop(_ task: TaskDelegate?) {
        cancellation.cancel(.handle)
        task?.cancel()
    }

    private static var awaitedWithin: NetworkError {
        NetworkError(.invalidRequest, "the outcome of a transfer was awaited in a hook that this transfer waits for")
    }

    static var left: NetworkError {
        NetworkError(.cancelled, "the journal was closed; the transfer stays in it")
    }

    var withoutUser: NetworkError {
        let lacking = state.withLock { $0.machine.lacking }
        if lacking.contains(JournalMachine.userID) {
            return NetworkError(
                .invalidRequest,
                "a session with another `userID` requested the transfer: restore it with a session of that user")
        }
        let names = lacking.sorted().joined(separator: ", ")
        return NetworkError(
            .invalidRequest,
            "the journal does not save credentials or routes, and this request had its own \(names): "
                + "begin the transfer with `resume(options:)` that has the same")
    }

    static var withoutURL: NetworkError {
        let remedy = "begin the transfer with `resume(from:)`, or set `Rules.keepsSecretsOfURLs`"
        return NetworkError(
            .invalidRequest, "the journal does not save secrets in URLs, and this URL had some: \(remedy)")
    }
}

// MARK: - Its file

extension TransferJournal.Transfer {
    /// Replaces the entry's file. The lock on the old file ends after the new one has its name. For disk threads.
    func hold(_ new: PartFile) {
        // Closing may wait for the disk, so not under the lock.
        let old = state.withLock { state in
            defer { state.file = new }
            return state.file
        }
        _ = consume old
    }

    /// Releases the lock, so that anybody may take the entry. It is released explicitly, because a child process about
    /// to run another program holds the file open until then, and closing it here would leave it locked.
    func unlock() {
        state.withLock { $0.file.take() }?.unlock()
    }
}

// MARK: - What its driver says and asks

extension TransferJournal.Transfer {
    func next() -> JournalMachine.Step { state.withLock { $0.machine.next() } }

    func ended(_ ending: JournalMachine.Ending) -> JournalMachine.Step { state.withLock { $0.machine.ended(ending) } }

    func unwritten() -> JournalMachine.Step { state.withLock { $0.machine.unwritten() } }

    func publish(_ file: JournalEntry.NamedFile) -> JournalEntry { state.withLock { $0.machine.publish(file) } }

    var wasCancelled: Bool { state.withLock { $0.machine.wasCancelled } }
    var wasClosed: Bool { state.withLock { $0.machine.wasClosed } }

    /// Notes the request that is being sent, and cancels it if somebody has stopped the transfer meanwhile.
    func sends(_ task: TaskDelegate?) {
        let isStopped = state.withLock { state in
            state.task = task
            return !state.machine.maySend
        }
        if isStopped { task?.cancel() }
    }
}

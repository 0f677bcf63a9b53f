/// Decides what happens to one transfer of a journal, from its start to its removal.
///
/// Rules:
/// 1. Before anything is sent, the entry says so, so that a later process knows that it may have been sent.
/// 2. Before a file gets its name, the entry says so too. A later process that finds this file knows that all is done;
///    otherwise it repeats the transfer.
/// 3. A transfer that is done is forgotten, and so is one that can never succeed: it was refused, cannot be written, or
///    failed too often. One that failed for temporary reasons is attempted again, with growing waits.
/// 4. A request that is not repeatable is sent again only if it was not sent.
/// 5. A transfer that is cancelled is forgotten. It is kept if the journal is closed, the session is shut down, or its
///    request is cancelled in other ways. Nothing is saved for that: an unlocked entry is free for others.
/// 6. A URL is saved without its secrets. A later process that is not given the URL sends nothing and keeps the
///    transfer.
/// 7. Credentials and routes are not saved either, except `credentials: .none`. A later process that does not give them
///    sends nothing, and keeps the transfer: it would be sent as the session's user.
///
/// It must not know files, clocks or connections.
struct JournalMachine: Sendable {
    indirect enum Step: Sendable, Equatable {
        /// Save this entry, then send.
        case send(JournalEntry)
        /// Save this entry, wait, then call `next()`.
        case wait(JournalEntry, Duration)
        /// Everything was done before: report this file, then forget.
        case finished(JournalEntry.NamedFile)
        /// Report the result, then forget.
        case forget
        /// Report that the URL is unknown, and leave the transfer to somebody who knows it.
        case lacksURL
        /// Report that credentials or a route are unknown, and leave the transfer to somebody who knows it.
        case lacksUser
        /// Report that the transfer was stopped, and leave it to others.
        case leave
    }

    /// How an attempt ended.
    enum Ending: Sendable, Equatable {
        case done
        /// Somebody stopped the request, or the session that would send it is gone.
        case stopped
        /// The attempt failed. `mayPass`: another attempt may succeed, soon or after the server's delay. `isSafe`: the
        /// request was not sent. `isRepeatable`: everything that was sent may be sent again, if the request itself may.
        case failed(mayPass: Bool, isSafe: Bool, isRepeatable: Bool = true, delay: Duration? = nil)
    }

    private enum Life {
        case held
        case driven
        case over
    }

    private enum Stop {
        case cancelled
        case closed
    }

    private let rules: TransferJournal.Rules
    private(set) var entry: JournalEntry
    /// The file that was found where the entry says.
    private let found: JournalEntry.NamedFile?
    /// Whether the URL is known, however it is saved.
    private var hasURL: Bool
    /// What of the request was not saved, and has not been given since.
    private(set) var lacking: Set<String>
    private var life = Life.held
    private var stop: Stop?

    /// Creates a machine. `found` is the file at the path of an entry that was publishing. `isAnew`: this process
    /// requested the transfer and knows its URL. `ofAnother`: the session's `userID` names another user than the one
    /// who requested it.
    init(
        _ entry: JournalEntry, _ rules: TransferJournal.Rules, found: JournalEntry.NamedFile? = nil,
        isAnew: Bool = false, ofAnother: Bool = false
    ) {
        self.entry = entry
        hasURL = isAnew || !entry.request.hidesSecrets
        lacking = isAnew ? [] : Set(entry.request.unsaved)
        if ofAnother { lacking.insert(Self.userID) }
        self.rules = rules
        if case .publishing(let file) = entry.state, found == file { self.found = found } else { self.found = nil }
    }

    /// What is lacking if the session is another user's. No options give it.
    static let userID = "userID"

    /// Whether nobody drives the transfer yet.
    var isSuspended: Bool { life == .held }
    var wasCancelled: Bool { stop == .cancelled }
    var wasClosed: Bool { stop == .closed }
    /// Whether the transfer is being driven and nobody has stopped it.
    var maySend: Bool { life == .driven && stop == nil }

    /// Starts the transfer. Returns whether the caller must now drive it.
    mutating func start() -> Bool {
        guard life == .held, stop != .closed else { return false }
        life = .driven
        return true
    }

    /// Replaces the request's own fields, from the next attempt on and in later processes too.
    mutating func keep(_ fields: Fields) { entry.request.saved.options.fields = fields }

    /// Replaces the URL, from the next attempt on.
    mutating func ask(_ url: StoredURL) {
        hasURL = true
        // Two URLs with hidden secrets may differ in these.
        let isOther = url.text != entry.request.url || url.hidesSecrets
        if isOther, !entry.request.formerURLs.contains(entry.request.url) {
            entry.request.formerURLs.append(entry.request.url)
        }
        (entry.request.url, entry.request.hidesSecrets) = (url.text, url.hidesSecrets)
    }

    /// Whether somebody must give the URL before the transfer can begin.
    var lacksURL: Bool { !hasURL }

    /// Notes what a later process gives of what was not saved.
    mutating func give(_ names: Set<String>) { lacking.subtract(names) }

    /// Notes that the transfer goes on at another origin, which gets nothing that says who asks. It stays its user's.
    mutating func leaveUser() {
        let ways = RequestOption.all.filter { $0.meaning == .route }.map(\.name)
        entry.request.unsaved.removeAll { !ways.contains($0) }
        lacking.formIntersection(entry.request.unsaved + [Self.userID])
    }

    /// Cancels the transfer. Returns whether that is news.
    mutating func cancel() -> Bool {
        guard life != .over, stop == nil else { return false }
        stop = .cancelled
        return true
    }

    /// Leaves the transfer to others. Returns whether that is news.
    mutating func close() -> Bool {
        guard life != .over, stop == nil else { return false }
        stop = .closed
        return true
    }

    /// The driver's next step, at the beginning and after each wait.
    mutating func next() -> Step {
        switch stop {
        case .cancelled: return end(.forget)
        case .closed: return end(.leave)
        case nil: break
        }
        if let found { return end(.finished(found)) }
        if lacksURL { return end(.lacksURL) }
        if !lacking.isEmpty { return end(.lacksUser) }
        entry.state = .running
        entry.attempts += 1
        return .send(entry)
    }

    /// Notes that all is there and this file is about to get its name. Returns the entry to save before that.
    mutating func publish(_ file: JournalEntry.NamedFile) -> JournalEntry {
        entry.state = .publishing(file)
        return entry
    }

    /// The step after an attempt.
    mutating func ended(_ ending: Ending) -> Step {
        switch (ending, stop) {
        case (.done, _), (_, .cancelled): return end(.forget)
        case (.stopped, _), (_, .closed): return end(.leave)
        case (.failed(let mayPass, let isSafe, let isRepeatable, let delay), nil):
            let isHarmless = isSafe || isRepeatable && entry.request.isRepeatable
            guard mayPass, isHarmless, entry.failures + 1 < rules.attempts else { return end(.forget) }
            return again(after: delay)
        }
    }

    private mutating func again(after delay: Duration?) -> Step {
        let wait = max(rules.delay(after: entry.failures), min(delay ?? .zero, rules.longestDelay))
        entry.failures += 1
        entry.state = .waiting
        return .wait(entry, wait)
    }

    /// The step if an entry could not be saved.
    mutating func unwritten() -> Step {
        end(wasCancelled ? .forget : .leave)
    }

    private mutating func end(_ step: Step) -> Step {
        life = .over
        return step
    }
}

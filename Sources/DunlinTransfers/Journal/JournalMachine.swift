/// Decides what happens to one transfer of a journal, from being taken up to being forgotten.
///
/// Rules:
/// 1. Before anything is sent, it is saved that it will be, so that a later process knows that it may have been.
/// 2. Before a file gets its name, that is saved too. A later process that finds this file there knows that all is
///    done; one that does not does it again.
/// 3. A transfer that is done is forgotten, and so is one that can never succeed: refused, not to be written, or failed
///    too often. One that failed for temporary reasons has another attempt, later each time.
/// 4. A request that does something each time it is sent is sent again only if it was not sent.
/// 5. A transfer that is cancelled is forgotten. It is kept if the journal is closed, the session is shut down or its
///    request is cancelled in other ways: for that nothing is saved, since nobody works at an entry that is not locked.
/// 6. Of a URL with secrets only the rest is saved. A later process that is not told the URL sends nothing, and keeps
///    the transfer.
///
/// It must not know files, clocks or connections.
struct JournalMachine: Sendable {
    enum Step: Sendable, Equatable {
        /// Write this down, then send.
        case send(JournalEntry)
        /// Write this down, then wait, and ask `next()`.
        case wait(JournalEntry, Duration)
        /// All was done before: tell of this file, then forget.
        case finished(JournalEntry.NamedFile)
        /// Tell how it ended, then forget.
        case forget
        /// Tell that its URL is not known, and leave it to whoever knows it.
        case lacksURL
        /// Tell that it was stopped, and leave it to whoever comes next.
        case leave
    }

    /// How an attempt ended.
    enum Ending: Sendable, Equatable {
        case done
        /// Somebody stopped its request, or there is no session any more to send it.
        case stopped
        /// `mayPass`: it may be otherwise in a moment, or after what the server said. `isSafe`: the request was not
        /// sent. `isRepeatable`: all that was sent for it may be sent again, if the request itself may.
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
    /// The file that was found where the entry says that it is.
    private let found: JournalEntry.NamedFile?
    /// Whether the URL is known, whatever is saved of it.
    private var hasURL: Bool
    private var life = Life.held
    private var stop: Stop?

    /// `found` is what lies where an entry that was publishing says its file is.
    /// `isAnew`: this process asked for it, and knows its URL.
    init(
        _ entry: JournalEntry, _ rules: TransferJournal.Rules, found: JournalEntry.NamedFile? = nil,
        isAnew: Bool = false
    ) {
        self.entry = entry
        hasURL = isAnew || entry.request.hidesSecrets != true
        self.rules = rules
        if case .publishing(let file) = entry.state, found == file { self.found = found } else { self.found = nil }
    }

    /// Whether nobody has begun to drive it.
    var isSuspended: Bool { life == .held }
    var wasCancelled: Bool { stop == .cancelled }
    var wasClosed: Bool { stop == .closed }
    /// Whether it is on its way and nobody has stopped it.
    var maySend: Bool { life == .driven && stop == nil }

    /// Whether somebody must drive it from now on.
    mutating func start() -> Bool {
        guard life == .held, stop != .closed else { return false }
        life = .driven
        return true
    }

    /// Of its fields these stay: counts from the next attempt on, in later processes too.
    mutating func keep(_ fields: Fields) { entry.request.ownFields = fields }

    /// The same for somebody who asks another URL: counts for the next attempt.
    mutating func ask(_ url: StoredURL) {
        hasURL = true
        // Two of which secrets are hidden may differ in these.
        let isOther = url.text != entry.request.url || url.hidesSecrets
        if isOther, !entry.request.formerURLs.contains(entry.request.url) {
            entry.request.formerURLs.append(entry.request.url)
        }
        (entry.request.url, entry.request.hidesSecrets) = (url.text, url.hidesSecrets ? true : nil)
    }

    /// Whether somebody must say its URL before it can begin.
    var lacksURL: Bool { !hasURL }

    /// Nobody wants it any more; whether that is news.
    mutating func cancel() -> Bool {
        guard life != .over, stop == nil else { return false }
        stop = .cancelled
        return true
    }

    /// It is somebody else's from now on; whether that is news.
    mutating func close() -> Bool {
        guard life != .over, stop == nil else { return false }
        stop = .closed
        return true
    }

    /// What its driver does now: at first, and after each wait.
    mutating func next() -> Step {
        switch stop {
        case .cancelled: return end(.forget)
        case .closed: return end(.leave)
        case nil: break
        }
        if let found { return end(.finished(found)) }
        if lacksURL { return end(.lacksURL) }
        entry.state = .running
        entry.attempts += 1
        return .send(entry)
    }

    /// All is there, and this file is about to get its name: to be written down before that.
    mutating func publish(_ file: JournalEntry.NamedFile) -> JournalEntry {
        entry.state = .publishing(file)
        return entry
    }

    /// What is to be done after an attempt.
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

    /// What was to be written down could not be.
    mutating func unwritten() -> Step {
        end(wasCancelled ? .forget : .leave)
    }

    private mutating func end(_ step: Step) -> Step {
        life = .over
        return step
    }
}

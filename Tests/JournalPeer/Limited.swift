import Dunlin
import Glibc

/// What a process does of which the kernel wants less than it wants.
struct Limited {
    private let words: [String]

    init(_ words: [String]) {
        self.words = words
    }

    /// Says what it came to.
    func run() async throws {
        guard words.count > 2, begin() else {
            print("usage: JournalPeer limited LIMIT WORK, or the limit cannot be set")
            exit(2)
        }
        let session = try HTTPSession()
        do {
            switch words[1] {
            case "download": try await download(session)
            case "enqueue": try await enqueue(session)
            default: print("there is no work \(words[1])")
            }
        } catch let error as NetworkError {
            tell("\(error.code)", error.fileFailure, error.resumeData)
        } catch let failure as HTTPSession.FileFailure {
            tell("FileFailure", failure, nil)
        }
        await session.shutdown()
    }

    private func begin() -> Bool {
        let words = words[0].split(separator: ":")
        let count = words.count > 1 ? UInt32(words[1]) ?? 0 : 0
        switch words[0] {
        case "size":
            var limit = rlimit(rlim_cur: rlim_t(count), rlim_max: rlim_t(count))
            return setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0
        case "quota": return Refusal.room(from: count, EDQUOT).begin()
        case "locks": return Refusal.locks(Int32(count)).begin()
        default: return false
        }
    }

    private func download(_ session: HTTPSession) async throws {
        var options = HTTPSession.DownloadOptions(resuming: words[4] == "kept" ? .ifValidatorMatches : .whileRunning)
        options.preallocates = words[5] == "true"
        options.segments = Int(words[6]).map { .init($0, minimumLength: 64 << 10) }
        let response = try await session.download(
            HTTP.Target(words[2]), to: .file(words[3]), transfer: options)
        print("done \(response.value.resumedAt) \(response.value.byteCount)")
    }

    private func enqueue(_ session: HTTPSession) async throws {
        let journal = try await TransferJournal(in: words[2], of: session)
        let transfer = try await journal.download(HTTP.Target(words[3]), to: .file(words[4]))
        print("enqueued \(transfer.id)")
    }

    private func tell(_ what: String, _ failure: HTTPSession.FileFailure?, _ rest: ResumeData?) {
        let room = failure?.meansNoSpace ?? false
        print("\(what) \(failure?.errno ?? 0) \(room ? "no room" : "-") \(rest.map { "\($0.byteCount)" } ?? "nothing")")
    }
}

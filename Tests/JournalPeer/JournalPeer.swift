import Dunlin
import Foundation
import Glibc
import Synchronization

/// Takes up what it finds in a journal, and ends when all of that is done:
///
///     JournalPeer FOLDER
///
/// Prints the id of each transfer it takes up. Ends with 0 if all of them went well, and otherwise with 1 and the
/// reason in its last lines. Made to be killed.
///
///     JournalPeer limited URL PATH BYTES PREALLOCATES SEGMENTS
///
/// Downloads where no file may have more bytes than that, and prints what it fails with.
@main
struct JournalPeer {
    static func main() async {
        let words = CommandLine.arguments
        guard words.count == 2 || words.count == 7 && words[1] == "limited" else {
            print("usage: JournalPeer FOLDER | limited URL PATH BYTES PREALLOCATES SEGMENTS")
            exit(2)
        }
        do {
            if words.count == 7 { exit(try await download(Array(words[2...])) ? 1 : 0) }
            let isFine = try await run(in: CommandLine.arguments[1])
            exit(isFine ? 0 : 1)
        } catch {
            print("\(error)")
            exit(1)
        }
    }

    /// Whether it succeeds, which it should not.
    private static func download(_ words: [String]) async throws -> Bool {
        var options = HTTPSession.DownloadOptions(resuming: .whileRunning)
        options.preallocates = words[3] == "true"
        options.segments = Int(words[4]).map { .init($0, minimumLength: 64 << 10) }
        var limit = rlimit(rlim_cur: rlim_t(words[2]) ?? 0, rlim_max: rlim_t(words[2]) ?? 0)
        setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
        let session = try HTTPSession()
        do {
            _ = try await session.download(HTTPSession.Target(words[0]), to: .file(words[1]), transfer: options)
            return true
        } catch let error as NetworkError {
            let failure = error.fileFailure
            print("\(error.code) \(failure?.errno ?? 0) \(failure?.meansNoSpace ?? false)")
        }
        await session.shutdown()
        return false
    }

    private static func run(in folder: String) async throws -> Bool {
        let failures = Mutex(0)
        let session = try HTTPSession()
        let journal = try await TransferJournal(in: folder, of: session) { transfer, result in
            guard case .failure(let error) = result else { return }
            failures.withLock { $0 += 1 }
            print("\(transfer.id) failed: \(error)")
        }
        let restored = try await journal.restoredTransfers()
        for transfer in restored { print(transfer.id) }
        for transfer in restored { transfer.start() }
        try await journal.drained()
        for trouble in journal.troubles { print("trouble: \(trouble)") }
        await session.shutdown()
        return failures.withLock { $0 } == 0 && journal.troubles.isEmpty
    }
}

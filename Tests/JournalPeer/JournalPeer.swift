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
///     JournalPeer limited size:BYTES|quota:BYTES|locks:ERRNO download URL PATH kept|- PREALLOCATES SEGMENTS
///     JournalPeer limited … enqueue FOLDER URL PATH
///
/// Downloads, or begins a journal, where no file may have more bytes than that, or where there are no locks, and prints
/// what comes of it.
///
///     JournalPeer starved PORT
///     JournalPeer without-standard-descriptors BASE FILE REPORT
///
/// See `Descriptors`.
///
///     JournalPeer forked BASE
///
/// See `Forked`.
@main
struct JournalPeer {
    static func main() async {
        let words = CommandLine.arguments
        do {
            if words.count > 2, words[1] == "limited" {
                try await Limited(Array(words[2...])).run()
                exit(0)
            }
            if words.count == 3, words[1] == "starved" {
                try await Descriptors.starve(words[2])
                exit(0)
            }
            if words.count == 5, words[1] == "without-standard-descriptors" {
                try await Descriptors.goWithout(words[2], words[3], words[4])
                exit(0)
            }
            if words.count == 3, words[1] == "forked" {
                try await Forked.run(words[2])
                exit(0)
            }
            guard words.count == 2 else {
                print("usage: JournalPeer FOLDER | limited LIMIT WORK")
                exit(2)
            }
            let isFine = try await run(in: words[1])
            exit(isFine ? 0 : 1)
        } catch {
            print("\(error)")
            exit(1)
        }
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
        for transfer in restored { transfer.resume() }
        try await journal.waitUntilEmpty()
        for issue in journal.issues { print("issue: \(issue)") }
        await session.shutdown()
        return failures.withLock { $0 } == 0 && journal.issues.isEmpty
    }
}

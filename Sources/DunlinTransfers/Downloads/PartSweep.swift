internal import DunlinReactor
internal import Synchronization

/// Finds part files whose downloads died with their process.
///
/// A part file is locked for as long as it is used, and the kernel ends a lock with its process. So a part file is
/// litter if it is not locked, has no record from which it could be resumed, and has not been written for a day. The
/// draft of a record is litter once its process has ended. A file with any other name is never touched.
struct PartSweep {
    /// Seconds since the last writing. No download needs so long from making its file to locking it, and a caller that
    /// was told of a file that could not be moved has had time to fetch it.
    static let age = 24 * 3600
    /// Seconds for a record's draft, which is locked, written and renamed at once.
    static let draftAge = 60

    /// The names that may be those of litter.
    static func suspects(among names: [String]) -> [String] {
        let names = Set(names)
        return names.filter { name in
            guard name.hasPrefix(".") else { return false }
            // A record may be a moment older than its part file.
            if name.hasSuffix(Placement.recordSuffix) { return !names.contains(Placement.part(ofRecord: name)) }
            if name.hasSuffix(Placement.draftSuffix) { return true }
            return name.hasSuffix(Placement.partSuffix) && !names.contains(Placement.record(ofPart: name))
        }.sorted()
    }

    /// Removes the litter in a folder, on a disk thread; returns how many files that were.
    static func run(in folder: String, olderThan age: Int, at now: Int) throws(Errno) -> Int {
        var count = 0
        for name in suspects(among: try FileSystem.names(in: folder)) {
            if try isRemoved("\(folder)/\(name)", ifOlderThan: age, at: now) { count += 1 }
        }
        return count
    }

    private static func isRemoved(_ path: String, ifOlderThan age: Int, at now: Int) throws(Errno) -> Bool {
        let age = path.hasSuffix(Placement.draftSuffix) ? min(age, draftAge) : age
        guard let status = try FileSystem.status(of: path), status.kind == .file else { return false }
        guard status.isOlder(than: age, at: now) else { return false }
        do throws(Errno) {
            let file = try PartFile(opening: path)
            // Another file may be in its place by now; and without a lock only its age shows that nobody uses it.
            guard try file.status().isOlder(than: file.isLocked ? age : Self.age, at: now) else { return false }
            try file.remove()
            return true
        } catch {
            // It is in use, gone meanwhile, or another user's.
            return false
        }
    }
}

/// Sweeps each folder once, when the process first downloads into it.
final class SweptFolders: Sendable {
    static let shared = SweptFolders()

    private let folders = Mutex<Set<String>>([])

    /// Sweeps in the background.
    func sweep(_ folder: String, on threads: DiskThreads) {
        guard folders.withLock({ $0.insert(folder).inserted }) else { return }
        threads.start {
            // A folder that cannot be read stays as it is; the download itself reports what is wrong with it.
            do throws(Errno) {
                _ = try PartSweep.run(in: folder, olderThan: PartSweep.age, at: Int(WallClock.seconds))
            } catch {}
        }
    }
}

extension HTTPSession {
    /// Removes part files from `folder` that were left by downloads of processes that have ended, and have no record
    /// from which they could be resumed. Returns how many those were. The first download into a folder does this as
    /// well, for files that are a day old or more. Drafts of records are removed after a minute already.
    ///
    /// Part files of running downloads stay, of this process or another, and so do all other files.
    @discardableResult
    public static func sweepParts(in folder: String, olderThan age: Duration = .seconds(24 * 3600)) async throws -> Int
    {
        let seconds = Int(clamping: age.components.seconds)
        do throws(Errno) {
            let path = try FileSystem.absolute(folder)
            return try await DiskThreads.shared.run { () throws(Errno) in
                try PartSweep.run(in: path, olderThan: seconds, at: Int(WallClock.seconds))
            }
        } catch {
            throw FileFailure(folder, error)
        }
    }
}

internal import DunlinReactor
internal import Synchronization

/// Finds part files whose downloads ended with their process.
///
/// A part file is locked while it is used, and the kernel releases a lock when its process ends. So a part file is
/// litter if it is unlocked, has no record to resume it from, and has not been written for a day. A record's draft is
/// litter once its process has ended. Files with other names are never touched.
struct PartSweep {
    /// The age in seconds, since the last write, at which part files are litter. No download takes so long between
    /// creating and locking its file, and a caller had time to fetch a file that could not be moved.
    static let age = 24 * 3600
    /// The age in seconds for drafts of records, which are locked, written and renamed at once.
    static let draftAge = 60

    /// The names that may belong to litter.
    static func suspects(among names: [String]) -> [String] {
        let names = Set(names)
        return names.filter { name in
            guard name.hasPrefix(".") else { return false }
            // A record may be briefly older than its part file.
            if name.hasSuffix(Placement.recordSuffix) { return !names.contains(Placement.part(ofRecord: name)) }
            if name.hasSuffix(Placement.draftSuffix) { return true }
            return name.hasSuffix(Placement.partSuffix) && !names.contains(Placement.record(ofPart: name))
        }.sorted()
    }

    /// Removes the litter in a folder, on a disk thread. Returns the number of files removed.
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
            // Another file may be there by now; and without a lock only the age shows that nobody uses it.
            guard try file.status().isOlder(than: file.isLocked ? age : Self.age, at: now) else { return false }
            try file.remove()
            return true
        } catch {
            // The file is in use, gone, or another user's.
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
            // A folder that cannot be read stays as it is; the download itself reports the problem.
            do throws(Errno) {
                _ = try PartSweep.run(in: folder, olderThan: PartSweep.age, at: Int(WallClock.seconds))
            } catch {}
        }
    }
}

extension HTTPSession {
    /// Removes part files from `folder` that downloads of ended processes left, and that have no record to resume from.
    /// Returns the number of files removed. The first download into a folder does the same for files at least a day
    /// old. Drafts of records are removed after a minute.
    ///
    /// Part files of downloads that are running in any process stay, and so do all other files.
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

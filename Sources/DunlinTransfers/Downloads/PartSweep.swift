internal import DunlinReactor
internal import Synchronization

/// Finds part files whose downloads died with their process.
///
/// A part file is locked for as long as it is used, and the kernel ends a lock with its process. So one that is not
/// locked, belongs to no record from which it could go on, and has not been written for a day is litter. The draft of a
/// record is nothing to anybody once its process has ended. What carries another name is never touched.
struct PartSweep {
    /// Seconds since the last writing: no download needs so long from making its file to locking it, and whoever was
    /// told of a file that could not be moved has had time to fetch it.
    static let age = 24 * 3600
    /// The same of a record's draft, which is locked, written and renamed at once.
    static let draftAge = 60

    /// Those among `names` that may be litter, by their names alone.
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

    /// Removes the litter in a folder; how many files that were. On a disk thread.
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
            // Another may have come in its place meanwhile; and without a lock only its age tells that nobody uses it.
            guard try file.status().isOlder(than: file.isLocked ? age : Self.age, at: now) else { return false }
            try file.remove()
            return true
        } catch {
            // In use, or gone meanwhile, or another user's.
            return false
        }
    }
}

/// Sweeps each folder once, when the process first downloads into it.
final class SweptFolders: Sendable {
    static let shared = SweptFolders()

    private let folders = Mutex<Set<String>>([])

    /// Without being waited for.
    func sweep(_ folder: String, on threads: DiskThreads) {
        guard folders.withLock({ $0.insert(folder).inserted }) else { return }
        threads.start {
            // A folder that cannot be looked through stays as it is; the download itself says what is wrong with it.
            do throws(Errno) {
                _ = try PartSweep.run(in: folder, olderThan: PartSweep.age, at: Int(WallClock.seconds))
            } catch {}
        }
    }
}

extension HTTPSession {
    /// Removes part files from `folder` that downloads left there whose process ended before they did, and that no
    /// record speaks of from which they could go on; how many those were. The first download into a folder has it done
    /// as well, for files of a day and more. Drafts of records go after a minute already.
    ///
    /// Those of running downloads stay, of this process or another, and so does everything that is no part file.
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

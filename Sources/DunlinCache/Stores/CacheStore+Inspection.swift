internal import DunlinReactor
package import DunlinSemantics
internal import DunlinTypes
internal import Synchronization

extension CacheStore {
    /// How much is stored, and what became of the rest. For the disk, the numbers are those that this process knows:
    /// once it has read the folder, everything except what others have changed since.
    package struct Figures: Sendable, Hashable {
        package struct Memory: Sendable, Hashable {
            package var bytes = 0
            /// The number of URLs, each with all its stored forms.
            package var keys = 0
            package var evictions = 0
        }

        package struct Disk: Sendable, Hashable {
            /// The bytes of the files, in whole blocks.
            package var bytes = 0
            package var keys = 0
            package var evictions = 0
            package var writeFailures = 0
            package var damages = 0
            /// The number of responses that wait to be written, and the bytes of memory that they use.
            package var waiting = 0
            package var waitingBytes = 0
        }

        package var memory = Memory()
        /// The numbers of the disk; nil without one.
        package var disk: Disk?
    }

    package var figures: Figures {
        let memory = memory.withLock { memory in
            Figures.Memory(bytes: memory.cost, keys: memory.keys, evictions: memory.evictions)
        }
        return Figures(memory: memory, disk: disk?.figures)
    }

    /// A stored response, as a list shows it.
    package struct Listed: Sendable {
        package let entry: CacheEntry
        /// The length of its body.
        package let count: Int
        package let level: StoredResponse.Level
    }

    /// Returns everything that is stored, in no order: from the folder, if there is one, or else from memory.
    package func list() async -> [Listed] {
        guard let disk = usableDisk else {
            return memory.withLock(\.all).map { Listed(entry: $0.entry, count: $0.body.count, level: .memory) }
        }
        return await disk.runBehindAll {
            disk.prepare() ? CacheSweep(disk, now: Int(WallClock.seconds)).list() : []
        }
    }
}

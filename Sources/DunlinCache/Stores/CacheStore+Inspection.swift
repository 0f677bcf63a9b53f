internal import DunlinReactor
package import DunlinSemantics
internal import DunlinTypes
internal import Synchronization

extension CacheStore {
    /// How much is stored, and what became of the rest. What is on the disk is what this process knows of it: after the
    /// folder was read once, all of it but what others have changed since.
    package struct Figures: Sendable, Hashable {
        package struct Memory: Sendable, Hashable {
            package var bytes = 0
            /// URLs, each with all the forms that are stored of it.
            package var keys = 0
            package var evictions = 0
        }

        package struct Disk: Sendable, Hashable {
            /// As files take up room.
            package var bytes = 0
            package var keys = 0
            package var evictions = 0
            package var writeFailures = 0
            package var damages = 0
        }

        package var memory = Memory()
        /// Nil without a disk.
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
        /// The bytes of its body.
        package let count: Int
        package let level: StoredResponse.Level
    }

    /// Everything that is stored, in no order: what is in the folder, if there is one, and otherwise in memory.
    package func list() async -> [Listed] {
        guard let disk = usableDisk else {
            return memory.withLock(\.all).map { Listed(entry: $0.entry, count: $0.body.count, level: .memory) }
        }
        return await disk.threads.run {
            disk.prepare() ? CacheSweep(disk, now: Int(WallClock.seconds)).list() : []
        }
    }
}

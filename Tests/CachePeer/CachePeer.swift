import Glibc

/// A process that uses a cache's folder, and one that kills such processes over and over and looks at what they leave:
///
///     CachePeer work FOLDER CAPACITY SEED [OPERATIONS]
///     CachePeer kills COUNT [SEED]
///     CachePeer bulk MEGABYTES
///     CachePeer crowd COUNT [CAPACITY]
///     CachePeer fill FOLDER
///     CachePeer held
///
/// The first stores, reads, renews and removes at random until it is killed, or kills itself before the file operation
/// of that number; it ends with 3 if it reads a byte that was not stored. The second ends with 1 if something was lost,
/// wrong or left over, and says what. The third carries one long body in little memory. The fourth
/// opens a folder that has far too much in it, which the fifth has filled until it was ended, and ends with 1 if not as
/// much is left as there is room for. The last compares what memory counts with what is allocated.
@main
struct CachePeer {
    static func main() async {
        let words = CommandLine.arguments
        let numbers = words.dropFirst(2).map { UInt64($0) }
        switch (words.count, words.dropFirst().first) {
        case (5...6, "work"):
            guard let capacity = numbers[1].map({ Int($0) }), let seed = numbers[2] else { exit(2) }
            await Work(words[2], capacity: capacity, seed: seed, operations: numbers.count > 3 ? numbers[3] : nil).run()
            exit(3)
        case (3...4, "kills"):
            guard let count = numbers[0] else { exit(2) }
            let seed = numbers.count > 1 ? numbers[1] ?? 1 : .random(in: 0..<1_000_000)
            exit(await Kills(count: Int(count), seed: seed).run() ? 0 : 1)
        case (3, "bulk"):
            guard let megabytes = numbers[0] else { exit(2) }
            exit(await Bulk.run(megabytes: Int(megabytes)) ? 0 : 1)
        case (3...4, "crowd"):
            guard let count = numbers[0] else { exit(2) }
            let capacity = numbers.count > 1 ? numbers[1] ?? 40 << 20 : 40 << 20
            exit(await Crowd(count: Int(count), capacity: Int(capacity)).run() ? 0 : 1)
        case (3, "fill"):
            await Crowd.fill(words[2])
        case (2, "held"): exit(await Held.run() ? 0 : 1)
        default:
            print("see the source")
            exit(2)
        }
    }
}

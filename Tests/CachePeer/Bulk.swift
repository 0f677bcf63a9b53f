import DunlinCache
import DunlinTypes
import Foundation
import Glibc

/// One long body that goes into a cache and out of it again, block by block.
enum Bulk {
    private static let piece = 1 << 20

    /// Whether all of it came back as it was, in no more memory than a few pieces have.
    static func run(megabytes: Int) async -> Bool {
        let folder = FileManager.default.temporaryDirectory.appending(path: "dunlin-cache-bulk-\(getpid())").path
        defer { _ = Result { try FileManager.default.removeItem(atPath: folder) } }
        let store = CacheStore(
            CacheCapacity(memory: 0, disk: .max / 2, largestShare: 1), folder: CacheFolder(folder),
            rules: Responses.rules
        ) { print($0) }
        let before = peak()
        let count = megabytes * piece + 5
        guard let writer = await store.writer(for: Responses.key("b"), length: count) else { return false }
        for number in 0..<megabytes { await writer.write(Responses.body("b", seed: number, count: piece)) }
        await writer.write(Responses.body("b", seed: megabytes, count: 5))
        await writer.finish(as: Responses.entry("b", seed: 0, count: count, age: 0), replacing: [])
        guard let body = await store.responses(for: Responses.key("b")).first?.body, body.count == count else {
            print("it was not stored")
            return false
        }
        guard await isSame(body) else { return false }
        await store.close()
        let more = peak() - before
        print("\(megabytes) MiB through a cache with \(more >> 20) MiB more of memory")
        return more < 32 << 20
    }

    private static func isSame(_ body: any StoredBody) async -> Bool {
        var (offset, number) = (0, 0)
        var expected = Bytes.empty
        while offset < body.count {
            if offset % piece == 0 {
                expected = Responses.body("b", seed: number, count: min(piece, body.count - offset))
                number += 1
            }
            do {
                let bytes = try await body.read(from: offset, upTo: piece - offset % piece)
                let start = offset % piece
                guard bytes == expected[start..<start + bytes.count] else {
                    print("a wrong byte behind \(offset)")
                    return false
                }
                offset += bytes.count
            } catch {
                print("\(error) at \(offset)")
                return false
            }
        }
        return true
    }

    /// The most memory that this process has had, in bytes.
    private static func peak() -> Int {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage.ru_maxrss * 1024
    }
}

import DunlinReactor
import DunlinSecure
import DunlinSemantics
import DunlinTypes
import Folders
import Foundation
import Synchronization

@testable import DunlinCache

/// A folder for a cache, what is told of it, and which calls fail in it.
final class TestCacheFolder: Sendable {
    static let rules = CacheRules { function, bytes in
        do throws(HashFunction.Unavailable) { return try function.hash(of: bytes) } catch { return nil }
    }

    private let folder = Folder.unmade()
    private let told = Mutex<[CacheTrouble]>([])
    private let failures = Mutex<[CacheFolder.Operation: Int32]>([:])

    var path: String { folder.path }

    var troubles: [CacheTrouble.Kind] { told.withLock { $0.map(\.kind) } }

    /// Has these calls fail from now on, and no others.
    func fail(_ operations: [CacheFolder.Operation], _ errno: Int32 = ENOSPC) {
        failures.withLock { $0 = Dictionary(uniqueKeysWithValues: operations.map { ($0, errno) }) }
    }

    /// A store here, as a process has one, which has read the folder. It waits for locks longer than any store here is
    /// held up.
    func open(_ capacity: CacheCapacity = CacheCapacity()) async -> CacheStore {
        var folder = CacheFolder(path) { operation in
            self.failures.withLock { $0[operation] }.map { Errno(rawValue: $0) }
        }
        folder.lockLimit = 300_000
        let store = CacheStore(capacity, folder: folder, rules: Self.rules) { trouble in
            self.told.withLock { $0.append(trouble) }
        }
        await store.backgroundEnded()
        return store
    }

    /// The names of files, but for that of the lock.
    func files() throws -> [String] { try folder.names().filter { !$0.hasSuffix("-lock") } }

    func length(of file: String) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: path + "/" + file)[.size] as? Int ?? -1
    }

    func permissions(of file: String) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: path + "/" + file)[.posixPermissions] as? Int ?? -1
    }

    /// Changes a byte of a file.
    func damage(_ file: String, at offset: Int) throws {
        let url = URL(filePath: path + "/" + file)
        var bytes = try Data(contentsOf: url)
        bytes[offset] ^= 1
        try bytes.write(to: url)
    }

    static func entry(
        _ path: String, _ count: Int, fields: Fields = ["ETag": "\"1\"", "Cache-Control": "max-age=60"],
        selecting: SelectingFields = SelectingFields()
    ) -> CacheEntry {
        CacheEntry(
            key: key(path), selecting: selecting, status: .ok, fields: fields, sentAt: 1000, receivedAt: 1001,
            body: .whole(count), rules: rules)
    }

    private static let forms = Atomic<Int>(0)

    /// What fits requests that no other form fits.
    static var newForm: SelectingFields {
        let number = forms.add(1, ordering: .relaxed).newValue
        return SelectingFields([.init(name: "x-form", value: Bytes("\(number)"))])
    }

    static func key(_ path: String) -> CacheKey { CacheKey(text: "https://a.test" + path) }

    /// Bytes that a seed stands for.
    static func bytes(_ count: Int, seed: UInt64 = 1) -> Bytes {
        var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        return Bytes(
            [UInt8](unsafeUninitializedCapacity: count + 8) { buffer, filled in
                let raw = UnsafeMutableRawBufferPointer(buffer)
                for offset in stride(from: 0, to: count, by: 8) {
                    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                    raw.storeBytes(of: state ^ state >> 32, toByteOffset: offset, as: UInt64.self)
                }
                filled = count
            })
    }
}

extension CacheStore {
    /// Stores a response whose body comes in pieces, beside others; false if there is no room for it.
    @discardableResult
    func put(
        _ path: String, _ body: Bytes, replacing: [StoredResponse] = [], piece: Int = 10_000, entry: CacheEntry? = nil
    ) async -> Bool {
        guard let writer = await writer(for: TestCacheFolder.key(path), length: body.count) else {
            return false
        }
        for start in stride(from: 0, to: body.count, by: piece) {
            await writer.write(body[start..<min(start + piece, body.count)])
        }
        await writer.finish(
            as: entry ?? TestCacheFolder.entry(path, body.count, selecting: TestCacheFolder.newForm),
            replacing: replacing)
        return true
    }

    func found(_ path: String) async -> [StoredResponse] { await responses(for: TestCacheFolder.key(path)) }

    /// The bodies of what is stored, each read as a whole.
    func bodies(_ path: String) async throws -> [Bytes] {
        var bodies: [Bytes] = []
        for response in await found(path) { bodies.append(try await response.body.all()) }
        return bodies
    }
}

extension StoredBody {
    func all() async throws -> Bytes {
        var all: [UInt8] = []
        while all.count < count { all += try await read(from: all.count, upTo: count - all.count) }
        return Bytes(all)
    }
}

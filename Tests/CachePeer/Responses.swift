import DunlinCache
import DunlinSecure
import DunlinSemantics
import DunlinTypes

/// Responses whose bodies follow from their entity tags, so that whoever reads one knows whether it is right.
enum Responses {
    static let rules = CacheRules { function, bytes in
        do throws(HashFunction.Unavailable) { return try function.hash(of: bytes) } catch { return nil }
    }

    static func key(_ path: String) -> CacheKey { CacheKey(text: "https://cache.test/" + path) }

    static func entry(_ path: String, seed: Int, count: Int, age: Int) -> CacheEntry {
        CacheEntry(
            key: key(path), selecting: SelectingFields(), status: .ok,
            fields: ["ETag": "\"\(path) \(seed) \(count)\"", "Age": "\(age)"], sentAt: 1000, receivedAt: 1001,
            body: .whole(count), rules: rules)
    }

    static func body(_ path: String, seed: Int, count: Int) -> Bytes {
        var state = UInt64(truncatingIfNeeded: seed &* 31 &+ path.utf8.reduce(7) { $0 &* 31 &+ Int($1) }) | 1
        return Bytes(
            [UInt8](unsafeUninitializedCapacity: count + 8) { buffer, filled in
                let raw = UnsafeMutableRawBufferPointer(buffer)
                var offset = 0
                while offset < count {
                    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                    raw.storeBytes(of: state, toByteOffset: offset, as: UInt64.self)
                    offset += 8
                }
                filled = count
            })
    }

    /// What is wrong with a stored response; nil if nothing is, or if it could not be read as a whole, which it may
    /// not: somebody may have cut what was found.
    static func fault(_ response: StoredResponse, _ path: String) async -> String? {
        guard response.entry.key == key(path), let tag = response.entry.fields["ETag"] else {
            return "another's: \(path)"
        }
        let parts = tag.dropFirst().dropLast().split(separator: " ")
        guard parts.count == 3, parts[0] == path, let seed = Int(parts[1]), let count = Int(parts[2]),
            count == response.body.count
        else { return "\(path) has \(response.body.count) bytes, and the tag \(tag)" }
        var read: [UInt8] = []
        do throws(CacheDamage) {
            while read.count < count {
                read += try await response.body.read(from: read.count, upTo: count - read.count)
            }
        } catch {
            // Others may have removed it before it was opened, and not after.
            return error.kind == .absence && read.isEmpty ? nil : "\(path): \(error)"
        }
        return Bytes(read) == body(path, seed: seed, count: count) ? nil : "\(path): a wrong byte"
    }
}

internal import DunlinReactor
package import DunlinTypes
internal import Synchronization

/// The salt for hashes of secret fields' values, so that whoever gets the hashes can neither look them up in a ready
/// table nor see that two users share a secret.
///
/// It is random. A cache in memory has its own; a folder's is in a file there, created once, for all processes that
/// share it. A value hashed with another salt matches no request, which is a miss.
package final class CacheSalt: Sendable {
    static var size: Int { 32 }

    private let salt: Mutex<[UInt8]>

    package init() {
        var random = SystemRandomNumberGenerator()
        salt = Mutex((0..<Self.size).map { _ in .random(in: 0 ... .max, using: &random) })
    }

    var bytes: [UInt8] {
        get { salt.withLock(\.self) }
        set { salt.withLock { $0 = newValue } }
    }

    /// Returns what to hash instead of a value.
    package func salted(_ value: Bytes) -> Bytes { Bytes(bytes + value.array) }
}

extension CacheFolder {
    /// Returns the salt of all processes: the folder's, or else `own`, which becomes the folder's. Waits for a disk.
    /// Throws if there is none and none can be written; then each process has its own, and responses that depend on a
    /// secret are found only by the process that stored them.
    func salt(orElse own: [UInt8]) throws(Errno) -> [UInt8] {
        if let known = try knownSalt() { return known }
        let file = try create()
        do throws(Errno) {
            try write(own, at: 0, into: file)
            try put(file, as: .salt)
        } catch {
            do throws(Errno) { try file.remove() } catch {}
            throw error
        }
        return try knownSalt() ?? own
    }

    private func knownSalt() throws(Errno) -> [UInt8]? {
        guard let bytes = try contents(of: .salt, limit: CacheSalt.size) else { return nil }
        if bytes.count == CacheSalt.size { return bytes }
        // A loss of power has left an empty file.
        try remove(.salt)
        return nil
    }
}

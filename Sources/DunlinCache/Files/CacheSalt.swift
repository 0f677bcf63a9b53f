internal import DunlinReactor
package import DunlinTypes
internal import Synchronization

/// What is hashed together with the values of secret fields, so that nobody who gets at stored hashes can look them up
/// in a table that was made for others, or see that two users have the same secret.
///
/// It is random. A cache in memory has its own; that of a folder is in a file there, made once, and belongs to all
/// processes that share it. What was hashed with another one fits no request, which is a miss.
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

    /// What to hash in place of a value.
    package func salted(_ value: Bytes) -> Bytes { Bytes(bytes + value.array) }
}

extension CacheFolder {
    /// The salt of all processes: what is in the folder, or else `own`, which is there from then on. Waits for a disk.
    /// Throws if there is none and none can be written; then each process has its own, and what depends on a secret is
    /// found by the process alone that stored it.
    func salt(orElse own: [UInt8]) throws(Errno) -> [UInt8] {
        if let known = try knownSalt() { return known }
        let file = try create()
        do throws(Errno) {
            try write(own, at: 0, into: file)
            try place(file, as: .salt)
        } catch {
            do throws(Errno) { try file.remove() } catch {}
            throw error
        }
        return try knownSalt() ?? own
    }

    private func knownSalt() throws(Errno) -> [UInt8]? {
        guard let bytes = try contents(of: .salt, limit: CacheSalt.size) else { return nil }
        if bytes.count == CacheSalt.size { return bytes }
        // A loss of power has left it without its contents.
        try remove(.salt)
        return nil
    }
}

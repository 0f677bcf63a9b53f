internal import DunlinTypes

/// How often each of a server's nonces was used, of those it gave last. A server that is asked by several requests at
/// once may come back to one, and to count from the beginning again would look like a repetition to it.
struct DigestNonces: Sendable {
    private var uses = RecentValues<[UInt8], UInt32>(limit: 8)

    /// Which use this is, from 1 on; nil if there can be no other.
    mutating func use(_ nonce: String) -> UInt32? {
        let bytes = Array(nonce.utf8)
        let count = uses[bytes] ?? 0
        guard count < .max else { return nil }
        uses.keep(count + 1, for: bytes)
        return count + 1
    }
}

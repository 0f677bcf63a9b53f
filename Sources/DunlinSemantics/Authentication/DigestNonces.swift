internal import DunlinTypes

/// The counts of use of a server's latest nonces. A server that gets several requests at once may return to an earlier
/// nonce, and counting from 1 again would look like a replay.
struct DigestNonces: Sendable {
    private var uses = RecentValues<[UInt8], UInt32>(limit: 8)

    /// Notes a use. Returns its number, from 1; nil if the nonce is used up.
    mutating func use(_ nonce: String) -> UInt32? {
        let bytes = Array(nonce.utf8)
        let count = uses[bytes] ?? 0
        guard count < .max else { return nil }
        uses.keep(count + 1, for: bytes)
        return count + 1
    }
}

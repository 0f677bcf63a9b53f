/// How often each of a server's nonces was used, of those it gave last. A server that is asked by several requests at
/// once may come back to one, and to count from the beginning again would look like a repetition to it.
struct DigestNonces: Sendable {
    private static let most = 8
    private var uses: [(nonce: [UInt8], count: UInt32)] = []

    /// Which use this is, from 1 on; nil if there can be no other.
    mutating func use(_ nonce: String) -> UInt32? {
        let bytes = Array(nonce.utf8)
        var count: UInt32 = 0
        if let place = uses.firstIndex(where: { $0.nonce == bytes }) {
            count = uses[place].count
            guard count < .max else { return nil }
            uses.remove(at: place)
        } else if uses.count == Self.most {
            uses.removeFirst()
        }
        uses.append((bytes, count + 1))
        return count + 1
    }
}

/// Ciphertext on its way to the kernel, or to the stream below. It uses no memory when all of it has left.
struct Outbox: Sendable {
    var bytes: [UInt8] = []
    private var sent = 0
    /// Whether nothing more was taken the last time.
    private(set) var isStuck = false

    var isEmpty: Bool { bytes.isEmpty }

    /// Sends what is taken now. Returns true when the kernel has everything.
    mutating func send(over stream: ByteStream) throws(StreamError) -> Bool {
        if bytes.isEmpty { return try stream.flush() }
        while sent < bytes.count {
            guard let taken = try stream.write(bytes, from: sent) else {
                isStuck = true
                return false
            }
            sent += taken
        }
        self = Outbox()
        return try stream.flush()
    }

    /// Sends bytes that nobody waits for; an error appears with the next read or write.
    mutating func sendAtOnce(over stream: ByteStream) {
        do throws(StreamError) {
            _ = try send(over: stream)
        } catch {
            self = Outbox()
        }
    }
}

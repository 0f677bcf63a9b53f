internal import DunlinReactor

/// Ciphertext on its way to the kernel. It uses no memory when all of it has left.
struct Outbox: Sendable {
    var bytes: [UInt8] = []
    private var sent = 0
    /// Whether the kernel took no more the last time.
    private(set) var isStuck = false

    var isEmpty: Bool { bytes.isEmpty }

    /// Sends what the kernel takes; true once that is everything.
    mutating func send(over channel: Channel) throws(StreamError) -> Bool {
        if bytes.isEmpty { return true }
        while sent < bytes.count {
            let taken: Int?
            do throws(Errno) {
                taken = try bytes.span.withUnsafeBytes { buffer throws(Errno) in
                    try channel.write(UnsafeRawBufferPointer(rebasing: buffer[sent...]), more: false)
                }
            } catch {
                throw .system(error)
            }
            guard let taken else {
                isStuck = true
                return false
            }
            sent += taken
        }
        self = Outbox()
        return true
    }

    /// Sends bytes that nobody waits for; an error shows with the next read or write.
    mutating func sendAtOnce(over channel: Channel) {
        do throws(StreamError) {
            _ = try send(over: channel)
        } catch {
            self = Outbox()
        }
    }
}

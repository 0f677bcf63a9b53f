import DunlinTypes
import Glibc
import Testing

@testable import DunlinReactor

/// A channel, on a loop of its own if none is given, over one end of a socket pair; the other end belongs to the test.
final class ChannelPair: Sendable {
    let time = ManualTime()
    let reactor: Reactor
    let channel: Channel
    let news: AsyncStream<UInt64>
    private let far: Int32

    init(on reactor: Reactor? = nil) throws {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw Errno.last }
        far = ends[1]
        self.reactor = try reactor ?? Reactor(time: .manual(time))
        let announcing = AsyncStream.makeStream(of: UInt64.self)
        news = announcing.stream
        channel = try Channel(Socket(adopting: ends[0]), on: self.reactor, unsolicited: announcing.continuation)
    }

    deinit {
        channel.close()
        reactor.retire()
        close(far)
    }

    func say(_ text: String) {
        #expect(send(far, text, text.utf8.count, Int32(MSG_NOSIGNAL)) == text.utf8.count)
    }

    /// Speaks on the loop's own thread, so that the loop sees one edge for all of it.
    func atOnce(_ text: String, hangsUp: Bool) async {
        await withTaskExecutorPreference(reactor) {
            say(text)
            if hangsUp { hangUp() }
        }
    }

    func hangUp() {
        shutdown(far, Int32(SHUT_RDWR))
    }

    /// Empties the far end, so that the channel can write again.
    func drain() -> Int {
        var total = 0
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = recv(far, &buffer, buffer.count, 0)
            if count <= 0 { return total }
            total += count
        }
    }

    /// Reads as an owner does: tries, waits, tries again.
    func read() async throws -> String? {
        while true {
            if let bytes = try channel.read(upTo: 100) { return String(decoding: bytes, as: UTF8.self) }
            guard await channel.waitReadable(until: .never) == .ready else { return nil }
        }
    }

    /// Writes until the kernel takes no more.
    func fill() throws -> Int {
        var total = 0
        let chunk = Bytes([UInt8](repeating: 1, count: 1 << 16))
        while let count = try chunk.withUnsafeBytes({ bytes throws(Errno) in try channel.write(bytes) }) {
            total += count
        }
        return total
    }

    /// Runs `action` once the loop has run the jobs that lie before it: what the test began first is waiting by then.
    func later(_ action: @escaping @Sendable () -> Void) async {
        await withTaskExecutorPreference(reactor) {
            for _ in 0..<3 { await Task.yield() }
            action()
        }
    }
}

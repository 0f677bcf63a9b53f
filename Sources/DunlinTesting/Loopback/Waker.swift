internal import CEpoll
internal import DunlinReactor
internal import Glibc

extension LoopbackServer {
    /// Ends one connection's wait at a gate.
    final class Waker: Sendable {
        let descriptor: Descriptor

        init() throws(Errno) {
            descriptor = try Descriptor(adopting: dunlin_eventfd())
        }

        func wake() {
            var one: UInt64 = 1
            // This can fail only if the counter is full, and then it is readable already.
            _ = write(descriptor.number, &one, MemoryLayout<UInt64>.size)
        }
    }
}

internal import CEpoll
internal import DunlinReactor
internal import Glibc
internal import Synchronization

// A socket pair by which every thread is told to stop, and `stop()` is told that they have.
//
// The group holds one end. Each thread owns a duplicate of the other, its lifeline, and polls it along with whatever
// else it waits for. Shutting down the group's end makes every lifeline readable for good. When the last lifeline is
// closed, and a thread closes its own last of all, the group's end reads end of stream. The kernel does the counting,
// so no thread's mistake can make `stop()` return early.
extension LoopbackServer {
    final class ThreadGroup: Sendable {
        /// The crew's end, shared by overlapping calls of `stop()` and closed by the last of them.
        private final class GroupEnd: Sendable {
            let descriptor: Descriptor
            init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }
        }

        private struct State: ~Copyable {
            var end: GroupEnd?
            /// The first thread's lifeline, until that thread starts.
            var spare: Descriptor?
            var members: Set<pthread_t> = []
        }

        private let state: Mutex<State>

        init() throws(Errno) {
            var pair: [Int32] = [-1, -1]
            let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
            guard socketpair(AF_UNIX, type, 0, &pair) == 0 else { throw .last }
            let end = try Descriptor(adopting: pair[0])
            let spare = try Descriptor(adopting: pair[1])
            state = Mutex(State(end: GroupEnd(end), spare: spare))
        }

        /// Starts the first thread; the others get their lifelines as duplicates from the thread that starts them.
        func startFirst(name: String, _ body: @escaping @Sendable (_ lifeline: Int32) -> Void) throws(Errno) {
            guard let lifeline = state.withLock({ $0.spare.take() }) else { throw Errno(rawValue: EBUSY) }
            try start(name: name, lifeline: lifeline, body)
        }

        /// Starts a thread that owns `lifeline`. `body` must not capture anything that owns a descriptor: captures
        /// outlive the lifeline.
        func start(
            name: String, lifeline: consuming Descriptor, _ body: @escaping @Sendable (_ lifeline: Int32) -> Void
        ) throws(Errno) {
            let number = lifeline.release()
            do {
                try SystemThread.start(name: name) { [self] in
                    let thread = pthread_self()
                    state.withLock { _ = $0.members.insert(thread) }
                    body(number)
                    state.withLock { _ = $0.members.remove(thread) }
                    _ = close(number)
                }
            } catch {
                _ = close(number)
                throw error
            }
        }

        /// Tells all threads to stop and waits until they have ended. If a thread of the crew calls it, it does not
        /// wait, since it would wait for itself.
        func stop() {
            let (end, isMember) = state.withLock { state in
                (state.end, state.members.contains(pthread_self()))
            }
            guard let end else { return }
            _ = shutdown(end.descriptor.number, Int32(SHUT_WR))
            if isMember { return }
            waitForEndOfStream(end.descriptor.number)
            state.withLock { $0.end = nil }
        }

        private func waitForEndOfStream(_ descriptor: Int32) {
            var byte: UInt8 = 0
            while recv(descriptor, &byte, 1, 0) < 0 && errno == EINTR {}
        }
    }
}

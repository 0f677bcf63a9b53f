internal import DunlinReactor
internal import Glibc

extension LoopbackServer {
    /// The blocking waits of all threads: polls that the lifeline ends.
    struct Poll {
        enum Ready {
            case socket
            case other
            case timedOut
        }

        /// Missing in the Glibc module, which is built without _GNU_SOURCE.
        static let peerClosed: Int16 = 0x2000

        /// The lifeline, which belongs to the thread.
        let lifeline: Int32

        /// Waits. Returns what came first: `events` (or an error) on the socket, input on `other`, or the end of
        /// `limit`.
        func wait(
            on socket: Int32, for events: Int16, or other: Int32 = -1, limit: Duration? = nil
        ) throws(Interruption) -> Ready {
            let deadline = limit.map { ContinuousClock.now + $0 }
            while true {
                var set = [
                    pollfd(fd: socket, events: events, revents: 0),
                    pollfd(fd: lifeline, events: Int16(POLLIN), revents: 0),
                    pollfd(fd: other, events: Int16(POLLIN), revents: 0),
                ]
                let milliseconds = Self.milliseconds(until: deadline)
                let count = poll(&set, nfds_t(set.count), milliseconds)
                if count < 0 && errno == EINTR { continue }
                if count < 0 { throw .failed(.last) }
                if set[1].revents != 0 { throw .stopped }
                if set[2].revents != 0 { return .other }
                if set[0].revents != 0 { return .socket }
                if milliseconds == 0 { return .timedOut }
            }
        }

        /// The time in milliseconds, rounded up so that a wait is never too short; -1 without a deadline.
        private static func milliseconds(until deadline: ContinuousClock.Instant?) -> Int32 {
            guard let deadline else { return -1 }
            let left = ContinuousClock.now.duration(to: deadline)
            if left <= .zero { return 0 }
            return Int32(clamping: Int((left / .milliseconds(1)).rounded(.up)))
        }
    }
}

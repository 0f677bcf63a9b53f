internal import CEpoll
internal import DunlinReactor
internal import DunlinTypes
internal import Glibc

extension LoopbackServer {
    /// The thread that accepts connections and starts a thread for each.
    struct Acceptor: ~Copyable {
        let listener: Descriptor
        let lifeline: Int32
        let isTCP: Bool
        let core: Core

        private var poll: Poll { Poll(lifeline: lifeline) }

        /// Accepts until the server stops.
        func run() {
            do throws(Interruption) {
                while true { try acceptNext() }
            } catch .failed(let code) {
                core.ledger.failed(Failure(connection: nil, kind: .system, detail: "accept: \(code)"))
            } catch {
                return
            }
        }

        private func acceptNext() throws(Interruption) {
            _ = try poll.wait(on: listener.number, for: Int16(POLLIN))
            let arrival = core.script.arrival(of: core.ledger.activity.accepted)
            if arrival == .neverAccept { try waitForStop() }
            let number = try accept()
            setNoDelay(number)
            let index = core.ledger.accepted()
            switch arrival {
            case .closeAtOnce: end(number)
            case .resetAtOnce: reset(number)
            default: serve(number, index, arrival)
            }
        }

        private func accept() throws(Interruption) -> Int32 {
            while true {
                let number = dunlin_accept(listener.number)
                if number >= 0 { return number }
                switch errno {
                case EAGAIN, ECONNABORTED: _ = try poll.wait(on: listener.number, for: Int16(POLLIN))
                case EINTR: continue
                case EMFILE, ENFILE, ENOBUFS, ENOMEM: try waitForDescriptors()
                case let code: throw .failed(Errno(rawValue: code))
                }
            }
        }

        /// Waits for descriptors, which the process has run out of. The waiting connection would wake any poll at once.
        private func waitForDescriptors() throws(Interruption) {
            core.ledger.failed(Failure(connection: nil, kind: .system, detail: "accept: \(Errno.last)"))
            _ = try poll.wait(on: -1, for: 0, limit: .milliseconds(100))
        }

        private func waitForStop() throws(Interruption) {
            _ = try poll.wait(on: -1, for: 0)
        }

        /// Serves a connection. The socket is passed as a number, because the thread's captures outlive its lifeline.
        private func serve(_ socket: Int32, _ index: Int, _ arrival: Arrival) {
            do {
                let own = try Descriptor(adopting: fcntl(lifeline, F_DUPFD_CLOEXEC, 0))
                try core.threads.start(name: "loopback-\(index)", lifeline: own) { [core, isTCP] lifeline in
                    core.serve(socket, index, lifeline, isTCP: isTCP, arrival)
                    core.ledger.closed()
                }
            } catch {
                core.ledger.failed(Failure(connection: index, kind: .system, detail: "thread: \(error)"))
                end(socket)
            }
        }

        private func end(_ socket: Int32) {
            _ = close(socket)
            core.ledger.closed()
        }

        private func reset(_ socket: Int32) {
            var option = linger(l_onoff: 1, l_linger: 0)
            _ = setsockopt(socket, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
            end(socket)
        }

        private func setNoDelay(_ socket: Int32) {
            guard isTCP else { return }
            var one: Int32 = 1
            _ = setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        }
    }
}

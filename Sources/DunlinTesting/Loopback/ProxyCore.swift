internal import CEpoll
internal import DunlinReactor
internal import DunlinTypes
internal import Glibc
internal import Synchronization

extension LoopbackProxy {
    /// What the proxy's threads share.
    final class Core: Sendable {
        struct State {
            var faults: [Fault] = []
            var visits: [Visit] = []
            var accepted = 0
            var open = 0
            var handshakeFaults: [LoopbackServer.HandshakeFault] = []
            /// The connections with TLS: what to do to each, and its waker.
            var fronts: [Int: (deeds: [Deed], waker: LoopbackServer.Waker)] = [:]
        }

        let threads: LoopbackServer.ThreadGroup
        let state = Mutex(State())
        let ledger = LoopbackServer.Ledger(recordsRequests: true)
        let authenticator: Authenticator?
        private let tls: LoopbackServer.TLS?

        init(_ authenticator: Authenticator?, _ tls: LoopbackServer.TLS?) throws {
            threads = try LoopbackServer.ThreadGroup()
            self.authenticator = authenticator
            self.tls = tls
        }

        func nextFault() -> Fault {
            state.withLock { $0.faults.isEmpty ? .none : $0.faults.removeFirst() }
        }

        func accept(from number: Int32, _ lifeline: Int32) {
            let listener: LoopbackServer.Descriptor
            do { listener = try LoopbackServer.Descriptor(adopting: number) } catch { return }
            let poll = LoopbackServer.Poll(lifeline: lifeline)
            while true {
                // The proxy is stopping.
                do { _ = try poll.wait(on: listener.number, for: Int16(POLLIN)) } catch { return }
                let socket = dunlin_accept(listener.number)
                if socket < 0 { continue }
                let index = state.withLock { state in
                    state.open += 1
                    state.accepted += 1
                    return state.accepted - 1
                }
                start("proxy-\(index)", beside: lifeline) { own in
                    if let tls = self.tls {
                        self.serve(index, socket, tls, own)
                    } else {
                        var client = Client(index, Peer(socket, own), self)
                        client.serve()
                        _ = close(socket)
                    }
                    self.state.withLock { $0.open -= 1 }
                }
            }
        }

        /// Ends TLS between the client's socket and one of a pair, whose other end is served like a client's socket.
        private func serve(_ index: Int, _ socket: Int32, _ tls: LoopbackServer.TLS, _ lifeline: Int32) {
            do {
                let fault = state.withLock { $0.handshakeFaults.isEmpty ? nil : $0.handshakeFaults.removeFirst() }
                var channel = LoopbackServer.Channel(
                    socket: try LoopbackServer.Descriptor(adopting: socket),
                    poll: LoopbackServer.Poll(lifeline: lifeline), ledger: ledger, isTCP: true)
                let handshake = try channel.beginServing(fault.map { .handshake($0) } ?? .accept, tls, index)
                if let handshake { ledger.secured(handshake) }
                let waker = try LoopbackServer.Waker()
                var pair: [Int32] = [-1, -1]
                let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
                guard socketpair(AF_UNIX, type, 0, &pair) == 0 else { return }
                let (near, far) = (pair[0], pair[1])
                defer { _ = close(near) }
                state.withLock { $0.fronts[index] = ([], waker) }
                defer { state.withLock { $0.fronts[index] = nil } }
                start("proxy-\(index)-in", beside: lifeline) { own in
                    var client = Client(index, Peer(far, own), self)
                    client.serve()
                    _ = close(far)
                }
                guard let session = channel.tls else { return }
                var relay = TLSRelay(channel.socket.number, near, session, waker, lifeline)
                relay.run {
                    self.state.withLock { state in
                        defer { state.fronts[index]?.deeds = [] }
                        return state.fronts[index]?.deeds ?? []
                    }
                }
            } catch {
                return
            }
        }

        /// Makes the end of a connection with TLS a reset.
        func reset(_ index: Int) {
            let waker = state.withLock { state in
                state.fronts[index]?.deeds.append(.reset)
                return state.fronts[index]?.waker
            }
            waker?.wake()
        }

        /// Runs `body` on its own thread until the proxy stops.
        func start(_ name: String, beside lifeline: Int32, _ body: @escaping @Sendable (Int32) -> Void) {
            do {
                let own = try LoopbackServer.Descriptor(adopting: fcntl(lifeline, F_DUPFD_CLOEXEC, 0))
                try threads.start(name: name, lifeline: own, body)
            } catch {
                return
            }
        }
    }

    /// A socket with blocking calls, which end when the proxy does. Its creator owns it.
    struct Peer: Sendable {
        let socket: Int32
        let lifeline: Int32

        init(_ socket: Int32, _ lifeline: Int32) {
            (self.socket, self.lifeline) = (socket, lifeline)
        }

        private var poll: LoopbackServer.Poll { LoopbackServer.Poll(lifeline: lifeline) }

        /// Reads what has come, at most `limit` bytes; empty at the end.
        func read(upTo limit: Int = 65_536) throws -> [UInt8] {
            while true {
                if let bytes = TLSRelay.read(socket, upTo: limit) { return bytes }
                _ = try poll.wait(on: socket, for: Int16(POLLIN))
            }
        }

        func write(_ bytes: [UInt8]) throws {
            var rest = bytes
            while true {
                guard TLSRelay.write(&rest, to: socket) else { throw LoopbackServer.Interruption.peerGone }
                if rest.isEmpty { return }
                _ = try poll.wait(on: socket, for: Int16(POLLOUT))
            }
        }

        /// Waits until the peer is gone.
        func stall() throws {
            _ = try poll.wait(on: socket, for: LoopbackServer.Poll.peerClosed)
        }

        /// Makes the coming close a reset.
        func reset() {
            var option = linger(l_onoff: 1, l_linger: 0)
            _ = setsockopt(socket, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        }

        /// Copies everything to another peer, until one of them ends.
        func copy(to other: Peer) {
            do {
                while true {
                    let bytes = try read()
                    if bytes.isEmpty { break }
                    try other.write(bytes)
                }
            } catch {
                // The end tells the other side.
            }
            _ = shutdown(other.socket, Int32(SHUT_WR))
        }
    }
}

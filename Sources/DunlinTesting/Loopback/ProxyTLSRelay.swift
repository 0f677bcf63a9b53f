internal import CEpoll
internal import DunlinTypes
internal import Glibc

extension LoopbackProxy {
    /// Moves bytes both ways, on one thread, between the socket of a client that uses TLS and one that carries the
    /// content. It never waits for one side while the other can continue.
    struct TLSRelay {
        private let outer: Int32
        private let inner: Int32
        private let tls: LoopbackServer.TLSSession
        private let waker: LoopbackServer.Waker
        private let lifeline: Int32
        /// Ciphertext for the client, and plaintext for the other side.
        private var outward: [UInt8] = []
        private var inward: [UInt8] = []
        /// Which sides have ended, and which have been told of the other's end.
        private var (outerHasEnded, innerHasEnded, isOuterTold, isInnerTold) = (false, false, false, false)
        private var outerIsGone = false
        /// How to end, with or without a reset, once the client has what is for it.
        private var end: Deed?
        private var isOver = false

        private static let most = 256 * 1024

        init(
            _ outer: Int32, _ inner: Int32, _ tls: LoopbackServer.TLSSession, _ waker: LoopbackServer.Waker,
            _ lifeline: Int32
        ) {
            (self.outer, self.inner, self.tls, self.waker, self.lifeline) = (outer, inner, tls, waker, lifeline)
        }

        /// Runs to the end of the connection. The caller must close the sockets.
        mutating func run(_ deeds: () -> [Deed]) {
            decrypt()
            while !isOver {
                let asked = deeds()
                readInner()
                asked.forEach { perform($0) }
                passOn()
                if isOver || !wait() { break }
                readOuter()
            }
            if end == .reset {
                var option = linger(l_onoff: 1, l_linger: 0)
                _ = setsockopt(outer, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
            }
        }

        private mutating func perform(_ deed: Deed) {
            switch deed {
            case .renewKeys: _ = tls.renew()
            case .say(let bytes): encrypt(Array(bytes))
            case .sayOutsideTLS(let bytes): outward += Array(bytes)
            case .close:
                tls.sendCloseNotify()
                end = deed
            case .cut:
                tls.leaveSilently()
                end = deed
            case .reset: end = deed
            }
            outward += tls.takeOutput()
        }

        private mutating func readOuter() {
            guard !outerHasEnded, inward.count < Self.most else { return }
            switch Self.read(outer) {
            case nil: return
            case .some(let bytes) where bytes.isEmpty: outerHasEnded = true
            case .some(let bytes):
                tls.feed(bytes)
                decrypt()
            }
        }

        private mutating func decrypt() {
            var bytes: [UInt8] = []
            while true {
                let progress = tls.read(into: &bytes)
                outward += tls.takeOutput()
                switch progress {
                case .done: inward += bytes
                case .wantsInput: return
                case .ended, .failed:
                    outerHasEnded = true
                    return
                }
            }
        }

        private mutating func readInner() {
            while !innerHasEnded, outward.count < Self.most, end == nil, let bytes = Self.read(inner) {
                if bytes.isEmpty { innerHasEnded = true } else { encrypt(bytes) }
            }
        }

        private mutating func encrypt(_ bytes: [UInt8]) {
            _ = bytes.withUnsafeBytes { tls.write($0) }
            outward += tls.takeOutput()
        }

        /// Writes what can be written, and tells each side of the other's end.
        private mutating func passOn() {
            if innerHasEnded, !isOuterTold, end == nil {
                tls.sendCloseNotify()
                outward += tls.takeOutput()
            }
            if !Self.write(&outward, to: outer) { isOver = true }
            if !Self.write(&inward, to: inner), outward.isEmpty, innerHasEnded { isOver = true }
            if outerHasEnded, inward.isEmpty, !isInnerTold {
                _ = shutdown(inner, Int32(SHUT_WR))
                isInnerTold = true
            }
            guard outward.isEmpty else { return }
            if end != nil || innerHasEnded && outerHasEnded { isOver = true }
            if innerHasEnded, !isOuterTold {
                _ = shutdown(outer, Int32(SHUT_WR))
                isOuterTold = true
            }
        }

        /// Waits until a side can continue. Returns false when the proxy stops.
        private mutating func wait() -> Bool {
            let (input, output) = (Int16(POLLIN), Int16(POLLOUT))
            let forOuter =
                (outerHasEnded || inward.count >= Self.most ? 0 : input) | (outward.isEmpty ? 0 : output)
            let forInner =
                (innerHasEnded || outward.count >= Self.most ? 0 : input) | (inward.isEmpty ? 0 : output)
            var set = [
                pollfd(fd: lifeline, events: input, revents: 0),
                pollfd(fd: waker.descriptor.number, events: input, revents: 0),
                pollfd(fd: outerIsGone ? -1 : outer, events: forOuter, revents: 0),
                pollfd(fd: inner, events: forInner, revents: 0),
            ]
            while poll(&set, nfds_t(set.count), -1) < 0 { if errno != EINTR { return false } }
            var count: UInt64 = 0
            if set[1].revents != 0 { _ = Glibc.read(waker.descriptor.number, &count, MemoryLayout<UInt64>.size) }
            // A closed side is always reported. Once it has been read to its end, only the other side remains, which
            // takes what is its own.
            let gone = Int16(POLLHUP) | Int16(POLLERR)
            if set[3].revents & gone != 0, innerHasEnded, outward.isEmpty { isOver = true }
            if set[2].revents & gone != 0 {
                (outerHasEnded, outerIsGone) = (true, true)
                inward.removeAll()
                if innerHasEnded { isOver = true }
            }
            return set[0].revents == 0
        }

        /// Reads what has come; empty at the end, nil if there is nothing yet.
        static func read(_ socket: Int32, upTo limit: Int = 65_536) -> [UInt8]? {
            var count = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, filled in
                repeat {
                    count = recv(socket, buffer.baseAddress, limit, Int32(MSG_DONTWAIT))
                } while count < 0 && errno == EINTR
                filled = max(count, 0)
            }
            return count < 0 && errno == EAGAIN ? nil : bytes
        }

        /// Writes what can be written now. Returns false if nobody takes it any more; it is then discarded.
        static func write(_ bytes: inout [UInt8], to socket: Int32) -> Bool {
            var offset = 0
            while offset < bytes.count {
                let count = bytes[offset...].withUnsafeBytes {
                    send(socket, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
                }
                if count >= 0 {
                    offset += count
                } else if errno == EAGAIN {
                    break
                } else if errno != EINTR {
                    bytes.removeAll()
                    return false
                }
            }
            bytes.removeFirst(offset)
            return true
        }
    }
}

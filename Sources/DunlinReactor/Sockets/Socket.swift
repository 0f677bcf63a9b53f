internal import CEpoll
public import DunlinTypes
internal import Glibc

/// A non-blocking stream socket that owns its descriptor: it is closed when the value ends, never before.
///
/// Each method is one system call; none waits.
public struct Socket: ~Copyable, Sendable {
    let descriptor: Int32

    public enum Connecting: Sendable {
        case connected
        case underway
    }

    /// Takes over a descriptor, which must be non-blocking.
    public init(adopting descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// A new stream socket of the address's family.
    public init(for address: HTTP.SocketAddress) throws(Errno) {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        self.init(adopting: try Descriptor.raised(socket(address.family, kind, 0)))
    }

    deinit {
        close(descriptor)
    }

    public func connect(to address: HTTP.SocketAddress) throws(Errno) -> Connecting {
        let code = try address.withSockaddr { pointer, length in
            Glibc.connect(descriptor, pointer, length)
        }
        if code == 0 { return .connected }
        // A signal does not stop a connect: it goes on, and writability tells how it ended (POSIX connect()).
        guard errno == EINPROGRESS || errno == EINTR else { throw Errno.last }
        return isConnected ? .connected : .underway
    }

    /// Whether the connect is over already. Within one machine it is, though it says that it is underway; asking costs
    /// far less than a wait that would end at once.
    private var isConnected: Bool {
        var peer = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &peer) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) == 0 }
        }
    }

    /// Throws the error of an asynchronous connect that failed.
    public func pendingError() throws(Errno) {
        let code: Int32 = try option(SOL_SOCKET, SO_ERROR)
        if code != 0 { throw Errno(rawValue: code) }
    }

    /// Appends up to `capacity` bytes, none at end of stream. False when there are none yet.
    @inline(__always)
    public func read(appendingTo bytes: inout [UInt8], upTo capacity: Int) throws(Errno) -> Bool {
        var outcome = 0
        var failure: Int32 = 0
        bytes.append(addingCapacity: capacity) { output in
            output.withUnsafeMutableBufferPointer { buffer, count in
                repeat {
                    outcome = recv(descriptor, buffer.baseAddress, capacity, 0)
                    failure = outcome < 0 ? errno : 0
                } while failure == EINTR
                count = max(outcome, 0)
            }
        }
        if outcome >= 0 { return true }
        if failure == EAGAIN { return false }
        throw Errno(rawValue: failure)
    }

    /// Writes. Returns the bytes that the kernel took; nil when it takes none now. If `more` follows at once, the last
    /// segment waits for it.
    public func write(_ bytes: UnsafeRawBufferPointer, more: Bool = false) throws(Errno) -> Int? {
        let flags = Int32(MSG_NOSIGNAL) | (more ? Int32(MSG_MORE) : 0)
        while true {
            let count = send(descriptor, bytes.baseAddress, bytes.count, flags)
            if count >= 0 { return count }
            switch errno {
            case EINTR: continue
            case EAGAIN: return nil
            default: throw Errno.last
            }
        }
    }

    /// Ends the stream of what is written: the peer gets its end after everything that was written before.
    public func endWriting() throws(Errno) {
        guard shutdown(descriptor, Int32(SHUT_WR)) == 0 else { throw Errno.last }
    }

    /// Looks what has come on an idle connection, without reading it.
    public func peek() -> Peek {
        var byte: UInt8 = 0
        while true {
            let count = recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
            if count > 0 { return .bytes }
            if count == 0 { return .ended }
            switch errno {
            case EINTR: continue
            case EAGAIN: return .silent
            default: return .ended
            }
        }
    }

    /// Whether the peer has ended its side, or the connection is broken, whatever is still to be read. It reads
    /// nothing, and leaves the error in place.
    public func inputHasEnded() -> Bool {
        let ends = Int16(dunlin_epollrdhup | dunlin_epollhup | dunlin_epollerr)
        var request = pollfd(fd: descriptor, events: Int16(dunlin_epollrdhup), revents: 0)
        // A call that fails reports no end.
        return poll(&request, 1, 0) == 1 && request.revents & ends != 0
    }

    public enum Peek: Sendable {
        case silent
        case bytes
        case ended
    }

    /// Sends what is written at once instead of waiting to fill a segment. Has no effect on a Unix socket.
    public func setNoDelay() throws(Errno) {
        try setOption(Int32(IPPROTO_TCP), TCP_NODELAY, Int32(1))
    }

    /// Has the kernel report input only when so many bytes of it are there, or its end. What there is can be read at
    /// any time.
    public func setLowWater(_ count: Int) throws(Errno) {
        try setOption(SOL_SOCKET, SO_RCVLOWAT, Int32(clamping: count))
    }

    func setOption(_ level: Int32, _ name: Int32, _ value: Int32) throws(Errno) {
        var value = value
        guard setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout<Int32>.size)) == 0 else {
            throw Errno.last
        }
    }

    func option(_ level: Int32, _ name: Int32) throws(Errno) -> Int32 {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(descriptor, level, name, &value, &length) == 0 else { throw Errno.last }
        return value
    }
}

import DunlinReactor
import Glibc

/// Two ends of one stream, both non-blocking.
struct Pair: ~Copyable {
    let near: Socket
    let far: Socket

    init() throws {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw Errno.last }
        near = Socket(adopting: ends[0])
        far = Socket(adopting: ends[1])
    }

    /// The near end alone: the far end is closed by then.
    consuming func giveNear() -> Socket {
        near
    }
}

extension Socket {
    /// Up to `capacity` bytes; none at the end of the stream, nil when there are none yet.
    func read(upTo capacity: Int) throws(Errno) -> [UInt8]? {
        var bytes: [UInt8] = []
        return try read(appendingTo: &bytes, upTo: capacity) ? bytes : nil
    }
}

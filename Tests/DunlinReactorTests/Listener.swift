import DunlinReactor
import Glibc

/// A listening socket on an address of its own, closed at its end.
struct Listener: ~Copyable {
    let descriptor: Int32

    init<Address>(
        _ address: Address, length: Int = MemoryLayout<Address>.size, family: Int32, isListening: Bool = true
    ) throws {
        descriptor = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Errno.last }
        let code = withUnsafeBytes(of: address) { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) { bind(descriptor, $0.baseAddress, socklen_t(length)) }
        }
        guard code == 0, !isListening || listen(descriptor, 8) == 0 else { throw Errno.last }
    }

    init(unix path: String) throws {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        // An abstract name ends with the address; behind a path comes a NUL.
        let length = 2 + path.utf8.count + (path.utf8.first == 0 ? 0 : 1)
        try self.init(address, length: length, family: AF_UNIX)
    }

    deinit {
        close(descriptor)
    }

    /// The port the kernel chose, read out of an address of this kind.
    func port<Address>(of empty: Address, _ read: (Address) -> UInt16) throws -> UInt16 {
        var address = empty
        var length = socklen_t(MemoryLayout<Address>.size)
        let code = withUnsafeMutableBytes(of: &address) { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) { getsockname(descriptor, $0.baseAddress, &length) }
        }
        guard code == 0 else { throw Errno.last }
        return read(address)
    }
}

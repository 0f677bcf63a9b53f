package import DunlinTesting
import Glibc
import Testing

/// A port of the loopback address that nobody listens on, and that nobody else gets meanwhile.
package struct HeldPort {
    package let number: UInt16
    private let descriptor: Int32

    package init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        // Lets `listen` have the port beside it.
        var one: Int32 = 1
        try #require(setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size)) == 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, length) == 0 ? getsockname(descriptor, pointer, &length) : -1
            }
        }
        try #require(code == 0)
        number = UInt16(bigEndian: address.sin_port)
    }

    /// A server there. When it has stopped, there may be another.
    package func listen() throws -> LoopbackServer { try LoopbackServer(heldPort: number) }

    package func release() {
        close(descriptor)
    }
}

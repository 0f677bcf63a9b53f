internal import CEpoll
internal import DunlinReactor
internal import DunlinTypes
internal import Glibc

extension LoopbackServer {
    /// A socket address in the kernel's form.
    struct RawAddress {
        private var storage = sockaddr_storage()
        private var length: socklen_t

        var family: Int32 { Int32(storage.ss_family) }

        /// The port is for IPv4; 0 leaves it to the kernel.
        init(_ endpoint: Endpoint, port: UInt16 = 0) throws(Errno) {
            switch endpoint {
            case .ipv4:
                length = socklen_t(MemoryLayout<sockaddr_in>.size)
                var address = sockaddr_in()
                address.sin_family = sa_family_t(AF_INET)
                address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
                address.sin_port = port.bigEndian
                store(address)
            case .ipv6:
                length = socklen_t(MemoryLayout<sockaddr_in6>.size)
                var address = sockaddr_in6()
                address.sin6_family = sa_family_t(AF_INET6)
                address.sin6_addr = in6addr_loopback
                store(address)
            case .unix(let path):
                length = 0
                try storePath(path)
            case .abstract:
                // Binding only the family asks the kernel for a name.
                length = socklen_t(MemoryLayout<sa_family_t>.size)
                storage.ss_family = sa_family_t(AF_UNIX)
            }
        }

        /// Reads the address that a socket is bound to.
        init(nameOf socket: Int32) throws(Errno) {
            length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            var size = length
            let code = withUnsafeMutablePointer(to: &storage) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &size) }
            }
            guard code == 0 else { throw .last }
            length = size
        }

        func withSockaddr(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
            withUnsafePointer(to: storage) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
            }
        }

        var address: HTTP.SocketAddress {
            withUnsafeBytes(of: storage) { bytes in
                switch family {
                case AF_INET: .v4(Self.integer(bytes[4..<8]), port: Self.integer(bytes[2..<4]))
                case AF_INET6:
                    .v6(Self.integer(bytes[8..<16]), Self.integer(bytes[16..<24]), port: Self.integer(bytes[2..<4]))
                default: .unix(Self.path(bytes[2..<max(Int(length), 2)]))
                }
            }
        }

        private mutating func store<Address>(_ address: Address) {
            withUnsafeMutableBytes(of: &storage) { storage in
                withUnsafeBytes(of: address) { storage.copyMemory(from: $0) }
            }
        }

        private mutating func storePath(_ path: String) throws(Errno) {
            let bytes = Array(path.utf8)
            // A path in the file system needs its NUL; an abstract name must not have one.
            let isAbstract = bytes.first == 0
            guard bytes.count + (isAbstract ? 0 : 1) <= 108 else { throw Errno(rawValue: ENAMETOOLONG) }
            storage.ss_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &storage) { $0[2..<(2 + bytes.count)].copyBytes(from: bytes) }
            length = socklen_t(2 + bytes.count + (isAbstract ? 0 : 1))
        }

        private static func integer<Value: FixedWidthInteger>(_ bytes: Slice<UnsafeRawBufferPointer>) -> Value {
            bytes.reduce(0) { $0 << 8 | Value(truncatingIfNeeded: $1) }
        }

        private static func path(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
            let isAbstract = bytes.first == 0
            let end = isAbstract ? bytes.endIndex : bytes.firstIndex(of: 0) ?? bytes.endIndex
            return String(decoding: bytes[..<end], as: UTF8.self)
        }
    }
}

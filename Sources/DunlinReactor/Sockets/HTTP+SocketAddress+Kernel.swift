public import DunlinTypes
internal import Glibc

extension HTTP.SocketAddress {
    var family: Int32 {
        switch self {
        case .v4: AF_INET
        case .v6: AF_INET6
        case .unix: AF_UNIX
        }
    }

    /// The address as the kernel wants it, for the duration of the call.
    func withSockaddr<Result>(
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) throws(Errno) -> Result {
        switch self {
        case .v4(let address, let port):
            var value = sockaddr_in()
            value.sin_family = sa_family_t(AF_INET)
            value.sin_port = port.bigEndian
            value.sin_addr.s_addr = address.bigEndian
            return Self.rebound(&value, MemoryLayout<sockaddr_in>.size, body)
        case .v6(let high, let low, let port, let scope):
            var value = sockaddr_in6()
            value.sin6_family = sa_family_t(AF_INET6)
            value.sin6_port = port.bigEndian
            value.sin6_scope_id = scope
            withUnsafeMutableBytes(of: &value.sin6_addr) { bytes in
                bytes.storeBytes(of: high.bigEndian, as: UInt64.self)
                bytes.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
            }
            return Self.rebound(&value, MemoryLayout<sockaddr_in6>.size, body)
        case .unix(let path):
            var value = sockaddr_un()
            value.sun_family = sa_family_t(AF_UNIX)
            let isAbstract = path.utf8.first == 0
            // A path needs room for its final NUL; an abstract name has none, because its length is the address's.
            let room = MemoryLayout.size(ofValue: value.sun_path) - (isAbstract ? 0 : 1)
            guard path.utf8.count <= room, !path.isEmpty else { throw Errno(rawValue: ENAMETOOLONG) }
            withUnsafeMutableBytes(of: &value.sun_path) { $0.copyBytes(from: path.utf8) }
            let header = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
            return Self.rebound(&value, header + path.utf8.count + (isAbstract ? 0 : 1), body)
        }
    }

    private static func rebound<Value, Result>(
        _ value: inout Value, _ length: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        withUnsafePointer(to: &value) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(length)) }
        }
    }

    /// The address of a numeric host; nil if the host is a name.
    public init?(numericHost host: String, port: UInt16) {
        var four = in_addr()
        var six = in6_addr()
        if inet_pton(AF_INET, host, &four) == 1 {
            self = .v4(UInt32(bigEndian: four.s_addr), port: port)
        } else if inet_pton(AF_INET6, host, &six) == 1 {
            var value = sockaddr_in6()
            value.sin6_family = sa_family_t(AF_INET6)
            value.sin6_port = port.bigEndian
            value.sin6_addr = six
            let parsed = Self.rebound(&value, MemoryLayout<sockaddr_in6>.size) { pointer, _ in Self(kernel: pointer) }
            guard let parsed else { return nil }
            self = parsed
        } else {
            return nil
        }
    }

    /// Reads an address that the kernel or the resolver filled in.
    init?(kernel pointer: UnsafePointer<sockaddr>) {
        switch Int32(pointer.pointee.sa_family) {
        case AF_INET:
            let value = UnsafeRawPointer(pointer).loadUnaligned(as: sockaddr_in.self)
            self = .v4(UInt32(bigEndian: value.sin_addr.s_addr), port: UInt16(bigEndian: value.sin_port))
        case AF_INET6:
            let value = UnsafeRawPointer(pointer).loadUnaligned(as: sockaddr_in6.self)
            self = withUnsafeBytes(of: value.sin6_addr) { bytes in
                .v6(
                    UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                    UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
                    port: UInt16(bigEndian: value.sin6_port), scope: value.sin6_scope_id)
            }
        default:
            return nil
        }
    }
}

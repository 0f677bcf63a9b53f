internal import CEpoll
internal import DunlinReactor
internal import DunlinTypes
internal import Glibc

extension LoopbackServer {
    /// A listening socket, and the address that the kernel gave it.
    struct Listener: ~Copyable {
        let socket: Descriptor
        let address: HTTP.SocketAddress

        init(_ endpoint: Endpoint, port: UInt16 = 0, _ configuration: Configuration) throws(Errno) {
            let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
            let wanted = try RawAddress(endpoint, port: port)
            let socket = try Descriptor(adopting: Glibc.socket(wanted.family, type, 0))
            let number = socket.number
            // Somebody else holds the port, and listens no more.
            if port > 0 { try Self.set(SO_REUSEADDR, 1, number) }
            // Accepted sockets inherit these sizes.
            try Self.setSize(SO_SNDBUF, configuration.sendBuffer, number)
            try Self.setSize(SO_RCVBUF, configuration.receiveBuffer, number)
            guard wanted.withSockaddr({ bind(number, $0, $1) }) == 0 else { throw .last }
            guard listen(number, configuration.completesConnections ? configuration.backlog : 0) == 0 else {
                throw .last
            }
            let address = try RawAddress(nameOf: number).address
            self.socket = socket
            self.address = address
        }

        /// The path of the socket's file, which must be unlinked.
        var path: String? {
            guard case .unix(let path) = address, path.utf8.first != 0 else { return nil }
            return path
        }

        /// A connection to the listener itself, which the kernel completes.
        func connectToIt() throws(Errno) -> Descriptor {
            let target = try RawAddress(nameOf: socket.number)
            let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
            let client = try Descriptor(adopting: Glibc.socket(target.family, type, 0))
            guard target.withSockaddr({ connect(client.number, $0, $1) }) == 0 else { throw .last }
            return client
        }

        private static func setSize(_ option: Int32, _ size: Int?, _ socket: Int32) throws(Errno) {
            if let size { try set(option, Int32(clamping: size), socket) }
        }

        private static func set(_ option: Int32, _ value: Int32, _ socket: Int32) throws(Errno) {
            var value = value
            guard setsockopt(socket, SOL_SOCKET, option, &value, socklen_t(MemoryLayout<Int32>.size)) == 0 else {
                throw .last
            }
        }
    }
}

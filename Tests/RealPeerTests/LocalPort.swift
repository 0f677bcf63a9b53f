import Children
import Glibc
import Synchronization

/// Ports of 127.0.0.1, for programs that must be told theirs.
enum LocalPort {
    /// Below those that the kernel gives to whoever asks for any, so that nobody gets one by chance meanwhile.
    private static let range: ClosedRange<UInt16> = 20_000...30_000

    /// None is given twice, for whoever was given it may not listen there yet, or listen there again.
    private static let given = Mutex<Set<UInt16>>([])

    /// So many different ones, on which nobody listens now.
    static func free(_ count: Int) throws -> [UInt16] {
        var ports: Set<UInt16> = []
        for _ in 0..<1000 where ports.count < count {
            let port = UInt16.random(in: range)
            if try isFree(port), given.withLock({ $0.insert(port).inserted }) { ports.insert(port) }
        }
        guard ports.count == count else { throw Child.Failure(description: "no port") }
        return Array(ports)
    }

    /// Whether somebody listens there.
    static func answers(_ port: UInt16) throws -> Bool { try ask(port) { connect($0, $1, $2) == 0 } }

    private static func isFree(_ port: UInt16) throws -> Bool { try ask(port) { bind($0, $1, $2) == 0 } }

    private static func ask(
        _ port: UInt16, _ call: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Bool
    ) throws -> Bool {
        let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { throw Child.Failure(description: "no socket") }
        defer { close(number) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        address.sin_port = port.bigEndian
        return withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                call(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}

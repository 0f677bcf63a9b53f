import Dunlin
import Glibc

/// What a program sees of the network it is in, one line each. Made to be run in a network namespace of its own.
///
///     NetworkPeer watch                    statuses of any network
///     NetworkPeer watch host NAME          of a host
///     NetworkPeer watch address ADDRESS    of an address
///     NetworkPeer get URL [RULES]          one request, which waits for connectivity; RULES as `!name` and `+name`
///     NetworkPeer try URL [RULES]          one that does not wait
///     NetworkPeer serve PORT               answers everybody with the address they come from
@main
struct NetworkPeer {
    static func main() async {
        // Whoever started it may be gone without a word.
        alarm(240)
        do {
            try await run(Array(CommandLine.arguments.dropFirst()))
        } catch {
            say("failed: \(error)")
            exit(1)
        }
    }

    private static func run(_ arguments: [String]) async throws {
        switch (arguments.first, arguments.count) {
        case ("watch", 1): await watch(.shared)
        case ("watch", 3) where arguments[1] == "host": await watch(.host(arguments[2]))
        case ("watch", 3) where arguments[1] == "address":
            guard let address = HTTP.SocketAddress(arguments[2]) else { exit(2) }
            await watch(.address(address))
        case ("get", 2...): try await Getting(arguments[1], waits: true, arguments.dropFirst(2)).run()
        case ("try", 2...): try await Getting(arguments[1], waits: false, arguments.dropFirst(2)).run()
        case ("serve", 2): try Serving(port: UInt16(arguments[1]) ?? 0).run()
        default: exit(2)
        }
    }

    private static func watch(_ reachability: Reachability) async {
        for await status in reachability.statuses { say(status) }
    }
}

/// One line, at once.
func say(_ line: Any) {
    let text = "\(line)\n"
    _ = write(STDOUT_FILENO, text, text.utf8.count)
}

extension HTTP.SocketAddress {
    /// Of a literal without a port.
    fileprivate init?(_ literal: String) {
        var four = in_addr()
        var six = in6_addr()
        if inet_pton(AF_INET, literal, &four) == 1 {
            self = .v4(UInt32(bigEndian: four.s_addr), port: 0)
        } else if inet_pton(AF_INET6, literal, &six) == 1 {
            self = withUnsafeBytes(of: six) { bytes in
                .v6(
                    UInt64(bigEndian: bytes.load(as: UInt64.self)),
                    UInt64(bigEndian: bytes.load(fromByteOffset: 8, as: UInt64.self)), port: 0)
            }
        } else {
            return nil
        }
    }
}

import DunlinTypes
import Glibc
import Testing

@testable import DunlinReactor

@Suite struct `Socket options` {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let set: @Sendable (inout HTTP.SocketOptions) -> Void
    }

    private static let four = HTTP.SocketAddress.v4(0x7F00_0001, port: 1)
    private static let six = HTTP.SocketAddress.v6(0, 1, port: 1)

    static let cases = [
        Case(testDescription: "nothing") { _ in },
        Case(testDescription: "no noDelay") { $0.noDelay = false },
        Case(testDescription: "keepAlive") {
            $0.keepAlive = .init(idle: .seconds(90), interval: .seconds(7), count: 3)
        },
        Case(testDescription: "userTimeout") { $0.userTimeout = .milliseconds(12_345) },
        Case(testDescription: "services") { $0.differentiatedServices = 46 },
        Case(testDescription: "priority") { $0.priority = 5 },
        Case(testDescription: "services and priority") {
            $0.differentiatedServices = 46
            $0.priority = 2
        },
        Case(testDescription: "interface") { $0.interface = "lo" },
    ]

    @Test(arguments: cases, [false, true])
    func `socket options are what the kernel then says`(each: Case, isSix: Bool) throws {
        let peer = isSix ? Self.six : Self.four
        var options = HTTP.SocketOptions()
        each.set(&options)
        let socket = try Socket(for: peer)
        try socket.apply(options, for: peer)
        var told = try socket.options()
        told.localAddress = nil
        // A class of service brings the kernel's own priority for it along.
        if options.priority == nil { told.priority = nil }
        #expect(told == options)
    }

    @Test(arguments: [HTTP.SocketAddress.v4(0x7F00_0002, port: 0), .v6(0, 1, port: 0)])
    func `a socket binds to a local address, the port left open`(local: HTTP.SocketAddress) throws {
        var options = HTTP.SocketOptions()
        options.localAddress = local
        let socket = try Socket(for: local)
        try socket.apply(options, for: local)
        #expect(try socket.options().localAddress?.host == local.host)
    }

    @Test func `socket options leave Unix sockets alone`() throws {
        var options = HTTP.SocketOptions()
        options.interface = "no-such-device"
        options.keepAlive = .init()
        let socket = try Socket(for: .unix("/x"))
        try socket.apply(options, for: .unix("/x"))
        #expect(try socket.option(SOL_SOCKET, SO_KEEPALIVE) == 0)
    }

    @Test func `an error says which socket option failed, and why`() throws {
        var options = HTTP.SocketOptions()
        options.localAddress = .v4(0xC000_0201, port: 0)
        let socket = try Socket(for: Self.four)
        let error = #expect(throws: SocketOptionError.self) { try socket.apply(options, for: Self.four) }
        #expect(error?.errno.rawValue == EADDRNOTAVAIL)
        #expect(error?.description == "the local address 192.0.2.1:0: Cannot assign requested address")
    }

    @Test func `an error says what the process lacks for a socket option`() {
        let error = SocketOptionError(
            option: "the interface eth0", errno: Errno(rawValue: EPERM), need: "CAP_NET_RAW")
        #expect(error.description == "the interface eth0: Operation not permitted (it needs CAP_NET_RAW)")
    }
}

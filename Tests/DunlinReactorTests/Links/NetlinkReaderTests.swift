import DunlinTypes
import Testing

@testable import DunlinReactor

@Suite struct `Netlink messages` {
    typealias N = NetlinkBytes

    private static func read(_ bytes: [UInt8]) -> (messages: [NetlinkMessage], isWhole: Bool) {
        NetlinkReader.messages(in: bytes.span.bytes)
    }

    private static func contents(_ bytes: [UInt8]) -> [NetlinkMessage.Content] { read(bytes).messages.map(\.content) }

    private static let eth0 = N.link(
        index: 4, N.attribute(3, N.text("eth0")), N.attribute(16, [6]), N.attribute(0x8000 | 18, []))
    private static let vlan = N.link(
        index: 9, flags: 0x1003, N.attribute(3, N.text("wlan0.7")), N.attribute(5, N.raw(Int32(4))),
        N.attribute(18, N.attribute(1, N.text("vlan")) + N.attribute(2, [1, 2, 3])))
    private static let moved = N.link(
        index: 5, N.attribute(3, N.text("v")), N.attribute(5, N.raw(Int32(3))), N.attribute(37, N.raw(Int32(0))))

    private static let wayOut = N.route(
        family: 2, type: 1, N.attribute(1, [8, 8, 8, 8]), N.attribute(4, N.raw(Int32(4))),
        N.attribute(7, [192, 0, 2, 2]),
        N.attribute(6, N.raw(UInt32(100))))
    private static let six = N.route(
        family: 10, type: 7, N.attribute(4, N.raw(Int32(1))),
        N.attribute(7, [0xFD] + [UInt8](repeating: 0, count: 14) + [2]))

    private static let known: [([UInt8], NetlinkMessage.Content)] = [
        (N.message(N.newLink, eth0), .link(.init(index: 4, flags: 0x11043, hardware: 1, name: "eth0", state: 6))),
        (
            N.message(N.newLink, vlan),
            .link(.init(index: 9, flags: 0x1003, hardware: 1, name: "wlan0.7", maker: "vlan", lower: 4))
        ),
        // The number of a link in another namespace is none in this one.
        (N.message(N.newLink, moved), .link(.init(index: 5, flags: 0x11043, hardware: 1, name: "v"))),
        (
            N.message(N.newRoute, wayOut),
            .route(.init(family: 2, type: 1, interface: 4, source: .v4(0xC000_0202, port: 0), metric: 100))
        ),
        (
            N.message(N.newRoute, six),
            .route(.init(family: 10, type: 7, interface: 1, source: .v6(0xFD00_0000_0000_0000, 2, port: 0)))
        ),
        (N.message(N.removedLink, []), .change), (N.message(N.newAddress, [1]), .change),
        (N.message(N.newRule, []), .change), (N.message(N.overrun, []), .change),
        (N.message(N.newNeighbour, []), .other), (N.message(9999, [1, 2, 3]), .other),
        (N.message(N.error, N.raw(Int32(-101))), .answer(Errno(rawValue: 101))),
        (N.message(N.error, N.raw(Int32(0))), .answer(Errno(rawValue: 0))),
        (N.message(N.error, N.raw(Int32(5))), .answer(Errno(rawValue: 71))),
        (N.message(N.error, N.raw(Int32.min)), .answer(Errno(rawValue: 71))),
        (N.message(N.error, [1, 2]), .other), (N.message(N.done, N.raw(Int32(0))), .done),
        // Too short for what they say they are: something changed, and nothing more is known.
        (N.message(N.newLink, [0, 0, 1]), .change), (N.message(N.newRoute, []), .change),
        (N.message(N.newLink, N.link(index: 4)), .change),
        // Attributes of no sensible length end the message they are in.
        (
            N.message(N.newLink, eth0 + N.attribute(5, [9, 0, 0, 0], length: 3)),
            .link(.init(index: 4, flags: 0x11043, hardware: 1, name: "eth0", state: 6))
        ),
        (
            N.message(N.newLink, eth0 + N.attribute(5, [9, 0, 0, 0], length: 900)),
            .link(.init(index: 4, flags: 0x11043, hardware: 1, name: "eth0", state: 6))
        ),
        (
            N.message(N.newRoute, N.route(family: 2, type: 1, N.attribute(4, [1]), N.attribute(7, [1, 2, 3]))),
            .route(.init(family: 2, type: 1))
        ),
        (
            N.message(N.newRoute, N.route(family: 9, type: 1, N.attribute(7, [1, 2, 3, 4]))),
            .route(.init(family: 9, type: 1))
        ),
    ]

    @Test(arguments: known)
    func `netlink messages are read as far as they matter`(bytes: [UInt8], content: NetlinkMessage.Content) {
        let (messages, isWhole) = Self.read(bytes)
        #expect(messages.map(\.content) == [content])
        #expect(messages.first?.sequence == 7)
        #expect(isWhole)
    }

    @Test func `netlink messages that come together are told apart`() {
        let bytes = Self.known.flatMap(\.0)
        #expect(Self.contents(bytes) == Self.known.map(\.1))
        #expect(Self.read(bytes).isWhole)
        let news = Self.read(bytes).messages.count { $0.isNews }
        #expect(news == 16)
    }

    @Test(
        arguments: [
            ([], 0, true), ([1], 0, false), ([UInt8](repeating: 0, count: 16), 0, false),
            (N.message(N.done, []) + [1, 2, 3], 1, false), (N.message(N.done, [], length: 15), 0, false),
            (N.message(N.done, [], length: 17), 0, false), (N.message(N.done, [], length: .max), 0, false),
            (N.message(N.done, []) + N.message(N.done, [], length: 4000), 1, false),
            // The last need not be filled up.
            (Array(N.message(N.newAddress, [1]).prefix(17)), 1, true),
        ] as [([UInt8], Int, Bool)])
    func `a netlink message that makes no sense ends the reading`(bytes: [UInt8], count: Int, isWhole: Bool) {
        let read = Self.read(bytes)
        #expect(read.messages.count == count)
        #expect(read.isWhole == isWhole)
    }

    @Test func `netlink messages never trap, wherever they are cut or changed`() {
        var random = SystemRandomNumberGenerator()
        for (bytes, _) in Self.known {
            for end in 0...bytes.count { _ = Self.read(Array(bytes[..<end])) }
            for position in bytes.indices {
                for value: UInt8 in [0, 1, 3, 4, 0x7F, 0x80, 0xFF, .random(in: 0...255, using: &random)] {
                    var bent = bytes
                    bent[position] = value
                    #expect(Self.read(bent).messages.count <= 2)
                }
            }
        }
    }
}

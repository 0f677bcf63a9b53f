import DunlinTypes
import Glibc
import Testing

@testable import DunlinReactor

@Suite(.timeLimit(.minutes(10))) struct `A flood of netlink messages` {
    private static let news = NetlinkBytes.message(NetlinkBytes.newAddress, [])
    private static let others = NetlinkBytes.message(NetlinkBytes.newNeighbour, [])

    @Test(arguments: [news, others, [1, 2, 3]])
    func `a flood of messages is read for a bounded time, and counts as news`(bytes: [UInt8]) throws {
        var reads = 0
        let taken = try NetlinkNews.taken { (into: inout [UInt8]) throws(Errno) in
            reads += 1
            into = bytes
            return true
        }
        #expect(taken == true)
        #expect(reads == NetlinkNews.mostReads)
    }

    @Test func `a reading of messages ends where the socket has no more, or has ended`() throws {
        var left = [Self.others, Self.news, Self.others]
        let all = try NetlinkNews.taken { (into: inout [UInt8]) throws(Errno) in
            if left.isEmpty { return false }
            into = left.removeFirst()
            return true
        }
        #expect(all == true)
        let nothing = try NetlinkNews.taken { (_: inout [UInt8]) throws(Errno) in false }
        #expect(nothing == false)
        let over = try NetlinkNews.taken { (into: inout [UInt8]) throws(Errno) in
            into = []
            return true
        }
        #expect(over == nil)
        #expect(throws: Errno.self) {
            try NetlinkNews.taken { (_: inout [UInt8]) throws(Errno) in throw Errno(rawValue: ENOBUFS) }
        }
    }

    /// A far end that says what nobody asked for.
    @Test(arguments: [false, true]) func `a flood of messages that answer no question ends the question`(isDump: Bool)
        throws
    {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        try #require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
        defer { close(ends[1]) }
        let socket = Socket(adopting: ends[0])
        let bytes = NetlinkBytes.message(NetlinkBytes.newAddress, sequence: 8, [])
        for _ in 0..<12 { #expect(send(ends[1], bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count) }
        // With more to read than it may take it gives up before it has to wait.
        let error = #expect(throws: Errno.self) {
            _ = try socket.answers(
                to: NetlinkRequest.links(sequence: 7), sequence: 7, isDump: isDump, receipts: 8)
        }
        #expect(error?.rawValue == EPROTO)
    }
}

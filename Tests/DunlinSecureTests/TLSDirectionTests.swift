import DunlinTypes
import Testing

@testable import DunlinSecure

@Suite struct `The two directions of a TLS connection` {
    private static func open(_ version: TLSSettings.Version) throws -> Pair {
        var pair = try Pair(TLSContext(), Scene.peer(), `A TLS engine`.server(version))
        #expect(try pair.run() == .open)
        return pair
    }

    @Test(arguments: `A TLS engine`.versions, [true, false])
    func `an engine goes on sending after the server's end only if the directions were separated`(
        version: TLSSettings.Version, isSeparated: Bool
    ) throws {
        var pair = try Self.open(version)
        if isSeparated { pair.engine.separateDirections() }
        pair.server.close()
        #expect(try pair.run() == .closed)
        guard isSeparated else {
            #expect(throws: TLSError.closed) { try pair.send([1, 2]) }
            return
        }
        try pair.send([1, 2])
        try pair.engine.endSending(into: &pair.wire)
        pair.server.receive(pair.wire)
        #expect(pair.server.received == [1, 2] && pair.server.isClosedByPeer)
        #expect(throws: TLSError.closed) { try pair.send([3]) }
    }

    @Test(arguments: `A TLS engine`.versions)
    func `an engine that has said its end still receives, and says nothing more`(version: TLSSettings.Version) throws {
        var pair = try Self.open(version)
        pair.engine.separateDirections()
        try pair.engine.endSending(into: &pair.wire)
        try pair.run()
        #expect(pair.server.isClosedByPeer)
        pair.server.send(Array("late".utf8))
        #expect(try pair.run() == .open)
        #expect(pair.plaintext == Array("late".utf8))
        #expect(throws: TLSError.closed) { try pair.send([1]) }
        try pair.engine.endSending(into: &pair.wire)
        #expect(pair.wire.isEmpty)
        pair.server.close()
        #expect(try pair.run() == .closed)
        pair.engine.close(into: &pair.wire)
        #expect(pair.wire.isEmpty)
    }
}

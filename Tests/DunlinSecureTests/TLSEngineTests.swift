import COpenSSL
import DunlinTypes
import LedgerRows
import Testing

@testable import DunlinSecure

@Suite struct `A TLS engine` {
    static let versions: [TLSSettings.Version] = [.tls12, .tls13]

    static func server(_ version: TLSSettings.Version) throws -> TestServer {
        try Scene.server { $0.latest = version.number }
    }

    @Test(.rows("AP-19"), .rules("6455-4.1-6"), arguments: versions)
    func `a TLS engine agrees with a server, and content goes both ways`(version: TLSSettings.Version) throws {
        let trust = TestTrust()
        var pair = try Pair(TLSContext(), Scene.peer(trust: trust), Self.server(version))
        #expect(try pair.run() == .open)
        #expect(pair.engine.version == version)
        #expect(pair.engine.applicationProtocol == "http/1.1")
        #expect(pair.engine.decision == .accepted(path: []))
        #expect(pair.engine.isResumed == false)
        #expect(pair.engine.cipher?.hasPrefix("TLS_") == true)
        #expect(pair.server.serverName == "api.test")
        #expect(trust.decisions == 1)
        try pair.send(Array("request".utf8))
        try pair.run()
        #expect(pair.server.received == Array("request".utf8))
        pair.server.send(Array("response".utf8))
        try pair.run()
        #expect(pair.plaintext == Array("response".utf8))
    }

    @Test(arguments: versions, [1, 2, 3, 5, 7, 64, 1000])
    func `a TLS connection works at every cut of its bytes`(version: TLSSettings.Version, cut: Int) throws {
        var pair = try Pair(TLSContext(), Scene.peer(), Self.server(version))
        #expect(try pair.run(cut: cut, back: cut) == .open)
        let body = (0..<40_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        pair.server.send(body)
        try pair.send(body)
        try pair.run(cut: cut, back: cut)
        #expect(pair.plaintext == body)
        #expect(pair.server.received == body)
    }

    /// Whoever uses the connection for another request must know: the rest would come out as its answer.
    @Test(arguments: versions)
    func `a TLS engine tells of an unread record wherever it is cut`(version: TLSSettings.Version) throws {
        var pair = try Pair(TLSContext(), Scene.peer(), Self.server(version))
        #expect(try pair.run() == .open)
        var isWithinRecord = pair.engine.isWithinRecord
        #expect(!isWithinRecord)
        pair.server.send(Array("response".utf8))
        pair.server.advance()
        let record = pair.server.takeOutput()
        for (count, byte) in record.enumerated() {
            isWithinRecord = pair.engine.isWithinRecord
            #expect(isWithinRecord == (count > 0), "\(count) of \(record.count)")
            try pair.deliver([byte])
        }
        isWithinRecord = pair.engine.isWithinRecord
        #expect(!isWithinRecord)
        #expect(pair.plaintext == Array("response".utf8))
    }

    @Test(arguments: versions)
    func `a handshake may be cut in two anywhere`(version: TLSSettings.Version) throws {
        let server = try Self.server(version)
        var whole = try Pair(TLSContext(), Scene.peer(), server)
        try whole.run()
        // Byte by byte all cuts are made at once, above; each alone would take seconds.
        for cut in stride(from: 1, to: whole.sent.count, by: 11) {
            // A context of its own: no session of an earlier cut is resumed.
            var pair = try Pair(TLSContext(), Scene.peer(), server)
            #expect(try pair.run(cut: cut) == .open)
        }
    }

    @Test(arguments: versions)
    func `a handshake fails wherever the stream ends in it`(version: TLSSettings.Version) throws {
        let server = try Self.server(version)
        var pair = try Pair(TLSContext(), Scene.peer(), server)
        _ = try pair.engine.start(into: &pair.wire)
        pair.server.receive(pair.wire)
        let flight = pair.server.takeOutput()
        for end in stride(from: 0, to: flight.count, by: 3) {
            var cut = try Pair(TLSContext(), Scene.peer(), server)
            _ = try cut.engine.start(into: &cut.wire)
            // Another connection's answer: right up to where its keys would be needed.
            do {
                try cut.deliver(Array(flight[..<end]))
                try cut.engine.receiveEnd()
                Issue.record("the end after \(end) bytes went unnoticed")
            } catch {
                if end == 0 { #expect(error == .endedDuringHandshake(afterFirstByte: false)) }
            }
        }
    }

    @Test(arguments: versions)
    func `a TLS engine tells a response that is whole from one that was cut off`(version: TLSSettings.Version) throws {
        let server = try Self.server(version)
        let context = try TLSContext()
        var pair = try Pair(context, Scene.peer(), server)
        try pair.run()
        pair.server.send(Array("all of it".utf8))
        pair.server.close()
        let last = pair.server.takeOutput()
        for end in last.indices {
            var cut = try Pair(context, Scene.peer(), server)
            try cut.run()
            cut.server.send(Array("all of it".utf8))
            cut.server.close()
            try cut.deliver(Array(cut.server.takeOutput()[..<end]))
            #expect(throws: TLSError.truncated) { try cut.engine.receiveEnd() }
            #expect(throws: TLSError.truncated) { try cut.engine.receiveEnd() }
        }
        try pair.deliver(last)
        #expect(pair.engine.status == .closed)
        #expect(pair.plaintext == Array("all of it".utf8))
        try pair.engine.receiveEnd()
    }

    @Test(arguments: versions)
    func `a TLS engine that is closed says so to the server, and is silent after`(version: TLSSettings.Version) throws {
        var pair = try Pair(TLSContext(), Scene.peer(), Self.server(version))
        try pair.run()
        pair.engine.close(into: &pair.wire)
        #expect(!pair.wire.isEmpty)
        pair.server.receive(pair.wire)
        #expect(pair.server.isClosedByPeer)
        pair.wire = []
        pair.engine.close(into: &pair.wire)
        #expect(pair.wire.isEmpty)
        #expect(throws: TLSError.closed) { try pair.send([1]) }
        try pair.deliver([1, 2, 3])
        #expect(pair.plaintext.isEmpty)
    }

    @Test(arguments: versions)
    func `a TLS engine carries megabytes in one call each way`(version: TLSSettings.Version) throws {
        var pair = try Pair(TLSContext(), Scene.peer(), Self.server(version))
        try pair.run()
        let body = (0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try pair.send(body)
        pair.server.receive(pair.wire)
        pair.wire = []
        #expect(pair.server.received == body)
        pair.server.send(body)
        try pair.run()
        #expect(pair.plaintext == body)
    }

    @Test func `a TLS engine sends no server name when the host is an address`() throws {
        var pair = try Pair(TLSContext(), Scene.peer { $0.serverName = nil }, Scene.server())
        #expect(try pair.run() == .open)
        #expect(pair.server.serverName == nil)
    }

    @Test func `a handshake succeeds when the server chooses no application protocol`() throws {
        var pair = try Pair(TLSContext(), Scene.peer(), Scene.server { $0.applicationProtocol = nil })
        #expect(try pair.run() == .open)
        #expect(pair.engine.applicationProtocol == nil)
    }

    @Test func `a TLS engine follows key updates, and answers them with its next record`() throws {
        var pair = try Pair(TLSContext(), Scene.peer(), Scene.server())
        try pair.run()
        for asking in [false, true, true] {
            pair.server.updateKeys(asking: asking)
            pair.server.send(Array("new keys".utf8))
            try pair.run()
            try pair.send(Array("mine too".utf8))
            try pair.run()
        }
        #expect(pair.plaintext.count == 24)
        #expect(pair.server.received.count == 24)
    }
}

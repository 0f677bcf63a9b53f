import COpenSSL
import DunlinTesting
import DunlinTypes
import LedgerRows
import Testing

@testable import DunlinSecure

@Suite struct `A TLS error` {
    static let record: [UInt8] = [21, 3, 3, 0, 2, 2]

    @Test(arguments: TLSAlert.known.keys.sorted().filter { $0 != 0 && $0 != 90 && $0 != 100 && $0 != 116 })
    func `a TLS error names the alert that the server sent`(code: UInt8) throws {
        var pair = try Pair(TLSContext(), Scene.peer(), Scene.server())
        _ = try pair.engine.start(into: &pair.wire)
        let error = #expect(throws: TLSError.self) { try pair.deliver(Self.record + [code]) }
        #expect(error == .alert(TLSAlert(code: code)))
        #expect(error?.description.contains(TLSAlert(code: code).name) == true)
        #expect(throws: TLSError.alert(TLSAlert(code: code))) { try pair.deliver([1]) }
    }

    @Test(arguments: [
        (TLSSettings.Version.tls12, TLSSettings.Version.tls13), (.tls13, .tls12),
    ])
    func `a TLS error says when versions do not overlap`(ours: TLSSettings.Version, theirs: TLSSettings.Version) throws
    {
        var settings = TLSSettings()
        settings.versions = ours...ours
        let server = try Scene.server {
            $0.oldest = theirs.number
            $0.latest = theirs.number
        }
        var pair = try Pair(TLSContext(settings), Scene.peer(), server)
        let error = #expect(throws: TLSError.self) { try pair.run() }
        #expect(error == .alert(.protocolVersion))
        #expect(error?.description.contains("speaks none of the TLS versions offered") == true)
    }

    @Test func `a TLS error says when a server answers in a version that was not offered`() throws {
        var pair = try Pair(TLSContext(), Scene.peer(), Scene.server())
        _ = try pair.engine.start(into: &pair.wire)
        // A ServerHello of TLS 1.0.
        let hello: [UInt8] = [2, 0, 0, 38, 3, 1] + [UInt8](repeating: 7, count: 32) + [0, 0xC0, 0x13, 0]
        let error = #expect(throws: TLSError.self) {
            try pair.deliver([22, 3, 1, 0, UInt8(hello.count)] + hello)
        }
        guard case .versionMismatch = error else {
            Issue.record("\(error as Any)")
            return
        }
    }

    @Test(arguments: [
        "HTTP/1.1 400 Bad Request\r\n\r\n", "SSH-2.0-OpenSSH_9.2\r\n", "220 mail.test ESMTP\r\n", "\0\0\0\0\0\0\0\0",
    ])
    func `a TLS error says when the server does not speak TLS`(greeting: String) throws {
        for cut in [1, 3, .max] {
            var pair = try Pair(TLSContext(), Scene.peer(), Scene.server())
            _ = try pair.engine.start(into: &pair.wire)
            #expect(throws: TLSError.notTLS) { try pair.deliver(Array(greeting.utf8), cut: cut) }
        }
    }

    @Test func `a TLS error says when no cipher is shared`() throws {
        let server = try Scene.server {
            $0.latest = TLS1_2_VERSION
            $0.ciphers = "AES128-SHA"
        }
        var pair = try Pair(TLSContext(), Scene.peer(), server)
        #expect(throws: TLSError.alert(.handshakeFailure)) { try pair.run() }
    }

    @Test(.rows("AP-19")) func `a TLS error says when the server chose an application protocol that was not offered`()
        throws
    {
        var pair = try Pair(TLSContext(), Scene.peer(), Scene.server { $0.applicationProtocol = "h2" })
        let error = #expect(throws: TLSError.self) { try pair.run() }
        guard case .protocolViolation = error else {
            Issue.record("\(error as Any)")
            return
        }
    }

    @Test(arguments: [TLSSettings.Version.tls12, .tls13])
    func `a TLS error says when a record was changed on the way, whichever byte it is`(version: TLSSettings.Version)
        throws
    {
        let context = try TLSContext()
        let server = try Scene.server { $0.latest = version.number }
        for position in 0..<40 {
            var pair = try Pair(context, Scene.peer(), server)
            try pair.run()
            pair.server.send([UInt8](repeating: 65, count: 64))
            var record = pair.server.takeOutput()
            record[position] ^= 0x40
            do {
                try pair.deliver(record)
                // A longer record than was sent: the rest never comes.
                try pair.engine.receiveEnd()
                Issue.record("byte \(position) went unnoticed")
            } catch {
                #expect(pair.plaintext.isEmpty)
                switch error {
                case .badRecord, .truncated, .protocolViolation, .versionMismatch: break
                default: Issue.record("byte \(position): \(error)")
                }
            }
        }
    }

    @Test(arguments: [TLSSettings.Version.tls12, .tls13])
    func `a change to a handshake's authenticated bytes leads to an error, never to a connection`(
        version: TLSSettings.Version
    ) throws {
        var settings = TLSSettings()
        settings.resumes = false
        let context = try TLSContext(settings)
        let server = try Scene.server { $0.latest = version.number }
        var whole = try Pair(context, Scene.peer(), server)
        _ = try whole.engine.start(into: &whole.wire)
        whole.server.receive(whole.wire)
        let length = whole.server.takeOutput().count
        // A bit in every fifth byte, which are others each time: all of them would take seconds.
        for position in stride(from: Int.random(in: 0..<5), to: length, by: 5) {
            var pair = try Pair(context, Scene.peer(), server)
            _ = try pair.engine.start(into: &pair.wire)
            pair.server.receive(pair.wire)
            pair.wire = []
            var flight = pair.server.takeOutput()
            if position >= flight.count { continue }
            let isVersion = Self.versionBytes(of: flight).contains(position)
            flight[position] ^= UInt8(1 << (position % 8))
            do {
                try pair.deliver(flight)
                // Lengths may be wrong in a way that waits for more, and in TLS 1.2 the Finished tells.
                try pair.run()
                if pair.engine.status == .open, pair.server.isOpen {
                    // What stands in the header of a clear-text record is not authenticated (RFC 8446 §5.1).
                    #expect(isVersion, "byte \(position)")
                } else {
                    try pair.engine.receiveEnd()
                    Issue.record("byte \(position) went unnoticed")
                }
            } catch {
                #expect(pair.plaintext.isEmpty)
            }
        }
    }

    /// Where the records' versions stand.
    private static func versionBytes(of records: [UInt8]) -> Set<Int> {
        var offsets: Set<Int> = []
        var start = 0
        while start + 4 < records.count {
            offsets.formUnion([start + 1, start + 2])
            start += 5 + Int(records[start + 3]) << 8 + Int(records[start + 4])
        }
        return offsets
    }

    @Test func `a flood of key updates is refused`() throws {
        var pair = try Pair(TLSContext(), Scene.peer(), Scene.server())
        try pair.run()
        for _ in 0..<500 { pair.server.updateKeys(asking: true) }
        let error = #expect(throws: TLSError.self) { try pair.run() }
        guard case .flood = error else {
            Issue.record("\(error as Any)")
            return
        }
    }

    @Test func `many key updates with content between them are no error`() throws {
        var pair = try Pair(TLSContext(), Scene.peer(), Scene.server())
        try pair.run()
        for _ in 0..<500 {
            pair.server.updateKeys(asking: true)
            pair.server.send([1])
        }
        try pair.run()
        #expect(pair.plaintext.count == 500)
    }

    @Test func `a request to renegotiate is declined, and the connection stays open`() throws {
        var pair = try Pair(TLSContext(), Scene.peer(), Scene.server { $0.latest = TLS1_2_VERSION })
        try pair.run()
        pair.server.renegotiate()
        try pair.deliver(pair.server.takeOutput())
        #expect(pair.engine.status == .open)
        #expect(!pair.wire.isEmpty)
    }

    /// OpenSSL's server takes that for the end, with the alert that else means that no cipher is shared.
    @Test func `a TLS error says that the server ended the connection over a refused renegotiation`() throws {
        var pair = try Pair(TLSContext(), Scene.peer(), Scene.server { $0.latest = TLS1_2_VERSION })
        try pair.run()
        pair.server.renegotiate()
        #expect(throws: TLSError.renegotiationRefused) { try pair.run() }
        #expect("\(TLSError.renegotiationRefused)".contains("renegotiate"))
    }

    @Test func `an error of another connection does not count`() throws {
        var failing = try Pair(TLSContext(), Scene.peer(), Scene.server())
        var pair = try Pair(TLSContext(), Scene.peer(), Scene.server())
        _ = try failing.engine.start(into: &failing.wire)
        #expect(throws: TLSError.self) { try failing.deliver([22, 3, 3, 0, 4, 9, 9, 9, 9]) }
        dunlin_raise(SSL_R_BAD_LENGTH)
        #expect(try pair.run() == .open)
        dunlin_raise(SSL_R_BAD_LENGTH)
        pair.server.send([1, 2, 3])
        let answer = pair.server.takeOutput()
        dunlin_raise(SSL_R_BAD_LENGTH)
        try pair.deliver(answer)
        #expect(pair.plaintext == [1, 2, 3])
        #expect(ERR_peek_error() == 0)
    }

    @Test func `a TLS error says which setting cannot be used`() {
        let changes: [(String, (inout TLSSettings) -> Void)] = [
            ("ciphers", { $0.ciphers = "no such thing" }), ("groups", { $0.groups = "no such thing" }),
            ("suites", { $0.suites = "no such thing" }),
        ]
        for (name, change) in changes {
            var settings = TLSSettings()
            change(&settings)
            let error = #expect(throws: TLSError.self) { _ = try TLSContext(settings) }
            #expect(error?.description.contains("`tls.\(name)` is \"no such thing\"") == true)
        }
    }

    @Test func `an application protocol whose name does not fit is refused`() {
        for name in ["", String(repeating: "x", count: 256)] {
            var settings = TLSSettings()
            settings.applicationProtocols = [name]
            #expect(throws: TLSError.self) { _ = try TLSContext(settings) }
        }
    }
}

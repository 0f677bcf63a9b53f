import DunlinTypes
import DunlinWire
import LedgerRows
import Testing

@Suite struct `A WebSocket handshake` {
    /// The example of RFC 6455 §1.3: the key's bytes, and the SHA-1 of its text with the protocol's own.
    static let key: Bytes = "the sample nonce"
    static let hash = Bytes([
        0xB3, 0x7A, 0x4F, 0x2C, 0xC0, 0x62, 0x4F, 0x16, 0x90, 0xF6, 0x46, 0x06, 0xCF, 0x38, 0x59, 0x45, 0xB2, 0xBE,
        0xC4,
        0xEA,
    ])

    static func head(_ status: HTTP.Status = 101, _ change: (inout Fields) -> Void = { _ in }) -> ResponseHead {
        var fields: Fields = [
            "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Accept": "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
        ]
        change(&fields)
        return ResponseHead(status: status, fields: fields)
    }

    static func handshake(
        _ subprotocols: [String] = [], _ deflate: WebSocketDeflate.Offer? = nil
    ) throws -> WebSocketHandshake {
        try WebSocketHandshake(key: key, subprotocols: subprotocols, deflate: deflate)
    }

    @Test(.rules("6455-4.1-11", "6455-4.1-21")) func `the RFC's example opens a connection`() throws {
        let handshake = try Self.handshake()
        #expect(
            handshake.fields == ["Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="])
        #expect(handshake.hashedText == "dGhlIHNhbXBsZSBub25jZQ==258EAFA5-E914-47DA-95CA-C5AB0DC85B11")
        #expect(try handshake.agreement(with: Self.head(), hash: Self.hash) == WebSocketHandshake.Agreement())
    }

    @Test(.rules("9110-5.6.1-1", "6455-4.1-15", "6455-4.1-16")) func `subprotocols and compression are offered`() throws
    {
        let fields = try Self.handshake(["chat.v2", "chat"], WebSocketDeflate.Offer()).fields
        #expect(fields["Sec-WebSocket-Protocol"] == "chat.v2, chat")
        #expect(fields["Sec-WebSocket-Extensions"] == "permessage-deflate; client_max_window_bits")
    }

    @Test(.rules("6455-4.1-11"), arguments: [0, 15, 17])
    func `a key has 16 bytes`(count: Int) {
        #expect(throws: WebSocketHandshakeError.invalidKey) {
            try WebSocketHandshake(key: Bytes([UInt8](repeating: 1, count: count)))
        }
    }

    @Test(.rules("6455-4.1-15"), arguments: [["a", "a"], [""], ["a b"], ["a,b"], ["\u{E4}"], ["a\r\nX: y"]])
    func `subprotocols are tokens, and each is offered once`(subprotocols: [String]) {
        #expect(throws: WebSocketHandshakeError.invalidSubprotocol) { try Self.handshake(subprotocols) }
    }

    @Test func `the key is in no description`() throws {
        var dumped = ""
        dump(try Self.handshake(), to: &dumped)
        #expect(!dumped.contains("dGhl"))
    }

    struct Change: Sendable, CustomTestStringConvertible {
        let name: String
        let value: String?
        let error: WebSocketHandshakeError?

        init(_ name: String, _ value: String?, _ error: WebSocketHandshakeError?) {
            self.name = name
            self.value = value
            self.error = error
        }

        var testDescription: String { "\(name): \(value ?? "missing")" }
    }

    static let changes: [Change] = [
        Change("Upgrade", "WebSocket", nil), Change("Upgrade", nil, .wrongUpgrade),
        Change("Upgrade", "h2c", .wrongUpgrade), Change("Upgrade", "websocket, h2c", .wrongUpgrade),
        Change("Upgrade", "websocket/13", .wrongUpgrade), Change("Upgrade", "WEBSOC\u{212A}ET", .wrongUpgrade),
        Change("Connection", "upgrade", nil), Change("Connection", "keep-alive, Upgrade", nil),
        Change("Connection", nil, .missingConnectionUpgrade),
        Change("Connection", "keep-alive", .missingConnectionUpgrade),
        Change("Connection", "upgraded", .missingConnectionUpgrade),
        Change("Sec-WebSocket-Accept", nil, .wrongAccept), Change("Sec-WebSocket-Accept", "", .wrongAccept),
        Change("Sec-WebSocket-Accept", "S3PPLMBITXAQ9KYGZZHZRBK+XOO=", .wrongAccept),
        Change("Sec-WebSocket-Accept", "dGhlIHNhbXBsZSBub25jZQ==", .wrongAccept),
        Change("Sec-WebSocket-Accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=, x", .wrongAccept),
        Change("Sec-WebSocket-Protocol", "chat", .subprotocolNotOffered),
        Change("Sec-WebSocket-Extensions", "permessage-deflate", .extensionNotOffered),
        Change("Sec-WebSocket-Extensions", "", nil), Change("Sec-WebSocket-Version", "13", nil),
    ]

    @Test(.rules("6455-4.1-19", "6455-4.1-20", "6455-4.1-21", "6455-4.1-22"), arguments: changes)
    func `each field of the answer is checked`(change: Change) throws {
        let head = Self.head { $0[change.name] = change.value }
        let handshake = try Self.handshake()
        guard let error = change.error else {
            _ = try handshake.agreement(with: head, hash: Self.hash)
            return
        }
        #expect(throws: error) { try handshake.agreement(with: head, hash: Self.hash) }
    }

    @Test(.rules("6455-4.1-21")) func `an answer to another key is refused`() throws {
        let other = try WebSocketHandshake(key: Bytes([UInt8](repeating: 1, count: 16)))
        #expect(throws: WebSocketHandshakeError.wrongAccept) {
            try other.agreement(with: Self.head(), hash: Bytes([UInt8](repeating: 0, count: 20)))
        }
    }

    @Test(.rules("6455-4.1-25")) func `a repeated Sec-WebSocket-Accept is refused`() throws {
        let head = Self.head { $0.append(name: "sec-websocket-accept", value: "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=") }
        #expect(throws: WebSocketHandshakeError.wrongAccept) {
            try Self.handshake().agreement(with: head, hash: Self.hash)
        }
    }

    @Test(
        .rules("6455-4.1-23", "6455-4.1-25"),
        arguments: [
            (["b"], WebSocketHandshakeError?.none), (["B"], .subprotocolNotOffered), (["c"], .subprotocolNotOffered),
            (["a, b"], .severalSubprotocols), (["a", "b"], .severalSubprotocols), (["b", "b"], .severalSubprotocols),
            ([""], .subprotocolNotOffered),
        ])
    func `the server chooses one subprotocol of those that were offered`(
        chosen: [String], error: WebSocketHandshakeError?
    ) throws {
        let head = Self.head { fields in chosen.forEach { fields.append(name: "Sec-WebSocket-Protocol", value: $0) } }
        let handshake = try Self.handshake(["a", "b"])
        if let error {
            #expect(throws: error) { try handshake.agreement(with: head, hash: Self.hash) }
        } else {
            #expect(try handshake.agreement(with: head, hash: Self.hash).subprotocol == "b")
        }
    }

    @Test func `the server need not choose a subprotocol or agree on compression`() throws {
        let agreement = try Self.handshake(["a"], WebSocketDeflate.Offer()).agreement(
            with: Self.head(), hash: Self.hash)
        #expect(agreement == WebSocketHandshake.Agreement())
    }

    @Test(
        .rules("6455-4.4-1"),
        arguments: [
            (200, [], []), (426, ["13"], [13]), (400, ["13, 8", "7"], [13, 8, 7]), (400, ["x, 9999, -1, 13"], [13]),
        ] as [(Int, [String], [Int])])
    func `another status than 101 is told with the versions that the server supports`(
        status: Int, fields: [String], versions: [Int]
    ) throws {
        let head = Self.head(HTTP.Status(status)) { head in
            fields.forEach { head.append(name: "Sec-WebSocket-Version", value: $0) }
        }
        #expect(throws: WebSocketHandshakeError.notSwitched(HTTP.Status(status), versions: versions)) {
            try Self.handshake().agreement(with: head, hash: Self.hash)
        }
    }
}

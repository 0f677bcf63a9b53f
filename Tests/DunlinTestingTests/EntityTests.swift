import DunlinTesting
import DunlinTypes
import Folders
import Testing

@Suite(.timeLimit(.minutes(10))) struct `An entity` {
    typealias Entity = LoopbackServer.Entity

    private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    private static let thousand = Entity(length: 1000, tag: "\"a\"", lastModified: date)

    /// Range and If-Range; what comes, and from which bytes.
    private static let asked: [(String?, String?, HTTP.Status, Range<Int>)] = [
        (nil, nil, .ok, 0..<1000), ("bytes=0-", nil, .partialContent, 0..<1000),
        ("bytes=10-19", nil, .partialContent, 10..<20), ("bytes=990-5000", nil, .partialContent, 990..<1000),
        ("bytes=-10", nil, .partialContent, 990..<1000), ("bytes=-5000", nil, .partialContent, 0..<1000),
        ("BYTES=999-", nil, .partialContent, 999..<1000), ("bytes=1000-", nil, 416, 0..<0),
        ("bytes=-0", nil, 416, 0..<0), ("bytes=5-4", nil, .ok, 0..<1000), ("bytes=1-2,4-5", nil, .ok, 0..<1000),
        ("bytes=+1-2", nil, .ok, 0..<1000), ("bytes=99999999999999999999-", nil, .ok, 0..<1000),
        ("bytes=9223372036854775807-", nil, .ok, 0..<1000), ("bytes=-", nil, .ok, 0..<1000),
        ("lines=1-2", nil, .ok, 0..<1000), ("bytes=1", nil, .ok, 0..<1000),
        ("bytes=500-", "\"a\"", .partialContent, 500..<1000), ("bytes=500-", "\"b\"", .ok, 0..<1000),
        ("bytes=500-", "W/\"a\"", .ok, 0..<1000), ("bytes=500-", date, .partialContent, 500..<1000),
        ("bytes=500-", "Sun, 06 Nov 1994 08:49:38 GMT", .ok, 0..<1000),
    ]

    @Test(arguments: asked)
    func `an entity answers ranges as HTTP demands`(
        range: String?, condition: String?, status: HTTP.Status, body: Range<Int>
    ) async throws {
        let answer = try await Answer(of: Self.thousand, range: range, condition: condition)
        #expect(answer.status == status)
        #expect(answer.body == LoopbackServer.GeneratedBody.bytes(body).array)
        switch status {
        case .partialContent:
            #expect(answer.fields["Content-Range"] == "bytes \(body.lowerBound)-\(body.upperBound - 1)/1000")
        case 416: #expect(answer.fields["Content-Range"] == "bytes */1000")
        default: #expect(answer.fields["Content-Range"] == nil)
        }
        guard status != 416 else { return }
        #expect(answer.fields["ETag"] == "\"a\"")
        #expect(answer.fields["Last-Modified"] == Self.date)
        #expect(answer.fields["Accept-Ranges"] == "bytes")
    }

    @Test func `a weak tag never brings a part`() async throws {
        let entity = Entity(length: 9, tag: "W/\"a\"")
        for condition in ["W/\"a\"", "\"a\""] {
            let answer = try await Answer(of: entity, range: "bytes=1-", condition: condition)
            #expect(answer.status == .ok)
        }
    }

    @Test func `an entity without ranges says so, and is always sent whole`() async throws {
        let answer = try await Answer(of: Entity(length: 9, hasRanges: false), range: "bytes=1-")
        #expect(answer.status == .ok && answer.body.count == 9)
        #expect(answer.fields["Accept-Ranges"] == "none")
    }

    @Test func `an entity answers HEAD without a body, and without a part`() async throws {
        let answer = try await Answer(of: Self.thousand, method: "HEAD", range: "bytes=1-")
        #expect(answer.status == .ok && answer.body.isEmpty)
        #expect(answer.fields["Content-Length"] == "1000")
    }

    /// What comes of two requests for bytes from 200 on, by the faults.
    private static let faults: [([LoopbackServer.EntityFault], [Answer.Short])] = [
        ([], [.init(.partialContent, 200..<1000), .init(.partialContent, 200..<1000)]),
        ([.reset(after: 50)], [.init(.partialContent, 200..<250), .init(.partialContent, 200..<1000)]),
        ([.none, .short(after: 0)], [.init(.partialContent, 200..<1000), .init(.partialContent, 200..<200)]),
        ([.rangeIgnored], [.init(.ok, 0..<1000), .init(.partialContent, 200..<1000)]),
        ([.rangeShifted(by: 3)], [.init(.partialContent, 203..<1000), .init(.partialContent, 200..<1000)]),
        ([.rangeSaid("bytes 0-799/800")], [.init(.partialContent, 200..<1000), .init(.partialContent, 200..<1000)]),
        ([.status(503), .drip(size: 100)], [.init(503, 0..<0), .init(.partialContent, 200..<1000)]),
        ([.none, .changed], [.init(.partialContent, 200..<1000), .init(.partialContent, 201..<1001)]),
        ([.changed, .none], [.init(.partialContent, 201..<1001), .init(.partialContent, 201..<1001)]),
    ]

    @Test(arguments: faults)
    func `an entity is served with the fault of each turn`(
        faults: [LoopbackServer.EntityFault], expected: [Answer.Short]
    ) async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.serve(Self.thousand, at: "/e", faults: faults)
        for short in expected {
            let answer = try Answer(from: server, range: "bytes=200-")
            #expect(answer.status == short.status)
            #expect(answer.body == LoopbackServer.GeneratedBody.bytes(short.body).array)
        }
    }

    @Test func `an entity may stall after so many bytes of its body`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.serve(Self.thousand, at: "/e", faults: .stall(after: 7))
        let peer = try Peer(server.address)
        peer.send(Answer.request(range: nil))
        let head = Self.thousand.whole.headLength
        try await server.wait { $0.bytesSent == head + 7 }
        #expect(server.openConnections == 1)
    }

    @Test func `an entity of another content has other validators`() {
        let changed = Self.thousand.changed
        #expect(changed.tag == "\"a+\"" && changed.lastModified != Self.date)
        #expect(changed.bytes != Self.thousand.bytes && changed.length == 1000)
        #expect(Entity(length: 1).changed.tag == nil)
    }
}

@Suite struct `A file that should be generated` {
    private static let files: [([UInt8], Int?)] = [
        ([], 0), (Array(5..<9), 4), (Array(5..<10), nil), (Array(5..<11), 5), ([5, 6, 0, 8, 9], 2), ([0], 0),
    ]

    @Test(arguments: files)
    func `a file differs where its first wrong byte is`(bytes: [UInt8], index: Int?) throws {
        try Self.withFile(bytes) { path in
            let found = try LoopbackServer.GeneratedBody.difference(ofFileAt: path, from: 5..<10)
            #expect(found == index)
        }
    }

    @Test(arguments: [0, 1, 131_071, 600_000, 999_999])
    func `a file differs wherever it is damaged`(index: Int) throws {
        var bytes = LoopbackServer.GeneratedBody.bytes(7..<1_000_007).array
        try Self.withFile(bytes) { path in
            let found = try LoopbackServer.GeneratedBody.difference(ofFileAt: path, from: 7..<1_000_007)
            #expect(found == nil)
        }
        bytes[index] ^= 1
        try Self.withFile(bytes) { path in
            let found = try LoopbackServer.GeneratedBody.difference(ofFileAt: path, from: 7..<1_000_007)
            #expect(found == index)
        }
    }

    @Test func `a generated file that does not exist is an error`() {
        #expect(throws: (any Error).self) {
            try LoopbackServer.GeneratedBody.difference(ofFileAt: "/nowhere/at/all", from: 0..<1)
        }
    }

    private static func withFile(_ bytes: [UInt8], _ body: (String) throws -> Void) throws {
        let folder = try Folder()
        try body(try folder.write(bytes, as: "generated"))
    }
}

/// What a server said, read as plainly as can be.
struct Answer {
    struct Short: Sendable {
        let status: HTTP.Status
        let body: Range<Int>

        init(_ status: HTTP.Status, _ body: Range<Int>) {
            self.status = status
            self.body = body
        }
    }

    let status: HTTP.Status
    var fields: [String: String] = [:]
    let body: [UInt8]

    static func request(_ method: String = "GET", range: String?, condition: String? = nil) -> Bytes {
        let range = range.map { "Range: \($0)\r\n" } ?? ""
        let condition = condition.map { "If-Range: \($0)\r\n" } ?? ""
        return Bytes("\(method) /e HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\(range)\(condition)\r\n")
    }

    init(
        of entity: LoopbackServer.Entity, method: String = "GET", range: String?, condition: String? = nil
    ) async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.serve(entity, at: "/e")
        try self.init(from: server, method: method, range: range, condition: condition)
    }

    init(
        from server: LoopbackServer, method: String = "GET", range: String?, condition: String? = nil
    ) throws {
        let peer = try Peer(server.address)
        peer.send(Self.request(method, range: range, condition: condition))
        let (bytes, _) = peer.readBytes(upTo: .max)
        let end = try #require(bytes.indices.first { bytes[$0...].starts(with: "\r\n\r\n".utf8) })
        let lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n")
        status = try #require(Int(lines[0].split(separator: " ")[1]).map { HTTP.Status($0) })
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            fields[String(parts[0])] = String(parts[1].dropFirst())
        }
        body = Array(bytes[(end + 4)...])
    }
}

extension LoopbackServer.Reply {
    fileprivate var headLength: Int {
        guard case .message(let message)? = steps.first else { return 0 }
        return message.bytes.count
    }
}

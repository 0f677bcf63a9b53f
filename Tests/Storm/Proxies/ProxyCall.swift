import Dunlin
import DunlinTesting

/// One request through a proxy: all of it follows from the seed and its number, and the origin reads it from the
/// target.
struct ProxyCall: Sendable {
    enum Scheme: String, CaseIterable {
        case http, socks5, socks5h
    }

    /// What the proxy is told of who asks.
    enum Login: Equatable {
        case right, wrong, none
    }

    let number: Int
    let length: Int
    let uploadCount: Int
    private(set) var scheme = Scheme.http
    private(set) var isSecure = false
    private(set) var login = Login.right
    private(set) var cancel = PlannedCall.Cancel.never
    /// The body of the request is a stream whose length nobody knows.
    private(set) var isChunked = false
    /// Reads the body piece by piece.
    private(set) var isStreamed = false
    /// What the proxy does wrong next, to this request or another.
    private(set) var fault = LoopbackProxy.Fault.none

    private static let largest = 64 << 10
    /// Every body is a part of this, at an offset that tells bodies of different requests apart. The proxy reads as
    /// text what it forwards.
    private static let source = Bytes((0..<(largest + 100)).map { UInt8(ascii: "!") + UInt8($0 % 89) })

    init(_ number: Int, seed: UInt64) {
        var dice = SeededGenerator(seed: seed &+ UInt64(number) &* 0x1_0000_0001)
        self.number = number
        length = dice.next(below: 100) < 90 ? dice.next(below: 1000) : dice.next(below: Self.largest)
        uploadCount =
            switch dice.next(below: 100) {
            case 0..<10: dice.next(below: 4000)
            case 10..<14: dice.next(below: Self.largest)
            default: 0
            }
        isChunked = dice.next(below: 3) == 0
        isStreamed = dice.next(below: 4) == 0
        isSecure = dice.next(below: 2) == 0
        if dice.next(below: 2) == 0 { scheme = Scheme.allCases[dice.next(below: 3)] }
        switch dice.next(below: 100) {
        case 0..<3: login = .wrong
        case 3..<5: login = .none
        default: break
        }
        switch dice.next(below: 100) {
        case 0..<5: cancel = .task(.microseconds(dice.next(below: 20_000)))
        case 5..<10: cancel = .handle(.microseconds(dice.next(below: 20_000)))
        default: break
        }
        if dice.next(below: 100) < 12 { fault = Self.fault(&dice) }
    }

    private static func fault(_ dice: inout SeededGenerator) -> LoopbackProxy.Fault {
        let count = dice.next(below: 60)
        switch dice.next(below: 8) {
        case 0: return .close(after: count)
        case 1: return .reset(after: count)
        case 2: return .stall(after: count)
        case 3: return .drip
        case 4: return .say(words[dice.next(below: words.count)])
        case 5: return .add("\u{15}\u{3}\u{3}\u{0}\u{2}\u{2}\u{28}")
        default: return .sayAndClose(words[dice.next(below: words.count)])
        }
    }

    /// What no proxy should say, or no proxy of ours says of itself. What comes behind an answer, a 298, may never be
    /// taken for one.
    private static let words: [Bytes] = [
        "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 3\r\n\r\nbad",
        "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 3\r\n\r\nbadHTTP/1.1 298 Surplus\r\nContent-Length: 2\r\n\r\nno",
        "HTTP/1.1 403 Forbidden\r\nContent-Length: 1000\r\n\r\nshort",
        "HTTP/1.1 407 Who\r\nProxy-Authenticate: Digest realm=r, nonce=n, qop=auth\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 407 Who\r\nProxy-Authenticate: Negotiate\r\nConnection: close\r\n\r\nwho?",
        "HTTP/1.1 299 Forged\r\nContent-Length: 6\r\n\r\nforged", "HTTP/1.1 101 Switching Protocols\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\n", "SSH-2.0-OpenSSH\r\n\r\n", "\u{5}\u{1}",
        "\u{15}\u{3}\u{3}\u{0}\u{2}\u{2}\u{28}",
    ]

    // MARK: The origin's side

    var target: String { "/\(number)/\(length)/\(uploadCount)" }

    static func reply(to request: LoopbackServer.RecordedRequest) -> LoopbackServer.Reply {
        let parts = request.target.split(separator: "/").compactMap { Int($0) }
        guard parts.count == 3 else { return .response(.notFound) }
        guard PlannedCall.isEqual(request.body, uploaded(parts[2], parts[0])) else { return .response(.badRequest) }
        let fields: Fields = ["Errand": "\(parts[0])"]
        if request.fields.contains("proxy-authorization") { return .response(.conflict) }
        let reply = LoopbackServer.Reply.response(fields: fields, body: part(parts[1], from: parts[0]))
        return parts[0] % 10 == 0 ? reply.closingAfter : reply
    }

    // MARK: What is said and expected

    var label: String { "\(number)" }
    var body: Bytes { Self.part(length, from: number) }
    var uploaded: Bytes { Self.uploaded(uploadCount, number) }
    /// Whether the proxy reads the request, and answers it as an origin would.
    var isForwarded: Bool { scheme == .http && !isSecure }

    private static func uploaded(_ count: Int, _ number: Int) -> Bytes { part(count, from: number + 50) }

    private static func part(_ count: Int, from number: Int) -> Bytes {
        let offset = number % 89
        return source[offset..<(offset + count)]
    }
}

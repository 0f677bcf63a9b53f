import Dunlin
import DunlinTesting
import Glibc

/// One request of a storm: all of it follows from the seed and its number, and the server reads it from the target.
struct PlannedCall: Sendable {
    enum Shape: Int, CaseIterable {
        case plain
        case chunked
        case closing
        case closingSilently
        case closingOnNextRequest
        /// Only over TLS, where an end can be told from a cut.
        case untilClose
    }

    enum Upload {
        case none
        case bytes(Int)
        case stream(Int, isKnown: Bool)

        var count: Int {
            switch self {
            case .none: 0
            case .bytes(let count), .stream(let count, _): count
            }
        }
    }

    /// Who gives the request up, and when; after zero it may already be over.
    enum Cancel {
        case never
        case task(Duration)
        case handle(Duration)
    }

    let number: Int
    let length: Int
    let shape: Shape
    let uploadCount: Int
    private(set) var upload = Upload.none
    private(set) var cancel = Cancel.never
    /// Streams the body, and is in no hurry.
    private(set) var isSlowReader = false
    private(set) var isHead = false
    /// Has a policy to be tried again by, without a budget: the more attempts the better.
    var isRetried: Bool { number % 4 == 3 }
    /// Whom it is for, over TLS.
    private(set) var host = Masks.Name.good

    private static let largest = 512 << 10
    /// Every body is a part of this, at an offset that tells bodies of different requests apart.
    private static let source = LoopbackServer.GeneratedBody.bytes(0..<(largest + 251)).array

    init(_ number: Int, seed: UInt64, isSecure: Bool) {
        var dice = SeededGenerator(seed: seed &+ UInt64(number) &* 0x1_0000_0001)
        self.number = number
        length = Self.length(&dice)
        let shapes = isSecure ? Shape.allCases : Shape.allCases.dropLast()
        shape = dice.next(below: 100) < 70 ? .plain : shapes[dice.next(below: shapes.count)]
        switch dice.next(below: 100) {
        case 0..<10: upload = .bytes(dice.next(below: 4000))
        case 10: upload = .bytes(dice.next(below: Self.largest))
        case 11..<18: upload = .stream(dice.next(below: 20_000), isKnown: dice.next(below: 2) == 0)
        default: break
        }
        uploadCount = upload.count
        switch dice.next(below: 100) {
        case 0..<5: cancel = .task(.microseconds(dice.next(below: 20_000)))
        case 5..<10: cancel = .handle(.microseconds(dice.next(below: 20_000)))
        default: break
        }
        isSlowReader = dice.next(below: 100) < 5
        if case .none = upload { isHead = dice.next(below: 100) < 3 }
        if isSecure, dice.next(below: 100) < 10 {
            host = Masks.Name.allCases[dice.next(below: Masks.Name.allCases.count)]
        }
    }

    private static func length(_ dice: inout SeededGenerator) -> Int {
        switch dice.next(below: 100) {
        case 0..<90: dice.next(below: 1000)
        case 90..<99: dice.next(below: 20_000)
        default: dice.next(below: largest)
        }
    }

    // MARK: The server's side

    var target: String { "/\(number)/\(length)/\(shape.rawValue)/\(uploadCount)" }

    init?(target: String) {
        let parts = target.split(separator: "/").compactMap { Int($0) }
        guard parts.count == 4, let shape = Shape(rawValue: parts[2]) else { return nil }
        (number, length, self.shape, uploadCount) = (parts[0], parts[1], shape, parts[3])
    }

    func accepts(_ request: LoopbackServer.RecordedRequest) -> Bool {
        Self.isEqual(request.body, uploaded)
    }

    var reply: LoopbackServer.Reply {
        var fields: Fields = ["Errand": "\(number)"]
        fields.append(contentsOf: Resilient.fields(self))
        let plain = LoopbackServer.Reply.response(fields: fields, body: body)
        switch shape {
        case .plain: return plain
        case .chunked:
            let middle = length / 2
            return .chunked([body[0..<middle], body[middle..<length]], fields: fields)
        case .closing: return plain.closingAfter
        case .closingSilently: return plain.closingSilently
        case .closingOnNextRequest: return plain.closingOnNextRequest
        case .untilClose: return .untilClose(body, fields: fields)
        }
    }

    // MARK: What is said and expected

    var body: Bytes { part(length, from: number) }
    /// Another offset than the response's, so that an echo is no success.
    var uploaded: Bytes { part(uploadCount, from: number + 100) }

    private func part(_ count: Int, from number: Int) -> Bytes {
        let offset = number % 251
        return Bytes(Self.source, in: offset..<(offset + count))
    }

    static func isEqual(_ left: Bytes, _ right: Bytes) -> Bool {
        left.withUnsafeBytes { left in
            right.withUnsafeBytes { right in
                guard left.count == right.count else { return false }
                guard let first = left.baseAddress, let second = right.baseAddress else { return left.isEmpty }
                return memcmp(first, second, left.count) == 0
            }
        }
    }
}

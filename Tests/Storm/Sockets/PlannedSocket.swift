import Dunlin
import DunlinTesting

/// One WebSocket of a storm: all of it follows from the seed and its number, which the server reads from the target.
struct PlannedSocket: Sendable {
    /// Who ends it when nothing goes wrong.
    enum End: Sendable {
        /// The client, when all its messages have come back.
        case client
        /// The server, with this code.
        case server(UInt16)
    }

    enum Trouble: Sendable {
        case none
        case fault(Fault)
        /// This comes after so many messages.
        case wrong(WrongFrame, after: Int)
        /// So many pings between the messages.
        case pings(Int)
        /// The answer to the handshake proves nothing.
        case badAcceptance
    }

    /// Who gives it up, and when.
    enum Cancel: Sendable {
        case never
        case task(Duration)
        case handle(Duration)
        /// Its scope is left after so many messages, by an error or not.
        case leaving(after: Int, throwing: Bool)
        /// Nobody holds it any more after so many messages.
        case releasing(after: Int)
    }

    let number: Int
    let end: End
    let trouble: Trouble
    let cancel: Cancel
    let isSlowReader: Bool
    let isCompressed: Bool
    /// The messages that the server sends by itself.
    let told: Int
    /// The messages that each of the client's senders sends; all come back.
    let sent: Int
    /// Whom it is for, over TLS.
    let host: Masks.Name

    static let senders = 2

    /// The messages that the client gets.
    var count: Int { told + Self.senders * sent }
    var isEndedByClient: Bool { if case .client = end { true } else { false } }

    init(_ number: Int, seed: UInt64, isSecure: Bool) {
        var dice = SeededGenerator(seed: seed &+ UInt64(number) &* 0x1_0000_0003)
        self.number = number
        isSlowReader = dice.next(below: 100) < 10
        isCompressed = dice.next(below: 100) < 25
        let told = dice.next(below: dice.next(below: 100) < 90 ? 12 : 200)
        self.told = told
        let isEndedByServer = dice.next(below: 100) < 40
        end = isEndedByServer ? .server(UInt16(4000 + number % 1000)) : .client
        sent = isEndedByServer ? 0 : dice.next(below: 6)
        trouble = Self.trouble(number, seed, told: told, &dice)
        cancel = Self.cancel(&dice)
        let isMasked = isSecure && dice.next(below: 100) < 10
        host = isMasked ? Masks.Name.allCases[dice.next(below: Masks.Name.allCases.count)] : .good
    }

    private static func trouble(
        _ number: Int, _ seed: UInt64, told: Int, _ dice: inout SeededGenerator
    ) -> Trouble {
        switch dice.next(below: 100) {
        case 0..<45: .none
        case 45..<75: .fault(plan(seed).fault(for: number, of: "socket"))
        case 75..<93:
            .wrong(WrongFrame.allCases[dice.next(below: WrongFrame.allCases.count)], after: dice.next(below: told + 1))
        case 93..<98: .pings(1 + dice.next(below: 500))
        default: .badAcceptance
        }
    }

    private static func plan(_ seed: UInt64) -> FaultPlan {
        var plan = FaultPlan(seed: seed, weights: .always)
        plan.bytes = 0...20_000
        plan.delays = .milliseconds(1)...(.milliseconds(20))
        return plan
    }

    private static func cancel(_ dice: inout SeededGenerator) -> Cancel {
        switch dice.next(below: 100) {
        case 0..<8: .task(.microseconds(dice.next(below: 20_000)))
        case 8..<16: .handle(.microseconds(dice.next(below: 20_000)))
        case 16..<22: .leaving(after: dice.next(below: 5), throwing: dice.next(below: 2) == 0)
        case 22..<26: .releasing(after: dice.next(below: 5))
        default: .never
        }
    }

    // MARK: Messages

    /// A message of the server's own.
    func toldMessage(_ index: Int) -> HTTP.WebSocketMessage { message("told", index) }

    /// A message of one of the client's senders.
    func sentMessage(_ index: Int, of sender: Int) -> HTTP.WebSocketMessage { message("sent by \(sender)", index) }

    private func message(_ who: String, _ index: Int) -> HTTP.WebSocketMessage {
        var dice = SeededGenerator(seed: UInt64(number) << 20 ^ UInt64(index))
        let length = dice.next(below: dice.next(below: 100) < 95 ? 600 : 100_000)
        let text = "\(number) \(who) \(index) \u{20AC} " + String(repeating: "x", count: length)
        return index % 2 == 0 ? .text(text) : .binary(Bytes(text))
    }
}

/// What breaks the rules of WebSocket, or a limit.
enum WrongFrame: CaseIterable, Sendable {
    case unknownKind, reservedBit, compressedUnasked, masked, longPing, fragmentedPing
    case continuationOfNothing, messageWithinMessage, invalidText, shortClose, reservedCloseCode, wideLength
    case negativeLength, tooLong

    var bytes: [UInt8] {
        switch self {
        case .unknownKind: [0x83, 0]
        case .reservedBit: [0xA1, 1, 0x61]
        // Of a control frame, which is never compressed, whatever was agreed on.
        case .compressedUnasked: [0xC9, 0]
        case .masked: [0x81, 0x81, 0, 0, 0, 0, 0x61]
        case .longPing: [0x89, 126, 0, 126] + [UInt8](repeating: 0, count: 126)
        case .fragmentedPing: [0x09, 0]
        case .continuationOfNothing: [0x80, 0]
        case .messageWithinMessage: [0x01, 1, 0x61, 0x81, 1, 0x62]
        case .invalidText: [0x81, 2, 0xC3, 0x28]
        case .shortClose: [0x88, 1, 3]
        case .reservedCloseCode: [0x88, 2, 3, 0xED]
        case .wideLength: [0x81, 126, 0, 1, 0x61]
        case .negativeLength: [0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 1]
        case .tooLong: [0x82, 127, 0, 0, 0, 1, 0, 0, 0, 0]
        }
    }

    var code: NetworkError.Code { self == .tooLong ? .limitExceeded : .webSocketFailed }
}

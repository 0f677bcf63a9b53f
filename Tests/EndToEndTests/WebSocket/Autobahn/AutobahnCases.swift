import DunlinTesting
import DunlinTypes

/// The published cases, written anew as a table: the numbers, what is sent and what is expected are Autobahn's.
///
/// None is left out. Where the table differs:
/// 1. Where Autobahn accepts that the client drops the connection, a close frame with the right code is demanded.
/// 2. Where it waits a second to see whether the client is still there, the client shows it: by the pong to the first
///    ping in 5.19 and 5.20, and by sending back the valid beginning in 6.4.
/// 3. 2.10 and 2.11 want ten pongs. RFC 6455 lets a client answer only the latest ping (§5.5.3), and so does the table.
/// 4. Lengths in group 9 are a sixteenth, and round trips are 100 instead of 1000. Groups 12 and 13 exchange fewer
///    messages, of the same lengths, and with texts, pictures and noise of our own.
extension AutobahnCase {
    static let all = framing + pings + reservedBits + opcodes + fragments + text + closing + sizes + misc + compression

    static let hello = Bytes("Hello, world!")
    static let notText: [UInt8] = [0x00, 0xFF, 0xFE, 0xFD, 0xFC, 0xFB, 0x00, 0xFF]

    static func filled(_ byte: UInt8, _ count: Int) -> Bytes { Bytes([UInt8](repeating: byte, count: count)) }

    /// The bytes over and over, up to a length.
    static func repeated(_ bytes: Bytes, _ count: Int) -> Bytes {
        var all = bytes.array
        while all.count < count { all += all }
        return Bytes(Array(all[..<count]))
    }
}

// MARK: - Framing

extension AutobahnCase {
    private static let framing = [(WebSocketFrame.Kind.text, UInt8(ascii: "*")), (.binary, 0xFE)].enumerated()
        .flatMap { group, content in
            [0, 125, 126, 127, 128, 65_535, 65_536, 65_536].enumerated().map { index, count in
                AutobahnCase("1.\(group + 1).\(index + 1)", content.0, chop: index == 7 ? .bytes(997) : .whole) {
                    [filled(content.1, count)]
                }
            }
        }
}

// MARK: - Pings

extension AutobahnCase {
    private static let unasked = Frame.pong("unsolicited pong payload")

    private static let pings: [AutobahnCase] = [
        pinged("2.1", .empty), pinged("2.2", hello), pinged("2.3", Bytes(notText)), pinged("2.4", filled(0xFE, 125)),
        AutobahnCase("2.5", [.ping(filled(0xFE, 126))], .refused([1002])),
        pinged("2.6", filled(0xFE, 125), .bytes(1)),
        AutobahnCase("2.7", [.pong()]), AutobahnCase("2.8", [unasked]),
        AutobahnCase("2.9", [unasked, .ping("ping payload")], back: [.pong("ping payload")]),
        tenPings("2.10", .whole), tenPings("2.11", .bytes(1)),
    ]

    private static func tenPings(_ number: String, _ chop: Chop) -> AutobahnCase {
        let payloads = (0..<10).map { Bytes("payload-\($0)") }
        return AutobahnCase(
            number, payloads.map { .ping($0) }, chop: chop, back: payloads.map { .pong($0) }, mayLack: true)
    }

    private static func pinged(_ number: String, _ payload: Bytes, _ chop: Chop = .whole) -> AutobahnCase {
        AutobahnCase(number, [.ping(payload)], chop: chop, back: [.pong(payload)])
    }
}

// MARK: - Reserved bits and opcodes

extension AutobahnCase {
    private static let reservedBits: [AutobahnCase] = [
        AutobahnCase("3.1", [.text(hello, reserved: 1)], .refused([1002])),
        afterHello("3.2", .text(hello, reserved: 2)),
        afterHello("3.3", .text(hello, reserved: 3), .frames),
        afterHello("3.4", .text(hello, reserved: 4), .bytes(1)),
        AutobahnCase("3.5", [Frame(2, Bytes(notText), reserved: 5)], .refused([1002])),
        AutobahnCase("3.6", [Frame(2, hello, reserved: 6)], .refused([1002])),
        AutobahnCase("3.7", [Frame(8, reserved: 7)], .refused([1002])),
    ]

    private static let opcodes = opcodes(1, from: 3) + opcodes(2, from: 11)

    private static func opcodes(_ part: Int, from first: UInt8) -> [AutobahnCase] {
        [
            AutobahnCase("4.\(part).1", [Frame(first)], .refused([1002])),
            AutobahnCase("4.\(part).2", [Frame(first + 1, "reserved opcode payload")], .refused([1002])),
            afterHello("4.\(part).3", Frame(first + 2)),
            afterHello("4.\(part).4", Frame(first + 3, hello)),
            afterHello("4.\(part).5", Frame(first + 4, hello), .bytes(1)),
        ]
    }

    /// The client may refuse the second frame before it has sent back the first; the ping has no answer.
    private static func afterHello(_ number: String, _ frame: Frame, _ chop: Chop = .whole) -> AutobahnCase {
        AutobahnCase(
            number, [.text(hello), frame, .ping()], chop: chop, back: [.message(.text, hello)], mayLack: true,
            .refused([1002]))
    }
}

// MARK: - Fragments

extension AutobahnCase {
    private static let chops: [Chop] = [.whole, .frames, .bytes(1)]
    private static let parts = (1...5).map { Bytes("fragment\($0)") }
    private static let two: [Frame] = [.text(parts[0], isFinal: false), .more(parts[1])]
    private static let bothParts = Event.message(.text, "fragment1fragment2")

    private static let fragments =
        [
            AutobahnCase("5.1", [Frame(9, parts[0], isFinal: false), .more(parts[1])], .refused([1002])),
            AutobahnCase("5.2", [Frame(10, parts[0], isFinal: false), .more(parts[1])], .refused([1002])),
        ] + chopped(3, two, back: [bothParts])
        + chopped(6, [two[0], .ping("ping payload"), two[1]], back: [.pong("ping payload"), bothParts])
        + chopped(9, [.more("non-continuation payload"), .text(hello)], .refused([1002]))
        + chopped(12, [.more("non-continuation payload", isFinal: false), .text(hello)], .refused([1002])) + [
            AutobahnCase(
                "5.15", two + [.more(parts[2], isFinal: false), .text(parts[3])], back: [bothParts], mayLack: true,
                .refused([1002])),
            AutobahnCase("5.16", twice(isFinal: false), .refused([1002])),
            AutobahnCase("5.17", twice(isFinal: true), .refused([1002])),
            AutobahnCase("5.18", [.text(parts[0], isFinal: false), .text(parts[1])], .refused([1002])),
            pingedWithin("5.19", .whole), pingedWithin("5.20", .frames),
        ]

    /// The same frames in one send, each in one, and each byte in one.
    private static func chopped(
        _ number: Int, _ frames: [Frame], back events: [Event] = [], _ end: End = .normal
    ) -> [AutobahnCase] {
        chops.enumerated().map { AutobahnCase("5.\(number + $0)", frames, chop: $1, back: events, end) }
    }

    /// Twice: a frame that continues nothing, and a message.
    private static func twice(isFinal: Bool) -> [Frame] {
        let frames: [Frame] = [
            .more(parts[0], isFinal: isFinal), .text(parts[1], isFinal: false), .more(parts[2]),
        ]
        return frames + frames
    }

    private static func pingedWithin(_ number: String, _ chop: Chop) -> AutobahnCase {
        let first: [Frame] = [.text(parts[0], isFinal: false), .more(parts[1], isFinal: false), .ping("pongme 1!")]
        let second: [Frame] = [
            .more(parts[2], isFinal: false), .more(parts[3], isFinal: false), .ping("pongme 2!"), .more(parts[4]),
        ]
        return AutobahnCase(
            number,
            turns: [
                Turn(steps: chop.steps(first), events: [.pong("pongme 1!")]),
                Turn(
                    steps: chop.steps(second),
                    events: [.pong("pongme 2!"), .message(.text, Bytes(parts.flatMap { $0 }))]),
            ])
    }
}

// MARK: - Closing

extension AutobahnCase {
    /// What follows the server's close frame does not count.
    private static let closing: [AutobahnCase] =
        [
            AutobahnCase("7.1.1", [.text(hello)], back: [.message(.text, hello)]),
            AutobahnCase("7.1.2", [.close(), .close(nil)], .answered([1000])),
            AutobahnCase("7.1.3", [.close(), .ping()], .answered([1000])),
            AutobahnCase("7.1.4", [.close(), .text(hello)], .answered([1000])),
            AutobahnCase("7.1.5", [two[0], .close(), two[1]], .answered([1000])),
            // Whether the messages come back before the close frame is left to the client.
            AutobahnCase(
                "7.1.6", [.text(long), .text(hello), .close(), .ping()],
                back: [.message(.text, long), .message(.text, hello)], mayLack: true, .answered([1000])),
            AutobahnCase("7.3.1", [.close(nil)], .answered([nil, 1000])),
            AutobahnCase("7.3.2", [.close(nil, "a")], .refused([1002])),
            AutobahnCase("7.3.3", [.close()], .answered([1000])),
            AutobahnCase("7.3.4", [.close(1000, hello)], .answered([1000])),
            AutobahnCase("7.3.5", [.close(1000, filled(UInt8(ascii: "*"), 123))], .answered([1000])),
            AutobahnCase("7.3.6", [.close(1000, filled(UInt8(ascii: "*"), 124))], .refused([1002])),
            AutobahnCase("7.5.1", [.close(1000, Bytes(surrogateWithin))], .refused([1002, 1007])),
        ]
        + [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999].enumerated().map {
            AutobahnCase("7.7.\($0 + 1)", [.close($1)], .answered([1000, UInt16($1)]))
        }
        + [0, 999, 1004, 1005, 1006, 1016, 1100, 2000, 2999].enumerated().map {
            AutobahnCase("7.9.\($0 + 1)", [.close($1)], .refused([1002]))
        }
        // Autobahn accepts anything here; a client that refuses these codes says so.
        + [5000, 65_535].enumerated().map { AutobahnCase("7.13.\($0 + 1)", [.close($1)], .refused([1002])) }

    private static let long = repeated("BAsd7&jh23", 256 * 1024)
}

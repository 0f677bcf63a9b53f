import DunlinTesting
import DunlinTypes

/// Group 9: long messages, and many.
extension AutobahnCase {
    static let sizes = long + fragmented + chopped + roundTrips

    /// By how much messages are shorter than Autobahn's, and their fragments too.
    private static let scale = 16
    private static let roundTripCount = 100

    private static let kilobyte = 1024 / scale
    private static let megabyte = 1024 * 1024 / scale
    private static let kinds: [(number: Int, kind: WebSocketFrame.Kind, content: Bytes)] = [
        (1, .text, "BAsd7&jh23"), (2, .binary, Bytes([0x00, 0xFE, 0x23, 0xFA, 0xF0])),
    ]

    private static let lengths: [Int] = [
        64 * kilobyte, 256 * kilobyte, megabyte, 4 * megabyte, 8 * megabyte, 16 * megabyte,
    ]

    private static let long = kinds.flatMap { number, kind, content in
        lengths.enumerated().map { index, count in
            AutobahnCase("9.\(number).\(index + 1)", kind) { [repeated(content, count)] }
        }
    }

    private static let fragmented = kinds.flatMap { number, kind, content in
        (0..<9).map { index in
            AutobahnCase("9.\(number + 2).\(index + 1)", kind, fragment: (64 << (2 * index)) / scale) {
                [repeated(content, 4 * megabyte)]
            }
        }
    }

    private static let chopped = kinds.flatMap { number, kind, content in
        (0..<6).map { index in
            AutobahnCase("9.\(number + 4).\(index + 1)", kind, chop: .bytes(64 << index)) {
                [repeated(content, megabyte)]
            }
        }
    }

    private static let roundTrips = kinds.flatMap { number, kind, content in
        [0, 16, 64, 256, 1024, 4096].enumerated().map { index, count in
            AutobahnCase("9.\(number + 6).\(index + 1)", kind) {
                [Bytes](repeating: repeated(content, count), count: roundTripCount)
            }
        }
    }
}

/// Group 10: a message that the server cuts by itself.
extension AutobahnCase {
    static let misc = [AutobahnCase("10.1.1", .text, fragment: 1300) { [filled(UInt8(ascii: "*"), 65_536)] }]
}

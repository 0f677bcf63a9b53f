/// Messages as the kernel writes them, and as nobody should.
struct NetlinkBytes {
    private(set) var bytes: [UInt8] = []

    mutating func append(_ type: UInt16, sequence: UInt32 = 7, _ body: [UInt8], length: Int? = nil) {
        let length = length ?? 16 + body.count
        bytes += Self.raw(UInt32(truncatingIfNeeded: length)) + Self.raw(type) + Self.raw(UInt16(0))
        bytes += Self.raw(sequence) + Self.raw(UInt32(0)) + body
        while !bytes.count.isMultiple(of: 4) { bytes.append(0) }
    }

    static func message(_ type: UInt16, sequence: UInt32 = 7, _ body: [UInt8], length: Int? = nil) -> [UInt8] {
        var bytes = NetlinkBytes()
        bytes.append(type, sequence: sequence, body, length: length)
        return bytes.bytes
    }

    static func raw<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        withUnsafeBytes(of: number) { Array($0) }
    }

    static func attribute(_ type: UInt16, _ value: [UInt8], length: Int? = nil) -> [UInt8] {
        var bytes = raw(UInt16(truncatingIfNeeded: length ?? 4 + value.count)) + raw(type) + value
        while !bytes.count.isMultiple(of: 4) { bytes.append(0) }
        return bytes
    }

    static func link(
        index: Int32, flags: UInt32 = 0x11043, hardware: UInt16 = 1, _ attributes: [UInt8]...
    ) -> [UInt8] {
        [0, 0] + raw(hardware) + raw(index) + raw(flags) + raw(UInt32(0)) + attributes.flatMap { $0 }
    }

    static func route(family: UInt8, type: UInt8, _ attributes: [UInt8]...) -> [UInt8] {
        [family, 32, 0, 0, 254, 0, 0, type] + raw(UInt32(0)) + attributes.flatMap { $0 }
    }

    static func text(_ text: String) -> [UInt8] { Array(text.utf8) + [0] }

    // Of the kernel's ABI.
    static let newLink: UInt16 = 16
    static let removedLink: UInt16 = 17
    static let newAddress: UInt16 = 20
    static let newRoute: UInt16 = 24
    static let newRule: UInt16 = 32
    static let newNeighbour: UInt16 = 28
    static let error: UInt16 = 2
    static let done: UInt16 = 3
    static let overrun: UInt16 = 4
}

/// The tree of a binary property list: objects that refer to each other by number, and a table of their offsets at the
/// end.
///
/// Follows the references from the top. A container may be reached only once and at a limited depth; every number and
/// length on the way must lie within the list. Since containers may overlap, the number of references is limited to the
/// list's bytes. The total size of texts and data, counted at each reference, is limited too, and so is the work.
struct BinaryPropertyListShape {
    private typealias Refusal = PropertyListShape.Refusal

    private enum Object {
        /// A leaf; `size` is the number of its bytes, in UTF-8 if it is text.
        case leaf(size: Int)
        case container(start: Int, references: Int)
    }

    private let bytes: [UInt8]
    private var offsetSize = 0
    private var referenceSize = 0
    private var count = 0
    private var top = 0
    private var table = 0
    /// The number of references followed.
    private(set) var steps = 0
    private var content = 0
    /// Containers whose contents are still to be checked.
    private var waiting: [(start: Int, references: Int, depth: Int)] = []
    private var isReached: [Bool] = []

    init(_ body: Bytes) {
        bytes = body.array
    }

    mutating func check() throws(PropertyListShape.Refusal) {
        try readTrailer()
        isReached = [Bool](repeating: false, count: table)
        try reach(top, depth: 1)
        while let (start, references, depth) = waiting.popLast() {
            for index in 0..<references {
                let object = try number(at: start + index * referenceSize, size: referenceSize)
                guard object < count else { throw Self.broken }
                try reach(object, depth: depth + 1)
            }
        }
    }

    private mutating func readTrailer() throws(PropertyListShape.Refusal) {
        guard bytes.count >= 40 else { throw Self.broken }
        let trailer = bytes.count - 32
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        count = try number(at: trailer + 8, size: 8)
        top = try number(at: trailer + 16, size: 8)
        table = try number(at: trailer + 24, size: 8)
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize), top < count, count <= trailer,
            table <= trailer, count * offsetSize <= trailer - table
        else { throw Self.broken }
    }

    private mutating func reach(_ object: Int, depth: Int) throws(PropertyListShape.Refusal) {
        steps += 1
        guard steps <= bytes.count else { throw Self.unfolding }
        let offset = try number(at: table + object * offsetSize, size: offsetSize)
        guard offset >= 8, offset < table else { throw Self.broken }
        switch try self.object(at: offset) {
        case .leaf(let size):
            content += size
            guard content <= PropertyListShape.mostContent(of: bytes.count) else { throw Self.unfolding }
        case .container(let start, let references):
            guard !isReached[offset] else { throw Refusal(reason: "it uses a container in more than one place") }
            guard depth <= PropertyListShape.deepest else {
                throw Refusal(reason: "it is nested more than \(PropertyListShape.deepest) levels deep")
            }
            isReached[offset] = true
            waiting.append((start, references, depth))
        }
    }

    private func object(at offset: Int) throws(PropertyListShape.Refusal) -> Object {
        let detail = Int(bytes[offset] & 0xF)
        switch bytes[offset] >> 4 {
        case 0x0 where [0, 8, 9].contains(detail): return .leaf(size: 0)
        case 0x1 where detail <= 4, 0x2 where detail == 2 || detail == 3, 0x3 where detail == 3:
            guard 1 << detail < table - offset else { throw Self.broken }
            return .leaf(size: 0)
        case 0x4, 0x5: return .leaf(size: try extent(at: offset, each: 1).length)
        // A UTF-16 unit takes at most three bytes in UTF-8.
        case 0x6:
            let (start, length) = try extent(at: offset, each: 2)
            if length > MarkRun.longest { try checkMarks(inUTF16At: start, length) }
            return .leaf(size: length * 3)
        case 0x8: return .leaf(size: 0)
        case 0xA, 0xC:
            let (start, length) = try extent(at: offset, each: referenceSize)
            return .container(start: start, references: length)
        case 0xD:
            let (start, length) = try extent(at: offset, each: 2 * referenceSize)
            return .container(start: start, references: 2 * length)
        default: throw Self.broken
        }
    }

    private func checkMarks(inUTF16At start: Int, _ length: Int) throws(PropertyListShape.Refusal) {
        let units = (0..<length).lazy.map { [bytes] in
            UInt16(bytes[start + 2 * $0]) << 8 | UInt16(bytes[start + 2 * $0 + 1])
        }
        if MarkRun.isTooLong(in: String(decoding: units, as: UTF16.self).utf8) { throw PropertyListShape.tooManyMarks }
    }

    /// Where an object's content begins, and how many units of `each` bytes it has.
    private func extent(at offset: Int, each: Int) throws(PropertyListShape.Refusal) -> (start: Int, length: Int) {
        var length = Int(bytes[offset] & 0xF)
        var start = offset + 1
        if length == 0xF {
            guard start < table, bytes[start] >> 4 == 1, bytes[start] & 0xF <= 3 else { throw Self.broken }
            let size = 1 << Int(bytes[start] & 0xF)
            length = try number(at: start + 1, size: size)
            start += 1 + size
        }
        guard start <= table, length <= (table - start) / each else { throw Self.broken }
        return (start, length)
    }

    /// A big-endian number; one that does not fit into an Int is refused.
    private func number(at offset: Int, size: Int) throws(PropertyListShape.Refusal) -> Int {
        guard offset >= 0, offset + size <= bytes.count else { throw Self.broken }
        var number: UInt64 = 0
        for index in offset..<(offset + size) { number = number << 8 | UInt64(bytes[index]) }
        guard number < 1 << 48 else { throw Self.broken }
        return Int(number)
    }

    private static let broken = PropertyListShape.Refusal(reason: "the binary property list is incomplete or damaged")
    private static let unfolding = PropertyListShape.Refusal(reason: "it expands to far more than its size")
}

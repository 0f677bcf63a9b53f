/// The tree of a binary property list: a table of offsets at the end, objects that refer to others by their number.
///
/// Follows the references from the top. A container may be reached once and at a bounded depth; every number and length
/// on the way has to lie within the list.
struct BinaryPropertyListShape {
    private typealias Refusal = PropertyListShape.Refusal

    private let bytes: [UInt8]
    private var offsetSize = 0
    private var referenceSize = 0
    private var count = 0
    private var top = 0
    private var table = 0

    init(_ body: Bytes) {
        bytes = body.array
    }

    mutating func check() throws(PropertyListShape.Refusal) {
        try readTrailer()
        var isReached = [Bool](repeating: false, count: count)
        var waiting = [(object: top, depth: 1)]
        while let (object, depth) = waiting.popLast() {
            guard let references = try references(of: object) else { continue }
            guard !isReached[object] else { throw Refusal(reason: "a container in it is in several places") }
            guard depth <= PropertyListShape.deepest else {
                throw Refusal(reason: "it is nested more than \(PropertyListShape.deepest) deep")
            }
            isReached[object] = true
            for reference in references { waiting.append((reference, depth + 1)) }
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

    /// Nil for what is no container.
    private func references(of object: Int) throws(PropertyListShape.Refusal) -> [Int]? {
        let offset = try number(at: table + object * offsetSize, size: offsetSize)
        guard offset >= 8, offset < table else { throw Self.broken }
        switch bytes[offset] >> 4 {
        case 0xA, 0xB, 0xC: return try references(at: offset, each: 1)
        case 0xD: return try references(at: offset, each: 2)
        default: return nil
        }
    }

    private func references(at offset: Int, each: Int) throws(PropertyListShape.Refusal) -> [Int] {
        var length = Int(bytes[offset] & 0xF)
        var start = offset + 1
        if length == 0xF {
            guard start < table, bytes[start] >> 4 == 1, bytes[start] & 0xF <= 3 else { throw Self.broken }
            let size = 1 << Int(bytes[start] & 0xF)
            length = try number(at: start + 1, size: size)
            start += 1 + size
        }
        guard start <= table, length <= (table - start) / (referenceSize * each) else { throw Self.broken }
        var references: [Int] = []
        references.reserveCapacity(length * each)
        for index in 0..<(length * each) {
            let reference = try number(at: start + index * referenceSize, size: referenceSize)
            guard reference < count else { throw Self.broken }
            references.append(reference)
        }
        return references
    }

    /// The big end first; what does not fit into an Int is no number that could be meant.
    private func number(at offset: Int, size: Int) throws(PropertyListShape.Refusal) -> Int {
        guard offset >= 0, offset + size <= bytes.count else { throw Self.broken }
        let number = bytes[offset..<(offset + size)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard let number = Int(exactly: number), number < 1 << 48 else { throw Self.broken }
        return number
    }

    private static let broken = PropertyListShape.Refusal(reason: "it is no whole binary property list")
}

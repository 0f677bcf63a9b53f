import DunlinTypes
import Testing

@Suite struct `Byte slices` {
    static let text: Bytes = "0123456789"

    @Test(arguments: [
        (2..<5, "234"), (0..<10, "0123456789"), (0..<0, ""), (10..<10, ""), (8..<99, "89"), (-5..<2, "01"),
        (20..<30, ""), (-9 ..< -3, ""),
    ])
    func `a slice clamps a range to its storage`(range: Range<Int>, expected: String) {
        #expect(String(Bytes(Self.text.storage, in: range)) == expected)
    }

    @Test func `a slice of a slice is cut without copying`() {
        let middle = Self.text[2..<8]
        let inner = middle[1..<4]
        #expect(String(middle) == "234567")
        #expect(String(inner) == "345")
        #expect(inner.array == Array("345".utf8))
        let bases = [Self.text, middle, inner].map { bytes in
            bytes.storage.withUnsafeBufferPointer { $0.baseAddress }
        }
        #expect(Set(bases).count == 1)
    }

    @Test func `a slice reads one way by index, span, pointer and iteration`() {
        let slice = Self.text[3..<7]
        let expected = Array("3456".utf8)
        #expect(slice.indices.map { slice[$0] } == expected)
        #expect(slice.span.indices.map { slice.span[$0] } == expected)
        #expect(slice.withUnsafeBytes { Array($0) } == expected)
        #expect(slice.withContiguousStorageIfAvailable { Array($0) } == expected)
        #expect(Array(slice) == expected)
        #expect(Array(slice.reversed()) == expected.reversed())
    }

    @Test(arguments: [
        (Bytes("abc"), Bytes("xabcx")[1..<4], true),
        (Bytes.empty, Bytes("abc")[2..<2], true),
        (Bytes([1, 2]), Bytes([2, 1]), false),
        (Bytes("ab"), Bytes("abc"), false),
        (Bytes("abc"), Bytes("abd"), false),
    ])
    func `slices are equal by content, and hash alike then`(left: Bytes, right: Bytes, isEqual: Bool) {
        #expect((left == right) == isEqual)
        if isEqual { #expect(left.hashValue == right.hashValue) }
        #expect(Set([left, right]).count == (isEqual ? 1 : 2))
    }

    @Test func `a slice makes text of any bytes, and its description shows none of them`() {
        #expect(String(Bytes([0x61, 0xFF, 0x62])) == "a\u{FFFD}b")
        #expect("\(Bytes("secret"))" == "6 bytes")
        #expect([1, 2, 3] as Bytes == Bytes([1, 2, 3].lazy.map { UInt8($0) }))
    }

    @Test func `bytes in a literal of bytes are themselves, and in a text their length`() {
        let (body, number): (Bytes, Int) = (Bytes([0x7B, 0xFF])[0..<2], 7)
        let expected = Bytes([0x37, 0x2E, 0x7B, 0xFF])
        let typed: Bytes = "\(number).\(body)"
        #expect(typed == expected)
        #expect(Bytes("\(number).\(body)") == expected)
        #expect("7." + body == expected)
        #expect(typed == "\("7.")\(body.array)" && typed == "\(Substring("7."))\(body.array[...])")
        let text: String = "\(number).\(body)"
        #expect(text == "7.2 bytes")
    }

    @Test func `a slice keeps a whole array as it is`() {
        let array: [UInt8] = [1, 2, 3]
        let same = Bytes(array).array.withUnsafeBufferPointer { $0.baseAddress }
        #expect(same == array.withUnsafeBufferPointer { $0.baseAddress })
    }
}

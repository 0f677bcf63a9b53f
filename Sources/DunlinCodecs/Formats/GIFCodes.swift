/// The codes of a GIF's pixels (GIF89a, appendix F): LZW, in codes that grow, cut into blocks.
///
/// Rules:
/// 1. A code is a colour's index, an earlier string of such indices, "clear" or "end".
/// 2. Each code except the first after a clear adds a string: that of the code before it, and the first index of its
///    own. So a code may stand for the string that it adds itself.
/// 3. Codes are one bit longer than the indices at first, and grow to twelve bits; then no string is added until a
///    clear.
/// 4. What does not fit a row stays for the next.
///
/// It knows neither files nor pictures. As any number of codes may give no pixel, it takes one block at a time, and the
/// caller decides how many.
struct GIFCodes {
    private static let most = 4096

    private var clear = 0
    private var width = 0
    /// The code for the next string.
    private var next = 0
    /// The previous code; nil after a clear.
    private var previous: Int?
    private var buffer: UInt32 = 0
    private var bits = 0
    // For each code: the code of its string without the last index, the last index, and the first.
    private var prefixes = [UInt16](repeating: 0, count: most)
    private var suffixes = [UInt8](repeating: 0, count: most)
    private var firsts = [UInt8](repeating: 0, count: most)
    /// The indices that did not fit the last row, in reverse order.
    private var waiting = [UInt8](repeating: 0, count: most)
    private var depth = 0

    /// Begins a picture whose indices have `count` bits, from one to eight.
    mutating func begin(bits count: Int) {
        clear = 1 << count
        (buffer, bits, depth) = (0, 0, 0)
        for number in 0..<clear { firsts[number] = UInt8(number) }
        restart()
    }

    private mutating func restart() {
        (width, next, previous) = (clear.trailingZeroBitCount + 1, clear + 2, nil)
    }

    /// Fills a row from `start` on. Returns how many indices the row has then; fewer than all if the block is used up.
    mutating func fill(_ row: inout [UInt8], from start: Int, _ block: inout GIFBlock) throws(ImageError) -> Int {
        var filled = start
        while true {
            while depth > 0, filled < row.count {
                depth -= 1
                row[filled] = waiting[depth]
                filled += 1
            }
            guard filled < row.count, let code = code(&block) else { return filled }
            try take(code)
        }
    }

    /// Reads a code; nil if the block does not have all of it.
    private mutating func code(_ block: inout GIFBlock) -> Int? {
        while bits < width {
            guard let byte = block.next() else { return nil }
            buffer |= UInt32(byte) << UInt32(bits)
            bits += 8
        }
        let code = Int(buffer) & (1 << width - 1)
        buffer >>= UInt32(width)
        bits -= width
        return code
    }

    private mutating func take(_ code: Int) throws(ImageError) {
        if code == clear { return restart() }
        if code == clear + 1 { throw Self.tooSoon }
        guard let previous else {
            guard code < clear else { throw .damaged(.gif, fault: "it has an invalid LZW code") }
            put(code)
            return advance(after: code)
        }
        let isOwn = code == next && next < Self.most
        guard code < next || isOwn else { throw .damaged(.gif, fault: "it has an invalid LZW code") }
        if isOwn { put(Int(firsts[previous])) }
        var rest = isOwn ? previous : code
        while rest > clear {
            put(Int(suffixes[rest]))
            rest = Int(prefixes[rest])
        }
        put(rest)
        if next < Self.most {
            (prefixes[next], suffixes[next], firsts[next]) = (UInt16(previous), UInt8(rest), firsts[previous])
            next += 1
        }
        advance(after: code)
    }

    private mutating func put(_ number: Int) {
        waiting[depth] = UInt8(number)
        depth += 1
    }

    private mutating func advance(after code: Int) {
        previous = code
        if next == 1 << width, next < Self.most { width += 1 }
    }

    static var tooSoon: ImageError { .damaged(.gif, fault: "its LZW data ends before all pixels are decoded") }
}

/// A block of codes, and how much of it has been read.
struct GIFBlock {
    static let size = 255

    var bytes = [UInt8](repeating: 0, count: size)
    var count = 0
    private var position = 0

    /// Begins a block of `count` bytes.
    mutating func begin(_ count: Int) {
        (self.count, position) = (min(count, Self.size), 0)
    }

    mutating func next() -> UInt8? {
        guard position < count else { return nil }
        defer { position += 1 }
        return bytes[position]
    }
}

/// Reads one value from JSON, strictly (RFC 8259): no comma too many, no comment, nothing after the value.
///
/// Numbers are kept as they are written, and an object's members in their order, repeated keys included. Knows nothing
/// of responses; takes any bytes and needs no more stack than `depth` levels of nesting.
struct JSONReader {
    private let bytes: [UInt8]
    private var position = 0
    private var depth = 0

    /// A byte order mark is passed over, as RFC 8259 §8.1 allows.
    static func read(_ bytes: Bytes) throws(DynamicValue.JSONSyntaxError) -> DynamicValue {
        var reader = JSONReader(bytes.array)
        let value = try reader.value()
        reader.skipBlanks()
        if reader.position < reader.bytes.count { throw reader.error(.trailingText) }
        return value
    }

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    private mutating func value() throws(DynamicValue.JSONSyntaxError) -> DynamicValue {
        skipBlanks()
        guard let byte = peek else { throw error(.unexpectedEnd) }
        switch byte {
        case UInt8(ascii: "{"): return .object(try members())
        case UInt8(ascii: "["): return .array(try elements())
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return .number(try number())
        }
    }

    private mutating func elements() throws(DynamicValue.JSONSyntaxError) -> [DynamicValue] {
        try enter()
        var elements: [DynamicValue] = []
        if skip("]") { return leave(with: elements) }
        repeat {
            elements.append(try value())
        } while skip(",")
        guard skip("]") else { throw unexpected() }
        return leave(with: elements)
    }

    private mutating func members() throws(DynamicValue.JSONSyntaxError) -> DynamicValue.Members {
        try enter()
        var members = DynamicValue.Members()
        if skip("}") { return leave(with: members) }
        repeat {
            skipBlanks()
            guard peek == UInt8(ascii: "\"") else { throw unexpected() }
            let key = try string()
            guard skip(":") else { throw unexpected() }
            members.append(key, try value())
        } while skip(",")
        guard skip("}") else { throw unexpected() }
        return leave(with: members)
    }

    private mutating func word(_ word: StaticString, _ value: DynamicValue) throws(DynamicValue.JSONSyntaxError)
        -> DynamicValue
    {
        for offset in 0..<word.utf8CodeUnitCount {
            guard peek == word.utf8Start[offset] else { throw unexpected() }
            position += 1
        }
        return value
    }

    private mutating func number() throws(DynamicValue.JSONSyntaxError) -> DynamicValue.Number {
        let start = position
        while let byte = peek, Self.isOfNumber(byte) { position += 1 }
        guard let number = DynamicValue.Number(literal: String(decoding: bytes[start..<position], as: UTF8.self)) else {
            position = start
            throw unexpected()
        }
        return number
    }

    private static func isOfNumber(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+")
            || byte == UInt8(ascii: ".") || byte | 0x20 == UInt8(ascii: "e")
    }
}

// MARK: - Steps

extension JSONReader {
    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipBlanks() {
        while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    /// Passes over a sign of punctuation and what blanks are before it, if it is there.
    private mutating func skip(_ sign: Unicode.Scalar) -> Bool {
        skipBlanks()
        guard peek == UInt8(ascii: sign) else { return false }
        position += 1
        return true
    }

    private mutating func enter() throws(DynamicValue.JSONSyntaxError) {
        depth += 1
        guard depth <= DynamicEncoder.depth else { throw error(.tooDeep) }
        position += 1
    }

    private mutating func leave<Value>(with value: Value) -> Value {
        depth -= 1
        return value
    }

    private func error(_ problem: DynamicValue.JSONSyntaxError.Problem) -> DynamicValue.JSONSyntaxError {
        DynamicValue.JSONSyntaxError(problem: problem, offset: position)
    }

    private func unexpected() -> DynamicValue.JSONSyntaxError {
        error(position < bytes.count ? .unexpectedText : .unexpectedEnd)
    }
}

// MARK: - Text

extension JSONReader {
    /// From its opening quote to past its closing one.
    private mutating func string() throws(DynamicValue.JSONSyntaxError) -> String {
        position += 1
        var text: [UInt8] = []
        var start = position
        while let byte = peek {
            if byte == UInt8(ascii: "\"") {
                text.append(contentsOf: bytes[start..<position])
                guard let string = String(validating: text, as: UTF8.self) else { throw error(.invalidUTF8) }
                position += 1
                return string
            }
            guard byte >= 0x20 else { throw error(.controlCharacter) }
            guard byte == UInt8(ascii: "\\") else {
                position += 1
                continue
            }
            text.append(contentsOf: bytes[start..<position])
            position += 1
            text.append(contentsOf: String(try escaped()).utf8)
            start = position
        }
        throw error(.unexpectedEnd)
    }

    private mutating func escaped() throws(DynamicValue.JSONSyntaxError) -> Unicode.Scalar {
        guard let byte = peek else { throw error(.unexpectedEnd) }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{08}"
        case UInt8(ascii: "f"): return "\u{0C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try scalar()
        default:
            position -= 1
            throw unexpected()
        }
    }

    /// A scalar above U+FFFF takes two escapes; half of one is no text.
    private mutating func scalar() throws(DynamicValue.JSONSyntaxError) -> Unicode.Scalar {
        let first = try codeUnit()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard (0xD800..<0xDC00).contains(first), peek == UInt8(ascii: "\\") else { throw error(.loneSurrogate) }
        position += 1
        guard peek == UInt8(ascii: "u") else { throw error(.loneSurrogate) }
        position += 1
        let second = try codeUnit()
        guard (0xDC00..<0xE000).contains(second) else { throw error(.loneSurrogate) }
        return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00)) ?? "\u{FFFD}"
    }

    private mutating func codeUnit() throws(DynamicValue.JSONSyntaxError) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = peek, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { throw unexpected() }
            unit = unit << 4 | UInt32(digit)
            position += 1
        }
        return unit
    }
}

/// Writes one value as JSON (RFC 8259). Knows text, nothing of requests.
struct JSONWriter {
    private(set) var bytes: [UInt8] = []
    private let format: DynamicValue.JSONFormat
    private var depth = 0

    init(_ format: DynamicValue.JSONFormat) {
        self.format = format
    }

    /// What JSON has no words for, and where it is: `users[2].score`.
    private struct Refusal: Error {
        let problem: String
        var path = ""

        /// As seen from the outside of what it is in.
        func within(_ place: String) -> Refusal {
            Refusal(problem: problem, path: path.isEmpty || path.hasPrefix("[") ? place + path : "\(place).\(path)")
        }

        /// In AFNetworking's words, and what is wrong with it in ours.
        var error: NetworkError {
            let text = path.isEmpty ? problem : "\(String(reflecting: path)): \(problem)"
            return NetworkError(
                .invalidParameters, "The `parameters` argument is not valid JSON.", underlying: ParameterProblem(text))
        }
    }

    mutating func write(_ value: DynamicValue) throws {
        do {
            try put(value)
        } catch let refusal as Refusal {
            throw refusal.error
        }
    }

    private mutating func put(_ value: DynamicValue) throws {
        switch value {
        case .null: append("null")
        case .bool(let flag): append(flag ? "true" : "false")
        case .number(let number):
            guard number.isFinite else { throw Refusal(problem: "\(number) is no number in JSON") }
            append(number.literal)
        case .string(let text): write(text)
        case .data(let data): write(Base64.encode(data))
        case .date(let date):
            switch try format.dates.value(of: date) {
            case .string(let text): write(text)
            case .number(let number): append(number.literal)
            }
        case .array(let elements): try write(elements)
        case .set: throw Refusal(problem: "a set has no order, and so no form in JSON")
        case .object(let members): try write(members)
        }
    }

    private mutating func write(_ elements: [DynamicValue]) throws {
        try enter("[", elements.isEmpty)
        for (index, element) in elements.enumerated() {
            next(isFirst: index == 0)
            do {
                try put(element)
            } catch let refusal as Refusal {
                throw refusal.within("[\(index)]")
            }
        }
        leave("]", elements.isEmpty)
    }

    private mutating func write(_ members: DynamicValue.Members) throws {
        try enter("{", members.isEmpty)
        if let key = Self.repeated(in: members) { throw Refusal(problem: "an object has \"\(key)\" twice") }
        let ordered = format.order == .sorted ? members.members.sortedByKey() : members.members
        for (index, member) in ordered.enumerated() {
            next(isFirst: index == 0)
            write(member.key)
            append(format.isIndented ? ": " : ":")
            do {
                try put(member.value)
            } catch let refusal as Refusal {
                throw refusal.within(member.key)
            }
        }
        leave("}", members.isEmpty)
    }

    private static func repeated(in members: DynamicValue.Members) -> String? {
        if members.count < 2 { return nil }
        var seen: Set<[UInt8]> = []
        seen.reserveCapacity(members.count)
        return members.first { !seen.insert(Array($0.key.utf8)).inserted }?.key
    }
}

// MARK: - Layout

extension JSONWriter {
    private mutating func enter(_ bracket: StaticString, _ isEmpty: Bool) throws {
        depth += 1
        guard depth <= DynamicEncoder.depth else {
            throw Refusal(problem: "it is nested more than \(DynamicEncoder.depth) levels deep")
        }
        append(bracket)
    }

    private mutating func next(isFirst: Bool) {
        if !isFirst { append(",") }
        if format.isIndented { breakLine() }
    }

    private mutating func leave(_ bracket: StaticString, _ isEmpty: Bool) {
        depth -= 1
        if format.isIndented, !isEmpty { breakLine() }
        append(bracket)
    }

    private mutating func breakLine() {
        append("\n")
        for _ in 0..<depth { append("  ") }
    }

    private mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    private mutating func append(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }
}

// MARK: - Text

extension JSONWriter {
    /// Runs that need no escape are copied as they are.
    private mutating func write(_ text: String) {
        append("\"")
        var text = text
        text.withUTF8 { text in
            var start = 0
            for (index, byte) in text.enumerated() where mustEscape(byte) {
                bytes.append(contentsOf: text[start..<index])
                escape(byte)
                start = index + 1
            }
            bytes.append(contentsOf: text[start...])
        }
        append("\"")
    }

    private func mustEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
            || byte == UInt8(ascii: "/") && format.escapesSlashes
    }

    private mutating func escape(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): bytes += [UInt8(ascii: "\\"), byte]
        case 0x08: append("\\b")
        case 0x09: append("\\t")
        case 0x0A: append("\\n")
        case 0x0C: append("\\f")
        case 0x0D: append("\\r")
        default: append("\\u00" + (byte < 0x10 ? "0" : "") + String(byte, radix: 16))
        }
    }
}

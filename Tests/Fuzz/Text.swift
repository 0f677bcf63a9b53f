/// A text of JSON that mostly fits a shape: what it leaves out, adds and spells in other ways is for the fuzzer to say.
struct Text {
    private var choices: Choices
    private(set) var bytes: [UInt8] = []

    init(_ choices: Choices) {
        self.choices = choices
    }

    mutating func value(fitting shape: Shape) {
        if choices.isOver { return scalar(fitting: shape) }
        // Now and then something else.
        if choices.next(12) == 1 { return stray() }
        switch shape {
        case .optional(let inner):
            if choices.next(4) == 1 { put("null") } else { value(fitting: inner) }
        case .array(let inner): list((0..<choices.next(4)).map { _ in inner })
        case .pair(let first, let second): list([first, second])
        case .dictionary(let inner):
            members(
                (0..<choices.next(4)).map { _ in Shape.Member(name: choices.name(), shape: inner, isOptional: false) })
        case .integerDictionary(let inner):
            let names = ["1", "-7", "0", "007", "x", "9223372036854775808"]
            members(
                (0..<choices.next(4)).map { _ in
                    Shape.Member(name: names[choices.next(names.count)], shape: inner, isOptional: false)
                })
        case .object(let wanted): members(wanted)
        case .nested(let name, let wanted):
            members([Shape.Member(name: name, shape: .object(wanted), isOptional: false)])
        case .inherited(let wanted):
            members([Shape.Member(name: "super", shape: .object(wanted), isOptional: choices.next(4) == 1)])
        default: scalar(fitting: shape)
        }
    }

    private mutating func scalar(fitting shape: Shape) {
        switch shape {
        case .bool: put(choices.next(2) == 0 ? "true" : "false")
        case .int, .int8, .uint64, .int128, .double, .float, .date, .decimal: number()
        case .string, .either: text()
        case .data: put(["\"AP8=\"", "\"\"", "\"AP8\"", "\"\\/\\/8=\"", "\"A P8=\"", "\"AAB=\""][choices.next(6)])
        case .uuid:
            put(
                ["\"E621E1F8-C36C-495A-93FC-0C247A3E6E5F\"", "\"e621e1f8-c36c-495a-93fc-0c247a3e6e5f\"", "\"x\""][
                    choices.next(3)])
        case .url: put(["\"http:\\/\\/a/b?c#d\"", "\"\"", "\"a b\"", "\"http://[\"", "\"/é\""][choices.next(5)])
        default: put("{}")
        }
    }

    private mutating func number() {
        let numbers = [
            "0", "-0", "1", "-1", "127", "128", "-128", "-129", "255", "9223372036854775807", "9223372036854775808",
            "-9223372036854775808", "-9223372036854775809", "18446744073709551615", "18446744073709551616",
            "170141183460469231731687303715884105727", "170141183460469231731687303715884105728", "1.0", "1e2", "1E+2",
            "10e-1", "1.5", "1e400", "-1e400", "1e-400", "1.10", "0.1", "3.4028236e38", "1e39", "16777217",
            "9007199254740993", "1.7976931348623157e308", "5e-324", "2.2250738585072011e-308", "0e999999999999",
            "123456789012345678901234567890", "0.30000000000000004", "1e23", "8.41e21", "1.00000017881393432617187499",
        ]
        if choices.next(3) > 0 { return put(numbers[choices.next(numbers.count)]) }
        // A random one.
        put(choices.next(2) == 0 ? "" : "-")
        put(String(1 + choices.next(9)))
        for _ in 0..<choices.next(20) { put(String(choices.next(10))) }
        if choices.next(2) == 0 {
            put(".")
            for _ in 0..<(1 + choices.next(18)) { put(String(choices.next(10))) }
        }
        if choices.next(3) == 0 { put("e\(choices.next(2) == 0 ? "-" : "")\(choices.next(256))") }
    }

    private mutating func text() {
        put("\"")
        for _ in 0..<choices.next(8) {
            let parts = [
                "a", "id", "é", "😀", "\\n", "\\\"", "\\/", "\\u00e9", "\\ud83d\\ude00", "\\u0000", "eight by",
                "e\u{301}",
            ]
            put(parts[choices.next(parts.count)])
        }
        put("\"")
    }

    private mutating func list(_ shapes: [Shape]) {
        put("[")
        for (index, shape) in shapes.enumerated() {
            if index > 0 { put(",") }
            blank()
            value(fitting: shape)
        }
        put("]")
    }

    private mutating func members(_ wanted: [Shape.Member]) {
        put("{")
        var isFirst = true
        var seen: Set<String> = []
        for member in choices.next(4) == 1 ? wanted.reversed() : wanted {
            // Names that come twice mean other things to Foundation.
            if choices.next(10) == 1 || !seen.insert(folded(member.name)).inserted { continue }
            if !isFirst { put(",") }
            isFirst = false
            blank()
            name(member.name)
            put(":")
            blank()
            value(fitting: member.shape)
        }
        put("}")
    }

    /// Names that are one in snake case count as one.
    private func folded(_ name: String) -> String {
        switch name {
        case "firstName": "first_name"
        default: name
        }
    }

    private mutating func name(_ name: String) {
        put("\"")
        for scalar in name.unicodeScalars {
            if scalar == "\"" || choices.next(16) == 1 {
                let digits = String(scalar.value, radix: 16)
                put("\\u" + String(repeating: "0", count: 4 - digits.count) + digits)
            } else {
                put(String(scalar))
            }
        }
        put("\"")
    }

    private mutating func stray() {
        let strays = ["null", "true", "1", "\"a\"", "[]", "{}", "[null]", "{\"a\":null}", "1.5", "\"id\"", "[1,2,3]"]
        put(strays[choices.next(strays.count)])
    }

    private mutating func blank() {
        if choices.next(8) == 1 { put([" ", "\n", "\t", "\r\n  "][choices.next(4)]) }
    }

    private mutating func put(_ text: String) {
        bytes += text.utf8
    }
}

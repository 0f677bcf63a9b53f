import Dunlin
import DunlinCommandLine

/// The fields that arguments give.
///
/// No complaint shows a line, or what stands before a colon that ends no name: it may be a token that somebody forgot
/// to give a name.
extension RequestOptions {
    /// Fields that a request of HTTP/1.1 cannot do without, or that follow from its body.
    private static let needed: Set<String> = ["host", "content-length", "transfer-encoding"]

    /// Takes a line by curl's rules: `Name: value` is sent, `Name:` leaves out a field that is sent otherwise, and
    /// `Name;` is sent without a value. The form is what the line is called in complaints.
    mutating func append(_ line: String, as form: String = "-H") throws(UsageError) {
        let isOption = form == "-H"
        let form = isOption ? "-H needs \"Name: value\"" : form
        let bytes = Array(line.utf8)
        // The first byte that is a colon, as a mark may follow it.
        let end = bytes.firstIndex(of: UInt8(ascii: ":"))
        let isEmpty = end == nil && bytes.last == UInt8(ascii: ";")
        guard let end = end ?? (isEmpty ? bytes.count - 1 : nil), end > 0 else {
            let file = bytes.first == UInt8(ascii: "@") ? ", and no file is read" : ""
            throw UsageError(description: "\(form); there is no colon after a name\(file)")
        }
        guard bytes[..<end].allSatisfy(Self.isNameByte) else {
            throw UsageError(
                description: "\(form); what is before the \(isEmpty ? "semi" : "")colon is not a field's name")
        }
        let name = String(decoding: bytes[..<end], as: UTF8.self)
        let value = String(decoding: bytes[end...].dropFirst().drop { $0 == 0x20 || $0 == 0x09 }, as: UTF8.self)
        if value.isEmpty, !isEmpty {
            try leaveOut(name)
        } else {
            try append(name, value)
        }
    }

    /// Cookies are joined, as a request has one field of them (RFC 6265, 5.4).
    mutating func append(_ name: String, _ value: String) throws(UsageError) {
        try Self.check(value, of: name)
        if name.lowercased() == "cookie", let others = fields[name] {
            fields[name] = "\(others); \(value)"
        } else {
            fields.append(name: name, value: value)
        }
    }

    /// Replaces what was given for the name before.
    mutating func replace(_ name: String, _ value: String) throws(UsageError) {
        try Self.check(value, of: name)
        fields[name] = value
    }

    private mutating func leaveOut(_ name: String) throws(UsageError) {
        if Self.needed.contains(name.lowercased()) {
            throw UsageError(description: "a request cannot do without the field \(name)")
        }
        leftOut.insert(name.lowercased())
    }

    static func check(_ value: String, of name: String) throws(UsageError) {
        guard value.utf8.allSatisfy({ ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 }) else {
            throw UsageError(description: "the field \(name) has a control character in its value")
        }
    }

    /// Whether the byte may be in a token (RFC 9110, 5.6.2).
    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    /// The fields, including those that `--json` adds.
    var sentFields: Fields {
        if !isJSON || fields.contains("accept") || leftOut.contains("accept") { return fields }
        var fields = fields
        fields.append(name: "Accept", value: "application/json")
        return fields
    }

    /// The content type of a body, unless it is left out.
    func contentType(_ usual: String) -> String? { leftOut.contains("content-type") ? nil : usual }
}

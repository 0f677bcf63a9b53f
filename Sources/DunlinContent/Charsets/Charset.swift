/// How text is written as bytes, by the name of the charset in a Content-Type.
///
/// Common charsets are read here; all others by the system (`SystemCharset`). Bytes that are not text in their charset
/// cannot be read: nothing is replaced or left out.
package struct Charset: Sendable, Hashable {
    private enum Form: Sendable, Hashable {
        case utf8
        case windows1252
        case utf16(isBig: Bool?)
        case utf32(isBig: Bool?)
        case system
    }

    /// In lower case.
    package let name: String
    private let form: Form

    package static let utf8 = Charset("utf-8")

    package init(_ name: String) {
        self.name = name.lowercased()
        form =
            switch self.name {
            case "utf-8", "utf8", "us-ascii", "ascii": .utf8
            // What says Latin-1 may use the characters that Windows has in place of 32 control codes, and never means
            // those (the WHATWG Encoding Standard reads it so too).
            case "iso-8859-1", "iso8859-1", "iso_8859-1", "latin1", "l1", "windows-1252", "cp1252", "x-cp1252":
                .windows1252
            case "utf-16", "utf16", "ucs-2", "iso-10646-ucs-2": .utf16(isBig: nil)
            case "utf-16le", "utf16le": .utf16(isBig: false)
            case "utf-16be", "utf16be": .utf16(isBig: true)
            case "utf-32", "utf32": .utf32(isBig: nil)
            case "utf-32le", "utf32le": .utf32(isBig: false)
            case "utf-32be", "utf32be": .utf32(isBig: true)
            default: .system
            }
    }

    /// Whether this system has means to read it.
    var isKnown: Bool { form != .system || SystemCharset.has(name) }

    /// Nil for bytes that are not text in this charset. A byte order mark is no part of the text.
    package func text(_ bytes: Bytes) -> String? {
        switch form {
        case .utf8: bytes.withUnsafeBytes { String(validating: Self.withoutMark($0), as: UTF8.self) }
        case .windows1252: bytes.withUnsafeBytes(Self.windows1252)
        case .utf16(let isBig):
            Self.units(bytes, isBig, UInt16(0xFEFF)).flatMap { String(validating: $0, as: UTF16.self) }
        case .utf32(let isBig):
            Self.units(bytes, isBig, UInt32(0xFEFF)).flatMap { String(validating: $0, as: UTF32.self) }
        case .system: SystemCharset.text(bytes, in: name)
        }
    }

    /// The same with U+FFFD in place of what is not text, and whether that was needed. What nobody can read here is
    /// read as UTF-8.
    package func repairedText(_ bytes: Bytes) -> (text: String, isLossy: Bool) {
        if let text = text(bytes) { return (text, false) }
        switch form {
        case .utf16(let isBig): return (Self.repaired(bytes, isBig, UInt16(0xFEFF), as: UTF16.self), true)
        case .utf32(let isBig): return (Self.repaired(bytes, isBig, UInt32(0xFEFF), as: UTF32.self), true)
        case .system:
            if let text = SystemCharset.repairedText(bytes, in: name) { return (text, true) }
            if self != .utf8 { return Self.utf8.repairedText(bytes) }
        case .utf8, .windows1252: break
        }
        return (bytes.withUnsafeBytes { String(decoding: Self.withoutMark($0), as: UTF8.self) }, true)
    }

    private static func repaired<Form: Unicode.Encoding>(
        _ bytes: Bytes, _ isBig: Bool?, _ mark: Form.CodeUnit, as form: Form.Type
    ) -> String where Form.CodeUnit: FixedWidthInteger {
        let whole = bytes.count - bytes.count % MemoryLayout<Form.CodeUnit>.size
        let units = units(Bytes(bytes.prefix(whole)), isBig, mark) ?? []
        return String(decoding: units, as: form) + (whole < bytes.count ? "\u{FFFD}" : "")
    }

    private static func withoutMark(_ bytes: UnsafeRawBufferPointer) -> Slice<UnsafeRawBufferPointer> {
        bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...]
    }

    /// What stands at 0x80 to 0x9F.
    private static let windowsExtras: [UInt16] = [
        0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D,
        0x017D, 0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A,
        0x0153, 0x9D, 0x017E, 0x0178,
    ]

    private static func windows1252(_ bytes: UnsafeRawBufferPointer) -> String {
        let units = bytes.map { (0x80...0x9F).contains($0) ? windowsExtras[Int($0) - 0x80] : UInt16($0) }
        return String(decoding: units, as: UTF16.self)
    }

    /// The code units; without order and mark the big end comes first (RFC 2781 §4.3). Nil for half a unit at the end.
    private static func units<Unit: FixedWidthInteger>(_ bytes: Bytes, _ isBig: Bool?, _ mark: Unit) -> [Unit]? {
        let size = MemoryLayout<Unit>.size
        guard bytes.count.isMultiple(of: size) else { return nil }
        return bytes.withUnsafeBytes { raw in
            let first = raw.isEmpty ? 0 : raw.loadUnaligned(as: Unit.self)
            let isBig = isBig ?? (first.littleEndian != mark)
            let units = stride(from: 0, to: raw.count, by: size).map { offset in
                let unit = raw.loadUnaligned(fromByteOffset: offset, as: Unit.self)
                return isBig ? unit.bigEndian : unit.littleEndian
            }
            return units.first == mark ? Array(units.dropFirst()) : units
        }
    }
}

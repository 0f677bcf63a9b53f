internal import DunlinSemantics

/// A character encoding, identified by the name of the charset in a Content-Type.
///
/// Common charsets are read here; all others by the system (`SystemCharset`). Bytes that are invalid in the charset are
/// an error: nothing is replaced or left out.
package struct Charset: Sendable, Hashable {
    private enum Form: Sendable, Hashable {
        case unicode(UnicodeForm)
        case windows1252
        case system
    }

    /// The name in lower case.
    package let name: String
    private let form: Form

    package static let utf8 = Charset("utf-8")

    package init(_ name: String) {
        self.name = name.lowercased()
        form =
            switch self.name {
            case "utf-8", "utf8", "us-ascii", "ascii": .unicode(.utf8)
            // Text declared as Latin-1 may use the characters that Windows has in place of 32 control codes, and never
            // means those (the WHATWG Encoding Standard reads it so too).
            case "iso-8859-1", "iso8859-1", "iso_8859-1", "latin1", "l1", "windows-1252", "cp1252", "x-cp1252":
                .windows1252
            case "utf-16", "utf16", "ucs-2", "iso-10646-ucs-2": .unicode(.utf16(isBig: nil))
            case "utf-16le", "utf16le": .unicode(.utf16(isBig: false))
            case "utf-16be", "utf16be": .unicode(.utf16(isBig: true))
            case "utf-32", "utf32": .unicode(.utf32(isBig: nil))
            case "utf-32le", "utf32le": .unicode(.utf32(isBig: false))
            case "utf-32be", "utf32be": .unicode(.utf32(isBig: true))
            default: .system
            }
    }

    /// Whether this system can read it.
    var isKnown: Bool { form != .system || SystemCharset.has(name) }

    /// The text of `bytes`, without a byte order mark; nil if they are invalid in this charset.
    package func text(_ bytes: Bytes) -> String? {
        switch form {
        case .unicode(let form): form.text(bytes)
        case .windows1252: bytes.withUnsafeBytes(Self.windows1252)
        case .system: SystemCharset.text(bytes, in: name)
        }
    }

    /// The text with U+FFFD in place of invalid bytes, and whether there were any. A charset that is unknown here is
    /// read as UTF-8.
    package func repairedText(_ bytes: Bytes) -> (text: String, isLossy: Bool) {
        if let text = text(bytes) { return (text, false) }
        switch form {
        case .unicode(let form): return (form.repairedText(bytes), true)
        case .system:
            if let text = SystemCharset.repairedText(bytes, in: name) { return (text, true) }
            return Self.utf8.repairedText(bytes)
        // Windows-1252 has a character for every byte.
        case .windows1252: return (UnicodeForm.utf8.repairedText(bytes), true)
        }
    }

    /// The characters at 0x80 to 0x9F.
    private static let windowsExtras: [UInt16] = [
        0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D,
        0x017D, 0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A,
        0x0153, 0x9D, 0x017E, 0x0178,
    ]

    private static func windows1252(_ bytes: UnsafeRawBufferPointer) -> String {
        let units = bytes.map { (0x80...0x9F).contains($0) ? windowsExtras[Int($0) - 0x80] : UInt16($0) }
        return String(decoding: units, as: UTF16.self)
    }
}

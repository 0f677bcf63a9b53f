package import DunlinTypes

/// How Unicode text is written as bytes: in UTF-8, or in UTF-16 or UTF-32 with either end first.
///
/// Bytes that are not such text cannot be read: nothing is replaced or left out. A byte order mark is no part of the
/// text.
package enum UnicodeForm: Sendable, Hashable {
    case utf8
    /// UTF-16. `isBig` tells whether the big end comes first; nil if a byte order mark decides.
    case utf16(isBig: Bool?)
    case utf32(isBig: Bool?)

    /// Returns the text; nil for bytes that are not text in this form.
    package func text(_ bytes: Bytes) -> String? {
        switch self {
        case .utf8: bytes.withUnsafeBytes { String(validating: Self.withoutMark($0), as: UTF8.self) }
        case .utf16(let isBig):
            Self.units(bytes, isBig, UInt16(0xFEFF)).flatMap { String(validating: $0, as: UTF16.self) }
        case .utf32(let isBig):
            Self.units(bytes, isBig, UInt32(0xFEFF)).flatMap { String(validating: $0, as: UTF32.self) }
        }
    }

    /// Returns the text with U+FFFD in place of invalid bytes.
    package func repairedText(_ bytes: Bytes) -> String {
        switch self {
        case .utf8: bytes.withUnsafeBytes { String(decoding: Self.withoutMark($0), as: UTF8.self) }
        case .utf16(let isBig): Self.repaired(bytes, isBig, UInt16(0xFEFF), as: UTF16.self)
        case .utf32(let isBig): Self.repaired(bytes, isBig, UInt32(0xFEFF), as: UTF32.self)
        }
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

    /// Returns the code units; without order and mark the big end comes first (RFC 2781 §4.3). Nil for half a unit at
    /// the end.
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

extension Bytes {
    /// The form with the byte order that a mark of two or four bytes states.
    package var markedForm: UnicodeForm? {
        if starts(with: [0xFF, 0xFE, 0, 0]) || starts(with: [0, 0, 0xFE, 0xFF]) { return .utf32(isBig: nil) }
        return starts(with: [0xFF, 0xFE]) || starts(with: [0xFE, 0xFF]) ? .utf16(isBig: nil) : nil
    }
}

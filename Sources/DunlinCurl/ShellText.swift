package import DunlinTypes

/// Text for a POSIX shell (IEEE Std 1003.1, Shell Command Language, 2.2) that cannot affect a terminal: dangerous
/// characters become octal digits for `printf`.
package enum ShellText {
    /// The text as one word, in single quotes where it needs any.
    ///
    /// Characters that affect a terminal are inserted by a command substitution, which removes trailing line ends.
    package static func quoted(_ text: String) -> String {
        let bytes = Bytes(Array(text.utf8))
        if plain(bytes) == nil { return "\"$(\(printing(bytes)))\"" }
        if !text.isEmpty, text.utf8.allSatisfy(isPlain) { return text }
        return text.inSingleQuotes
    }

    /// Whether a byte has no meaning to a shell.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "-_./:,+@%".utf8.contains(byte)
        }
    }

    /// The text if it may be in a command unchanged, because no byte ends a word early or affects a terminal; otherwise
    /// nil.
    package static func plain(_ bytes: Bytes) -> String? {
        guard let text = bytes.withUnsafeBytes({ String(validating: $0, as: UTF8.self) }) else { return nil }
        let isPlain = text.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control: scalar == "\n" || scalar == "\t"
            case .format, .surrogate, .unassigned, .privateUse, .lineSeparator, .paragraphSeparator: false
            // Variation selectors determine how an emoji looks.
            default: !scalar.properties.isDefaultIgnorableCodePoint || ["\u{FE0E}", "\u{FE0F}"].contains(scalar)
            }
        }
        return isPlain ? text : nil
    }

    /// A command that prints exactly these bytes, with all but printable ASCII as three octal digits.
    package static func printing(_ bytes: Bytes) -> String {
        var format = ""
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "%"): format += "%%"
            case UInt8(ascii: "\\"): format += #"\\"#
            case 0x20...0x7E: format.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 8)
                format += "\\" + String(repeating: "0", count: 3 - digits.count) + digits
            }
        }
        // A format that begins with a dash could be taken for an option.
        if format.hasPrefix("-") { format = #"\055"# + format.dropFirst() }
        return "printf " + quoted(format)
    }
}

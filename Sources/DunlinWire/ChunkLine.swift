internal import DunlinTypes

/// The line before a chunk's data: its size in hexadecimal, and any extensions (RFC 9112 §7.1).
///
/// The size consists of digits only, without sign or prefix; an extension is `;name`, `;name=token` or
/// `;name="quoted"`, with blanks only around `;` and `=`; the line ends with CR LF. Extensions are checked, counted and
/// forgotten. It must not know what a size of zero means.
///
/// It takes one step for each byte, so the same byte raises the same error wherever the input is cut.
struct ChunkLine: Sendable {
    private enum Part: UInt8 {
        case firstDigit, digits
        case afterSize, beforeName, name, afterName
        case beforeValue, token, afterValue
        case quoted, escaped, afterQuote
        case lineFeed
    }

    private let lineLimit: Int
    private let extensionLimit: Int
    private var part = Part.firstDigit
    private var size = 0
    private var lineCount = 0
    private var extensionCount = 0

    init(limits: WireLimits) {
        lineLimit = limits.chunkLineBytes
        extensionLimit = limits.chunkExtensionBytes
    }

    /// Returns the chunk's size when the line is complete; nil if more bytes are needed. `position` moves past what was
    /// read.
    mutating func scan(
        _ bytes: UnsafeBufferPointer<UInt8>, _ position: inout Int
    ) throws(WireError) -> Int? {
        while position < bytes.count {
            let byte = bytes[position]
            guard lineCount < lineLimit else { throw .chunkLineTooLong(limit: lineLimit) }
            lineCount &+= 1
            position &+= 1
            switch part {
            case .firstDigit, .digits:
                try takeSize(byte)
            case .lineFeed:
                guard byte == Octets.lf else { throw .invalidChunkLineEnd }
                return finish()
            default:
                try takeExtension(byte)
            }
        }
        return nil
    }

    private mutating func finish() -> Int {
        let result = size
        part = .firstDigit
        size = 0
        lineCount = 0
        return result
    }

    @inline(__always)
    private mutating func takeSize(_ byte: UInt8) throws(WireError) {
        if let digit = Hex.value(byte) {
            guard size <= Int.max &>> 4 else { throw .chunkSizeOverflow }
            size = size &<< 4 | Int(digit)
            part = .digits
        } else if part == .firstDigit {
            throw .invalidChunkSize
        } else if byte == Octets.cr {
            part = .lineFeed
        } else if byte == UInt8(ascii: ";") || Octets.isBlank(byte) {
            part = .afterSize
            try takeExtension(byte)
        } else {
            throw byte == Octets.lf ? .invalidChunkLineEnd : .invalidChunkSize
        }
    }

    private mutating func takeExtension(_ byte: UInt8) throws(WireError) {
        if byte == Octets.cr, part == .name || part == .token || part == .afterQuote {
            part = .lineFeed
            return
        }
        extensionCount &+= 1
        guard extensionCount <= extensionLimit else { throw .chunkExtensionsTooLarge(limit: extensionLimit) }
        guard let following = step(byte) else {
            throw byte == Octets.lf ? .invalidChunkLineEnd : .invalidChunkExtension
        }
        part = following
    }

    /// The part that `byte` leads to; nil if it is not allowed here.
    private func step(_ byte: UInt8) -> Part? {
        let isBlank = Octets.isBlank(byte)
        return switch part {
        case .afterSize, .afterValue: isBlank ? part : byte == UInt8(ascii: ";") ? .beforeName : nil
        case .beforeName: isBlank ? part : TokenCharacters.contains(byte) ? .name : nil
        case .name: TokenCharacters.contains(byte) ? part : isBlank ? .afterName : stepAfterName(byte)
        case .afterName: isBlank ? part : stepAfterName(byte)
        case .beforeValue:
            isBlank ? part : byte == UInt8(ascii: "\"") ? .quoted : TokenCharacters.contains(byte) ? .token : nil
        case .token: TokenCharacters.contains(byte) ? part : stepAfterValue(byte)
        case .afterQuote: stepAfterValue(byte)
        case .quoted: stepInQuotes(byte)
        case .escaped: Octets.isControl(byte) ? nil : .quoted
        case .firstDigit, .digits, .lineFeed: nil
        }
    }

    private func stepAfterName(_ byte: UInt8) -> Part? {
        switch byte {
        case UInt8(ascii: ";"): .beforeName
        case UInt8(ascii: "="): .beforeValue
        default: nil
        }
    }

    private func stepAfterValue(_ byte: UInt8) -> Part? {
        if Octets.isBlank(byte) { return .afterValue }
        return byte == UInt8(ascii: ";") ? .beforeName : nil
    }

    private func stepInQuotes(_ byte: UInt8) -> Part? {
        switch byte {
        case UInt8(ascii: "\""): .afterQuote
        case UInt8(ascii: "\\"): .escaped
        default: Octets.isControl(byte) ? nil : .quoted
        }
    }
}

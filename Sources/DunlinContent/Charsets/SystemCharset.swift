internal import Glibc  // iconv alone, which knows the charsets that are not worth tables of our own

/// The charsets that the C library can read.
enum SystemCharset {
    static func has(_ name: String) -> Bool {
        guard let conversion = Conversion(from: name) else { return false }
        conversion.close()
        return true
    }

    /// The text of `bytes`; nil if the charset is unknown here, or if the bytes are invalid in it.
    static func text(_ bytes: Bytes, in name: String) -> String? {
        guard let conversion = Conversion(from: name) else { return nil }
        defer { conversion.close() }
        return conversion.utf8(bytes).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// The text with U+FFFD in place of each byte that cannot be read; nil if the charset is unknown here.
    static func repairedText(_ bytes: Bytes, in name: String) -> String? {
        guard let conversion = Conversion(from: name) else { return nil }
        defer { conversion.close() }
        return String(decoding: conversion.repairedUTF8(bytes), as: UTF8.self)
    }

    private struct Conversion {
        private let handle: iconv_t

        init?(from name: String) {
            // A slash would begin what the C library calls a suffix, such as one that leaves out what cannot be read.
            let isName = name.utf8.allSatisfy { byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || [UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: ":"), UInt8(ascii: ".")].contains(byte)
            }
            guard isName, (1...40).contains(name.utf8.count) else { return nil }
            guard let handle = iconv_open("UTF-8", name), Int(bitPattern: handle) != -1 else { return nil }
            self.handle = handle
        }

        func close() {
            iconv_close(handle)
        }

        func utf8(_ bytes: Bytes) -> [UInt8]? {
            var text: [UInt8] = []
            text.reserveCapacity(bytes.count + bytes.count / 2)
            // iconv takes a mutable pointer but does not write through it.
            var input = bytes.array.map { CChar(bitPattern: $0) }
            let isRead = input.withUnsafeMutableBufferPointer { input in
                var next = input.baseAddress
                var left = input.count
                // The last call, without input, delivers what the converter still holds.
                while left > 0 {
                    guard step(&next, &left, into: &text) else { return false }
                }
                next = nil
                return step(&next, &left, into: &text)
            }
            return isRead ? text : nil
        }

        /// Bytes that cannot be read are skipped one at a time, since text or markup may follow.
        func repairedUTF8(_ bytes: Bytes) -> [UInt8] {
            var text: [UInt8] = []
            text.reserveCapacity(bytes.count + bytes.count / 2)
            var input = bytes.array.map { CChar(bitPattern: $0) }
            var piece = [CChar](repeating: 0, count: 16 * 1024)
            input.withUnsafeMutableBufferPointer { input in
                var next = input.baseAddress
                var left = input.count
                var isDone = false
                while !isDone {
                    // Without input, iconv delivers what it still holds.
                    if left == 0 { next = nil }
                    isDone = left == 0
                    var (isRead, free) = (false, piece.count)
                    let before = left
                    piece.withUnsafeMutableBufferPointer { buffer in
                        var output = buffer.baseAddress
                        isRead = iconv(handle, &next, &left, &output, &free) != -1 || errno == E2BIG
                    }
                    text += piece.prefix(piece.count - free).lazy.map { UInt8(bitPattern: $0) }
                    let isStuck = left == before && free == piece.count
                    guard !isRead || isStuck, left > 0 else { continue }
                    text += [0xEF, 0xBF, 0xBD]
                    next = next?.advanced(by: 1)
                    left -= 1
                }
            }
            return text
        }

        /// Converts what fits into one piece. Returns false for input that cannot be read, and if there is no progress:
        /// some versions of the C library ask for more room without end.
        private func step(
            _ input: inout UnsafeMutablePointer<CChar>?, _ left: inout Int, into text: inout [UInt8]
        ) -> Bool {
            var piece = [CChar](repeating: 0, count: 16 * 1024)
            var (isDone, free) = (false, piece.count)
            let before = left
            piece.withUnsafeMutableBufferPointer { buffer in
                var output = buffer.baseAddress
                let outcome = iconv(handle, &input, &left, &output, &free)
                isDone = outcome != -1 || errno == E2BIG
            }
            text += piece.prefix(piece.count - free).map { UInt8(bitPattern: $0) }
            return isDone && (left == 0 || left < before || free < piece.count)
        }
    }
}

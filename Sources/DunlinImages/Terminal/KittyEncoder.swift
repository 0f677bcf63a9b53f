internal import Dunlin
internal import DunlinCodecs

/// A picture in kitty's graphics protocol: its pixels or a PNG file, in Base64 and sent in chunks.
///
/// Rules: the first chunk has all parameters of the picture, the others say only whether more follow. A chunk has at
/// most 4,096 characters, and in all but the last their number is a multiple of four. The terminal is told not to
/// answer (`q=2`) and not to move the cursor (`C=1`).
enum KittyEncoder {
    static let longestChunk = 4096

    /// Encodes a picture. `png` is sent if it is shorter than the pixels. The picture is stretched to the cells, if
    /// given, and replaces an earlier one with the same number.
    static func encode(
        _ picture: ImageBuffer, png: Bytes? = nil, cells: (columns: Int, rows: Int)? = nil, number: UInt32? = nil
    ) -> [UInt8] {
        let (payload, format) = shortest(picture, png)
        var control = "a=T,q=2,C=1,\(format)"
        if let number { control += ",i=\(number),p=1" }
        if let cells { control += ",c=\(cells.columns),r=\(cells.rows)" }
        return chunks(of: Array(Base64.encode(payload).utf8), control)
    }

    private static func shortest(_ picture: ImageBuffer, _ png: Bytes?) -> (payload: Bytes, format: String) {
        let channels = picture.isOpaque ? 3 : 4
        if let png, png.count < picture.width * picture.height * channels { return (png, "f=100") }
        let size = ",s=\(picture.width),v=\(picture.height)"
        if channels == 4 { return (Bytes(picture.converted(to: .straight).pixels), "f=32" + size) }
        var payload: [UInt8] = []
        payload.reserveCapacity(picture.width * picture.height * 3)
        let bytes = picture.span
        for index in stride(from: 0, to: bytes.count, by: 4) {
            for channel in 0..<3 { payload.append(bytes[index + channel]) }
        }
        return (Bytes(payload), "f=24" + size)
    }

    private static func chunks(of text: [UInt8], _ control: String) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(text.count + text.count / 256 + 64)
        var rest = text[...]
        var control = control + ","
        repeat {
            let chunk = rest.prefix(longestChunk)
            rest = rest.dropFirst(longestChunk)
            output += "\u{1B}_G\(control)m=\(rest.isEmpty ? 0 : 1);".utf8
            output += chunk
            output += "\u{1B}\\".utf8
            control = "q=2,"
        } while !rest.isEmpty
        return output
    }
}

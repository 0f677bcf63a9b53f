internal import DunlinTypes

/// The run lengths of a Windows bitmap, RLE8 and RLE4. Skipped pixels get the first colour of the palette.
struct BMPRuns {
    private let size: ImageSize
    private let bits: Int
    private let palette: [UInt32]
    private var offset: Int
    private var column = 0
    /// The current row, from the bottom.
    private var row = 0
    private var hasBegun = false

    init(_ header: BMPHeader, _ palette: [UInt32]) {
        size = header.size
        bits = header.bits
        self.palette = palette
        offset = header.pixels
    }

    /// Decodes about `rows` rows; returns false at the end.
    mutating func step(
        _ input: Bytes, _ pixels: inout [UInt8], rows: Int, format: ImageFormat
    ) throws(ImageError) -> Bool {
        if !hasBegun { fill(&pixels) }
        hasBegun = true
        let octets = Octets(input)
        let end = row + rows
        // Instructions that only skip pixels complete no row, so they are counted too.
        for _ in 0..<rows * size.width where row < min(end, size.height) {
            guard let count = octets[offset], let value = octets[offset + 1] else { throw .truncated(format) }
            offset += 2
            if count > 0 {
                for index in 0..<Int(count) { draw(number(value, index), &pixels) }
            } else if try !escape(value, octets, &pixels, format) {
                return false
            }
        }
        return row < size.height
    }

    /// Handles an escape; returns false at the end of the picture.
    private mutating func escape(
        _ value: UInt8, _ octets: Octets, _ pixels: inout [UInt8], _ format: ImageFormat
    ) throws(ImageError) -> Bool {
        switch value {
        case 0: (column, row) = (0, row + 1)
        case 1: return false
        case 2:
            guard let right = octets[offset], let up = octets[offset + 1] else { throw .truncated(format) }
            column += Int(right)
            row += Int(up)
            offset += 2
        default:
            let length = bits == 8 ? Int(value) : (Int(value) + 1) / 2
            guard let run = octets.slice(offset, length) else { throw .truncated(format) }
            for index in 0..<Int(value) {
                draw(bits == 8 ? run[index] : number(run[index / 2], index), &pixels)
            }
            // Such a run is padded to two bytes.
            offset += length + length % 2
        }
        return true
    }

    /// Returns the index of a colour in a byte, which holds one, or two of four bits.
    private func number(_ value: UInt8, _ index: Int) -> UInt8 {
        bits == 8 ? value : index % 2 == 0 ? value >> 4 : value & 15
    }

    /// Draws a pixel, unless it is beyond the end of the row.
    private mutating func draw(_ number: UInt8, _ pixels: inout [UInt8]) {
        guard column < size.width, row < size.height else { return }
        set(palette[Int(number)], ((size.height - 1 - row) * size.width + column) * 4, &pixels)
        column += 1
    }

    private func fill(_ pixels: inout [UInt8]) {
        for index in stride(from: 0, to: pixels.count, by: 4) { set(palette[0], index, &pixels) }
    }

    private func set(_ color: UInt32, _ index: Int, _ pixels: inout [UInt8]) {
        for channel in 0..<4 { pixels[index + channel] = UInt8(truncatingIfNeeded: color >> (channel * 8)) }
    }
}

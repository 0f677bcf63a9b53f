internal import DunlinTypes

/// Decodes Windows bitmaps, alone or in an icon with its mask, without a library.
struct BMPDecoder: RowDecoder, ~Copyable {
    private let header: BMPHeader
    private let format: ImageFormat
    private let palette: [UInt32]
    private var row = 0
    private var runs: BMPRuns?
    private var hasSeenAlpha = false
    let hasAlpha: Bool
    var size: ImageSize { header.size }
    var alpha: ImageBuffer.Alpha { .straight }
    var profile: Bytes? { nil }

    init(_ input: Bytes, _ header: BMPHeader, _ format: ImageFormat) throws(ImageError) {
        let octets = Octets(input)
        self.header = header
        self.format = format
        hasAlpha = header.hasAlpha
        var palette = [UInt32](repeating: 0xFF00_0000, count: header.bits <= 8 ? 1 << header.bits : 0)
        for index in 0..<min(header.palette.count, palette.count) {
            let entry = header.palette.start + index * header.palette.width
            guard let blue = octets[entry], let green = octets[entry + 1], let red = octets[entry + 2] else {
                throw .truncated(format)
            }
            palette[index] = Self.pixel(red, green, blue, 255)
        }
        self.palette = palette
        if case .runs = header.coding { runs = BMPRuns(header, palette) }
    }

    static func pixel(_ red: UInt8, _ green: UInt8, _ blue: UInt8, _ alpha: UInt8) -> UInt32 {
        UInt32(red) | UInt32(green) << 8 | UInt32(blue) << 16 | UInt32(alpha) << 24
    }

    mutating func step(_ input: Bytes, _ pixels: inout [UInt8], rows: Int) throws(ImageError) -> Bool {
        if runs != nil { return try runs?.step(input, &pixels, rows: rows, format: format) ?? false }
        for _ in 0..<rows where row < size.height {
            let targetRow = header.isTopDown ? row : size.height - 1 - row
            try decode(input, &pixels, targetRow)
            row += 1
        }
        if row < size.height { return true }
        if hasAlpha { endAlpha(input, &pixels) }
        return false
    }

    /// Decodes the next stored row into a row of the picture.
    private mutating func decode(_ input: Bytes, _ pixels: inout [UInt8], _ targetRow: Int) throws(ImageError) {
        guard let line = Octets(input).slice(header.pixels + row * header.rowLength, header.rowLength) else {
            throw .truncated(format)
        }
        let source = line.span
        var target = targetRow * size.width * 4
        for column in 0..<size.width {
            let value = color(source, column)
            if value >> 24 != 0 { hasSeenAlpha = true }
            for shift in 0..<4 { pixels[target + shift] = UInt8(truncatingIfNeeded: value >> (shift * 8)) }
            target += 4
        }
    }

    private func color(_ line: Span<UInt8>, _ column: Int) -> UInt32 {
        if header.bits <= 8 {
            let position = column * header.bits
            let shift = 8 - header.bits - position % 8
            return palette[Int(line[position / 8] >> UInt8(shift)) & (1 << header.bits - 1)]
        }
        let start = column * header.bits / 8
        guard case .masks(let red, let green, let blue, let alpha) = header.coding else {
            return Self.pixel(line[start + 2], line[start + 1], line[start], 255)
        }
        var value = UInt32(line[start]) | UInt32(line[start + 1]) << 8
        if header.bits == 32 { value |= UInt32(line[start + 2]) << 16 | UInt32(line[start + 3]) << 24 }
        return Self.pixel(
            red?.value(value) ?? 0, green?.value(value) ?? 0, blue?.value(value) ?? 0, alpha?.value(value) ?? 255)
    }

    /// Corrects alpha where no pixel has any: a bitmap is opaque then, and an icon uses its mask.
    private func endAlpha(_ input: Bytes, _ pixels: inout [UInt8]) {
        if header.hasAlphaMask, hasSeenAlpha { return }
        if header.hasAlphaMask {
            for index in stride(from: 3, to: pixels.count, by: 4) { pixels[index] = 255 }
        }
        if header.isIcon { for row in 0..<size.height { mask(row, input, &pixels) } }
    }

    /// Clears the pixels of a row that the icon's mask covers. Some icons have an incomplete mask.
    private func mask(_ row: Int, _ input: Bytes, _ pixels: inout [UInt8]) {
        let start = header.pixels + size.height * header.rowLength + row * header.maskLength
        guard let line = Octets(input).slice(start, header.maskLength) else { return }
        let targetRow = header.isTopDown ? row : size.height - 1 - row
        for column in 0..<size.width where line[column / 8] & (0x80 >> UInt8(column % 8)) != 0 {
            let target = (targetRow * size.width + column) * 4
            for channel in target..<target + 4 { pixels[channel] = 0 }
        }
    }
}

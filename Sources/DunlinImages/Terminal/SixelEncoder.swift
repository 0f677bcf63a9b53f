internal import DunlinCodecs

/// A picture as sixels: bands of six rows, with a line of characters for each colour of a band. The six bits of a
/// character say where in its column that colour is.
///
/// Rules: the palette comes first; `!` and a number repeat the next character; `$` returns to the beginning of the band
/// for its next colour, `-` goes to the next band. Pixels without colour stay as they were, by the parameters `0;1`.
struct SixelEncoder {
    private let width: Int
    private let height: Int
    /// The number of each pixel's colour, or -1.
    private let numbers: [Int16]
    private var text: [UInt8] = []

    static func encode(_ picture: ImageBuffer, _ style: TerminalImage.Style) -> [UInt8] {
        let pixels = ShownPixels(picture, over: style.background)
        var palette = SixelPalette(of: pixels, limit: style.registers)
        let numbers =
            style.dithers && !palette.isExact
            ? Dithering.numbers(of: pixels, &palette)
            : pixels.values.map { $0 == ShownPixels.nothing ? -1 : Int16(palette.number($0)) }
        var encoder = SixelEncoder(pixels, numbers)
        encoder.write(palette)
        return encoder.text
    }

    private init(_ pixels: ShownPixels, _ numbers: [Int16]) {
        (width, height) = (pixels.width, pixels.height)
        self.numbers = numbers
    }

    private mutating func write(_ palette: SixelPalette) {
        text += "\u{1B}P0;1q\"1;1;\(width);\(height)".utf8
        for (number, color) in palette.hundredths.enumerated() {
            text += "#\(number);2;\(color.red);\(color.green);\(color.blue)".utf8
        }
        for row in stride(from: 0, to: height, by: 6) {
            writeBand(row, colors: palette.hundredths.count)
            if row + 6 < height { text.append(UInt8(ascii: "-")) }
        }
        text += "\u{1B}\\".utf8
    }

    private mutating func writeBand(_ row: Int, colors: Int) {
        /// The columns from the first to the last occurrence of each colour.
        var ranges = [Range<Int>?](repeating: nil, count: colors)
        for line in row..<min(row + 6, height) {
            for column in 0..<width {
                let number = Int(numbers[line * width + column])
                if number < 0 { continue }
                let known = ranges[number] ?? column..<column
                ranges[number] = min(known.lowerBound, column)..<max(known.upperBound, column + 1)
            }
        }
        var isFirst = true
        for (number, range) in ranges.enumerated() {
            guard let range else { continue }
            if !isFirst { text.append(UInt8(ascii: "$")) }
            isFirst = false
            text += "#\(number)".utf8
            writeLine(number, range, row)
        }
    }

    private mutating func writeLine(_ number: Int, _ range: Range<Int>, _ row: Int) {
        var (last, count) = (UInt8(0), range.lowerBound)
        for column in range {
            var bits: UInt8 = 0
            for line in row..<min(row + 6, height) where Int(numbers[line * width + column]) == number {
                bits |= 1 << UInt8(line - row)
            }
            if bits == last {
                count += 1
            } else {
                writeRun(last, count)
                (last, count) = (bits, 1)
            }
        }
        writeRun(last, count)
    }

    /// Writes a run. Runs of four or more are shorter with their length.
    private mutating func writeRun(_ bits: UInt8, _ count: Int) {
        let character = bits + 63
        if count < 4 {
            for _ in 0..<count { text.append(character) }
        } else {
            text += "!\(count)".utf8
            text.append(character)
        }
    }
}

/// Floyd-Steinberg dithering: the error of each pixel's colour is passed to the pixels on the right and below.
enum Dithering {
    static func numbers(of pixels: ShownPixels, _ palette: inout SixelPalette) -> [Int16] {
        var numbers = [Int16](repeating: -1, count: pixels.values.count)
        // Errors in sixteenths, of this row and the next, in three channels, with one more pixel at either end.
        let count = (pixels.width + 2) * 3
        var here = [Int](repeating: 0, count: count)
        var below = here
        for row in 0..<pixels.height {
            for column in 0..<pixels.width {
                let value = pixels[column, row]
                if value == ShownPixels.nothing { continue }
                let sample = (column + 1) * 3
                let (red, green, blue) = ShownPixels.parts(value)
                let wanted = (
                    wantedSample(red, here[sample]), wantedSample(green, here[sample + 1]),
                    wantedSample(blue, here[sample + 2])
                )
                let number = palette.number(
                    ShownPixels.value(UInt8(wanted.0), UInt8(wanted.1), UInt8(wanted.2)))
                numbers[row * pixels.width + column] = Int16(number)
                let color = palette.shown[number]
                spread(wanted.0 - color.red, sample, &here, &below)
                spread(wanted.1 - color.green, sample + 1, &here, &below)
                spread(wanted.2 - color.blue, sample + 2, &here, &below)
            }
            here = below
            for index in below.indices { below[index] = 0 }
        }
        return numbers
    }

    private static func spread(_ error: Int, _ sample: Int, _ here: inout [Int], _ below: inout [Int]) {
        here[sample + 3] += error * 7
        below[sample - 3] += error * 3
        below[sample] += error * 5
        below[sample + 3] += error
    }

    private static func wantedSample(_ value: Int, _ sixteenths: Int) -> Int {
        min(255, max(0, value + sixteenths / 16))
    }
}

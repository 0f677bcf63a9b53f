internal import DunlinCodecs

/// A picture as characters of two pixels each: the upper in the text's colour, the lower in the background's.
///
/// Rules: colours are set where they change and reset before the end of each line, so that they do not spread beyond
/// the picture. Transparent pixels show the terminal's own background.
struct BlockEncoder {
    private let colors: TerminalImage.Colors
    private var text: [UInt8] = []
    /// The colours that are set; `nothing` stands for the terminal's own.
    private var front = ShownPixels.nothing
    private var back = ShownPixels.nothing

    static func encode(_ picture: ImageBuffer, _ style: TerminalImage.Style) -> [UInt8] {
        var encoder = BlockEncoder(style.colors)
        let pixels = ShownPixels(picture, over: style.background)
        for row in stride(from: 0, to: pixels.height, by: 2) {
            for column in 0..<pixels.width { encoder.write(pixels[column, row], pixels[column, row + 1]) }
            encoder.endLine()
        }
        return encoder.text
    }

    private init(_ colors: TerminalImage.Colors) {
        self.colors = colors
    }

    private mutating func write(_ upper: ShownPixels.Value, _ lower: ShownPixels.Value) {
        if upper == lower {
            set(back: upper)
            text.append(UInt8(ascii: " "))
        } else if upper == ShownPixels.nothing {
            set(back: upper)
            set(front: lower)
            text += "▄".utf8
        } else {
            set(back: lower)
            set(front: upper)
            text += "▀".utf8
        }
    }

    private mutating func endLine() {
        if front != ShownPixels.nothing || back != ShownPixels.nothing { text += "\u{1B}[0m".utf8 }
        (front, back) = (ShownPixels.nothing, ShownPixels.nothing)
        text.append(0x0A)
    }

    private mutating func set(front value: ShownPixels.Value) {
        if front == value { return }
        front = value
        text += "\u{1B}[38;\(color(value))m".utf8
    }

    private mutating func set(back value: ShownPixels.Value) {
        if back == value { return }
        back = value
        text += (value == ShownPixels.nothing ? "\u{1B}[49m" : "\u{1B}[48;\(color(value))m").utf8
    }

    private func color(_ value: ShownPixels.Value) -> String {
        let (red, green, blue) = ShownPixels.parts(value)
        return switch colors {
        case .full: "2;\(red);\(green);\(blue)"
        case .palette: "5;\(XtermPalette.nearest(red, green, blue))"
        }
    }
}

/// The colours 16 to 255 of xterm: a cube of six steps in each direction, and 24 grays. Users may change the first 16.
enum XtermPalette {
    static let steps = [0, 95, 135, 175, 215, 255]

    static func nearest(_ red: Int, _ green: Int, _ blue: Int) -> Int {
        let parts = [red, green, blue]
        let cube = parts.map(nearestStep)
        let cubeError = zip(parts, cube).reduce(0) { $0 + square($1.0 - steps[$1.1]) }
        let gray = min(23, max(0, ((red + green + blue) / 3 - 3) / 10))
        let grayError = parts.reduce(0) { $0 + square($1 - (8 + 10 * gray)) }
        return grayError < cubeError ? 232 + gray : 16 + 36 * cube[0] + 6 * cube[1] + cube[2]
    }

    /// Red, green and blue of a number from 16 to 255.
    static func parts(_ number: Int) -> (red: Int, green: Int, blue: Int) {
        if number >= 232 {
            let gray = 8 + 10 * (number - 232)
            return (gray, gray, gray)
        }
        let index = number - 16
        return (steps[index / 36], steps[index / 6 % 6], steps[index % 6])
    }

    private static func nearestStep(_ value: Int) -> Int {
        value < 48 ? 0 : value < 115 ? 1 : (value - 35) / 40
    }

    private static func square(_ value: Int) -> Int { value * value }
}

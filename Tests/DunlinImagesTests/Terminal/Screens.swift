import DunlinCodecs

/// What a terminal would show of an encoder's output: pixels that have a colour, or nil. Each reads strictly, so that
/// what a terminal would stumble over is nil as a whole.
struct Screen: Equatable {
    let width: Int
    let height: Int
    var pixels: [ImageBuffer.Pixel?]

    init(width: Int, height: Int) {
        (self.width, self.height) = (width, height)
        pixels = Array(repeating: nil, count: width * height)
    }

    subscript(column: Int, row: Int) -> ImageBuffer.Pixel? {
        get { pixels[row * width + column] }
        set { pixels[row * width + column] = newValue }
    }

    /// How far it is from a picture at most, in any channel of any pixel that both show; nil if not the same
    /// pixels show.
    func distance(from other: Screen) -> Int? {
        guard width == other.width, height == other.height else { return nil }
        var most = 0
        for (mine, theirs) in zip(pixels, other.pixels) {
            guard (mine == nil) == (theirs == nil) else { return nil }
            guard let mine, let theirs else { continue }
            most = max(most, abs(Int(mine.red) - Int(theirs.red)), abs(Int(mine.green) - Int(theirs.green)))
            most = max(most, abs(Int(mine.blue) - Int(theirs.blue)))
        }
        return most
    }

    /// The same on average.
    func meanDistance(from other: Screen) -> Double? {
        guard width == other.width, height == other.height else { return nil }
        var (sum, count) = (0, 0)
        for case (let mine?, let theirs?) in zip(pixels, other.pixels) {
            sum += abs(Int(mine.red) - Int(theirs.red)) + abs(Int(mine.green) - Int(theirs.green))
            sum += abs(Int(mine.blue) - Int(theirs.blue))
            count += 3
        }
        return Double(sum) / Double(max(1, count))
    }

    /// A picture as it is, without what is not at least half there.
    init(_ picture: ImageBuffer) {
        self.init(width: picture.width, height: picture.height)
        for row in 0..<height {
            for column in 0..<width where picture[column, row].alpha >= 128 {
                let pixel = picture[column, row]
                self[column, row] = ImageBuffer.Pixel(pixel.red, pixel.green, pixel.blue)
            }
        }
    }
}

/// Takes text apart from its beginning.
struct Cursor {
    var rest: Substring

    init(_ text: String) { rest = text[...] }

    mutating func take(_ prefix: String) -> Bool {
        guard rest.utf8.starts(with: prefix.utf8) else { return false }
        rest = Substring(rest.unicodeScalars.dropFirst(prefix.unicodeScalars.count))
        return true
    }

    mutating func next() -> Unicode.Scalar? {
        guard let first = rest.unicodeScalars.first else { return nil }
        rest = Substring(rest.unicodeScalars.dropFirst())
        return first
    }

    mutating func number() -> Int? {
        let digits = rest.prefix { $0.isASCII && $0.isNumber }
        rest = rest.dropFirst(digits.count)
        return Int(digits)
    }

    mutating func numbers() -> [Int]? {
        var all: [Int] = []
        repeat {
            guard let number = number() else { return nil }
            all.append(number)
        } while take(";")
        return all
    }
}

extension Screen {
    /// Sixels, as a VT340 reads them.
    init?(sixels text: String) {
        var text = Cursor(text)
        guard text.take("\u{1B}P0;1q\"1;1;"), let size = text.numbers(), size.count == 2 else { return nil }
        self.init(width: size[0], height: size[1])
        var colors: [Int: ImageBuffer.Pixel] = [:]
        var (column, band, color) = (0, 0, -1)
        while !text.take("\u{1B}\\") {
            if text.take("#") {
                guard let numbers = text.numbers() else { return nil }
                color = numbers[0]
                if numbers.count == 5 {
                    guard numbers[1] == 2, numbers[2...].allSatisfy((0...100).contains), color < 256 else { return nil }
                    let parts = numbers[2...].map { UInt8(($0 * 255 + 50) / 100) }
                    colors[color] = ImageBuffer.Pixel(parts[0], parts[1], parts[2])
                }
            } else if text.take("$") {
                column = 0
            } else if text.take("-") {
                (column, band) = (0, band + 6)
            } else {
                let isRun = text.take("!")
                guard let count = isRun ? text.number() : 1, let character = text.next(),
                    (63...126).contains(character.value), let pixel = colors[color]
                else { return nil }
                for column in column..<column + count {
                    for line in 0..<6 where (character.value - 63) >> UInt32(line) & 1 == 1 {
                        guard column < width, band + line < height else { return nil }
                        self[column, band + line] = pixel
                    }
                }
                column += count
            }
        }
        guard text.rest.isEmpty else { return nil }
    }

    /// Half blocks: two rows of pixels for each line.
    init?(blocks text: String, width: Int) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.last == "" else { return nil }
        self.init(width: width, height: (lines.count - 1) * 2)
        for (index, line) in lines.dropLast().enumerated() {
            var text = Cursor(String(line))
            var (front, back): (ImageBuffer.Pixel?, ImageBuffer.Pixel?) = (nil, nil)
            var column = 0
            while !text.rest.isEmpty {
                if text.take("\u{1B}[") {
                    guard let numbers = text.numbers(), text.take("m") else { return nil }
                    switch numbers[0] {
                    case 0: (front, back) = (nil, nil)
                    case 49: back = nil
                    case 38: front = Self.color(numbers)
                    case 48: back = Self.color(numbers)
                    default: return nil
                    }
                    continue
                }
                guard column < width, let character = text.next() else { return nil }
                switch character {
                case " ": (self[column, index * 2], self[column, index * 2 + 1]) = (back, back)
                case "▀": (self[column, index * 2], self[column, index * 2 + 1]) = (front, back)
                case "▄": (self[column, index * 2], self[column, index * 2 + 1]) = (back, front)
                default: return nil
                }
                column += 1
            }
            // Each line is whole, and leaves no colour behind.
            guard column == width, front == nil, back == nil else { return nil }
        }
    }

    private static func color(_ numbers: [Int]) -> ImageBuffer.Pixel? {
        if numbers.count == 5, numbers[1] == 2, numbers[2...].allSatisfy((0...255).contains) {
            return ImageBuffer.Pixel(UInt8(numbers[2]), UInt8(numbers[3]), UInt8(numbers[4]))
        }
        guard numbers.count == 3, numbers[1] == 5, (16...255).contains(numbers[2]) else { return nil }
        let number = numbers[2]
        if number >= 232 {
            let gray = UInt8(8 + 10 * (number - 232))
            return ImageBuffer.Pixel(gray, gray, gray)
        }
        func level(_ step: Int) -> UInt8 { step == 0 ? 0 : UInt8(55 + 40 * step) }
        let step = number - 16
        return ImageBuffer.Pixel(level(step / 36), level(step / 6 % 6), level(step % 6))
    }
}

/// A picture as kitty's protocol sends it.
struct KittyPicture {
    var control: [String: String] = [:]
    var chunks: [Int] = []
    var payload: [UInt8] = []

    init?(_ text: String) {
        var text = Cursor(text)
        var (isFirst, isMore) = (true, true)
        var letters: [UInt8] = []
        while isMore {
            guard text.take("\u{1B}_G"), let end = text.rest.firstIndex(of: ";") else { return nil }
            var keys: [String: String] = [:]
            for pair in text.rest[..<end].split(separator: ",") {
                let parts = pair.split(separator: "=")
                guard parts.count == 2 else { return nil }
                keys[String(parts[0])] = String(parts[1])
            }
            text.rest = text.rest[end...].dropFirst()
            let chunk = text.rest.utf8.prefix { $0 != 0x1B }
            letters += chunk
            chunks.append(chunk.count)
            text.rest = text.rest.dropFirst(chunk.count)
            guard text.take("\u{1B}\\"), let more = keys["m"], isFirst || Set(keys.keys) == ["m", "q"] else {
                return nil
            }
            if isFirst { control = keys }
            (isFirst, isMore) = (false, more == "1")
        }
        guard text.rest.isEmpty, let bytes = Self.decoded(letters) else { return nil }
        payload = bytes
    }

    /// The pixels that were sent as such.
    var picture: ImageBuffer? {
        guard let width = Int(control["s"] ?? ""), let height = Int(control["v"] ?? "") else { return nil }
        var pixels = payload
        if control["f"] == "24" {
            pixels = []
            for start in stride(from: 0, to: payload.count, by: 3) { pixels += payload[start..<start + 3] + [255] }
        }
        return ImageBuffer(width: width, height: height, pixels: pixels)
    }

    private static func decoded(_ letters: [UInt8]) -> [UInt8]? {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        guard letters.count % 4 == 0 else { return nil }
        var bytes: [UInt8] = []
        for start in stride(from: 0, to: letters.count, by: 4) {
            let four = letters[start..<start + 4]
            let missing = four.filter { $0 == UInt8(ascii: "=") }.count
            var bits = 0
            for letter in four {
                let value = alphabet.firstIndex(of: letter) ?? 0
                bits = bits << 6 | value
            }
            bytes += [UInt8(bits >> 16 & 255), UInt8(bits >> 8 & 255), UInt8(bits & 255)].dropLast(missing)
        }
        return bytes
    }
}

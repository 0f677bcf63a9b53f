/// Resizes a picture, some rows at a time.
///
/// Each source row is resized to the new width once, when first needed, and kept while it is; the rows of the result
/// are sums of those. Colours have alpha multiplied in, so that invisible pixels do not colour their neighbours. Sums
/// use the stored samples, in the file's gamma and not in linear light, as browsers and most libraries do.
struct ResizingRows {
    private typealias Pixels = SIMD4<Float>

    private let source: ImageBuffer
    private let size: ImageSize
    private let alpha: ImageBuffer.Alpha
    private let across: ResizingWeights
    private let down: ResizingWeights
    /// Source rows at the new width, reused in turn: row `n` is at `n` modulo their number.
    private var kept: [Pixels]
    private let most: Int
    /// The sums of the current row.
    private var sums: [Pixels]
    private var nextSource = 0
    private var row = 0
    private var pixels: [UInt8]

    /// Prepares a resize. Sizes are at least 1 x 1, and the result has the source's form of alpha.
    init(_ source: ImageBuffer, to size: ImageSize, _ filter: ImageBuffer.Filter) {
        self.source = source
        self.size = size
        alpha = source.alpha
        across = ResizingWeights(from: source.width, to: size.width, filter)
        down = ResizingWeights(from: source.height, to: size.height, filter)
        most = down.windows.reduce(1) { max($0, $1.count) }
        kept = [Pixels](repeating: .zero, count: most * size.width)
        sums = [Pixels](repeating: .zero, count: size.width)
        pixels = [UInt8](repeating: 0, count: size.pixels * 4)
    }

    /// Returns the memory needed: the result; the rows that a row is made of, four floats a pixel; the weights.
    static func bytes(from source: ImageSize, to target: ImageSize) -> Int {
        let rows = min(source.height, source.height / target.height * 6 + 8)
        return target.pixels * 4 + target.width * 16 * rows + (source.width + source.height) * 64
    }

    var picture: ImageBuffer {
        ImageBuffer(size, pixels, alpha, isOpaque: source.isOpaque)
            .carrying(scale: source.scale, profile: source.colorProfile)
    }

    /// Produces some rows of the result; returns false once there are no more.
    mutating func step(rows: Int) -> Bool {
        let end = min(size.height, row + rows)
        while row < end {
            let window = down.windows[row]
            nextSource = max(nextSource, window.first)
            while nextSource < window.first + window.count {
                resizeAcross(nextSource)
                nextSource += 1
            }
            combine(window, row)
            row += 1
        }
        return row < size.height
    }

    private func line(_ number: Int) -> [Pixels] {
        let isStraight = alpha == .straight && !source.isOpaque
        let bytes = source.row(number)
        return (0..<source.width).map { column in
            let start = column * 4
            var pixel = Pixels(
                Float(bytes[start]), Float(bytes[start + 1]), Float(bytes[start + 2]), Float(bytes[start + 3]))
            if isStraight {
                let opacity = pixel.w
                pixel *= opacity / 255
                pixel.w = opacity
            }
            return pixel
        }
    }

    private mutating func resizeAcross(_ number: Int) {
        let line = line(number)
        let across = across
        let (from, weights, windows) = (line.span, across.weights.span, across.windows.span)
        let (start, columns) = (number % most * size.width, size.width)
        var target = kept.mutableSpan
        for column in 0..<columns {
            let window = windows[column]
            var sum = Pixels.zero
            for index in 0..<window.count { sum += from[window.first + index] * weights[window.start + index] }
            target[start + column] = sum
        }
    }

    /// Sums the kept rows in a window into a row of the result.
    private mutating func combine(_ window: ResizingWeights.Window, _ row: Int) {
        let (kept, columns) = (kept, size.width)
        let from = kept.span
        for index in 0..<window.count {
            let (start, weight) = ((window.first + index) % most * columns, down.weights[window.start + index])
            var target = sums.mutableSpan
            for column in 0..<columns {
                let part = from[start + column] * weight
                target[column] = index == 0 ? part : target[column] + part
            }
        }
        write(row)
    }

    /// Rounds the sums of a row to samples and stores them.
    private mutating func write(_ row: Int) {
        let isStraight = alpha == .straight && !source.isOpaque
        let sums = sums
        var index = row * size.width * 4
        var target = pixels.mutableSpan
        for var sum in sums {
            // The filter's negative lobes can exceed a sample's range, and colours can exceed alpha.
            let opacity = min(max(sum.w, 0), 255)
            sum.clamp(lowerBound: .zero, upperBound: Pixels(repeating: opacity))
            if isStraight, opacity > 0 { sum *= 255 / opacity }
            sum.w = opacity
            for channel in 0..<4 { target[index + channel] = UInt8(sum[channel] + 0.5) }
            index += 4
        }
    }
}

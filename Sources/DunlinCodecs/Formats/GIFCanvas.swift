/// What a GIF shows: its frames are drawn onto one another, by these rules (GIF89a §23).
///
/// - The canvas is transparent where nothing was drawn; the background colour that a file names is not used, as
///   browsers do not use it.
/// - A frame is drawn where it says, and cut at the edges of the canvas. Transparent pixels leave what was there.
/// - Before the next frame, what a frame covered becomes what its disposal says: it stays (0, 1 and what is undefined),
///   is cleared (2), or is what it was before the frame (3).
struct GIFCanvas {
    /// Where a frame is; it may lie beyond the canvas.
    struct Frame: Hashable {
        var left = 0
        var top = 0
        var width = 0
        var height = 0
        var isInterlaced = false
        var disposal = 0
        /// 256 colours; zero is transparent.
        var palette: [UInt32] = []
    }

    let size: ImageSize
    private var pixels: [UInt32]
    private var saved: [UInt32] = []
    private var frame = Frame()

    init(_ size: ImageSize) {
        self.size = size
        pixels = [UInt32](repeating: 0, count: size.pixels)
    }

    /// What is shown now, as bytes.
    var bytes: [UInt8] {
        pixels.withUnsafeBytes { Array($0) }
    }

    /// Ends the frame before, and begins another.
    mutating func begin(_ next: Frame) {
        switch frame.disposal {
        case 2: clear()
        case 3: pixels = saved
        default: break
        }
        frame = next
        saved = next.disposal == 3 ? pixels : []
    }

    /// Draws one row of the frame, given as numbers of colours.
    mutating func draw(_ indices: [UInt8], row: Int) {
        let line = frame.top + row
        let visible = min(frame.width, size.width - frame.left)
        guard line < size.height, visible > 0 else { return }
        let start = line * size.width + frame.left
        let (source, colors) = (indices.span, frame.palette)
        let palette = colors.span
        var target = pixels.mutableSpan
        for column in 0..<visible {
            let color = palette[Int(source[column])]
            if color != 0 { target[start + column] = color }
        }
    }

    private mutating func clear() {
        let right = min(frame.left + frame.width, size.width)
        guard frame.left < right, frame.top < size.height else { return }
        for row in frame.top..<min(frame.top + frame.height, size.height) {
            for index in row * size.width + frame.left..<row * size.width + right { pixels[index] = 0 }
        }
    }
}

/// The order in which a GIF has its rows.
struct GIFRows: Sequence, IteratorProtocol {
    private static let passes: [(start: Int, step: Int)] = [(0, 8), (4, 8), (2, 4), (1, 2)]
    private let height: Int
    private let isInterlaced: Bool
    private var row = 0
    private var pass = 0

    init(height: Int, isInterlaced: Bool) {
        self.height = height
        self.isInterlaced = isInterlaced
    }

    mutating func next() -> Int? {
        guard isInterlaced else {
            defer { row += 1 }
            return row < height ? row : nil
        }
        while row >= height {
            pass += 1
            if pass >= Self.passes.count { return nil }
            row = Self.passes[pass].start
        }
        defer { row += Self.passes[pass].step }
        return row
    }
}

/// The canvas of a GIF, where its frames are drawn over each other, by these rules (GIF89a §23).
///
/// - The canvas is transparent where nothing was drawn; the background colour that a file names is not used, as
///   browsers do not use it.
/// - A frame is drawn at its position, and clipped to the canvas. Transparent pixels change nothing.
/// - Before the next frame, the covered area is treated as the disposal says: kept (0, 1 and undefined values), cleared
///   (2), or restored to what it was before the frame (3).
struct GIFCanvas {
    /// The place of a frame, which may extend beyond the canvas.
    struct Frame: Hashable {
        var left = 0
        var top = 0
        var width = 0
        var height = 0
        var isInterlaced = false
        var disposal = 0
        /// The 256 colours; zero is transparent.
        var palette: [UInt32] = []

        /// Whether the frame gives every pixel of a canvas a colour.
        func covers(_ canvas: ImageSize) -> Bool {
            left == 0 && top == 0 && width >= canvas.width && height >= canvas.height && !palette.contains(0)
        }
    }

    let size: ImageSize
    /// The pixels shown now. A copy shares them until the next frame is drawn.
    private(set) var pixels: [UInt8] = []
    private var saved: [UInt8] = []
    private var frame = Frame()
    private let isTolerant: Bool

    /// Creates a canvas; a tolerant one may be shown before its first frame is complete.
    init(_ size: ImageSize, isTolerant: Bool) {
        self.size = size
        self.isTolerant = isTolerant
    }

    /// Ends the previous frame and begins another.
    mutating func begin(_ next: Frame) {
        if pixels.isEmpty {
            pixels = [UInt8].room(for: size, isZeroed: isTolerant || next.disposal == 3 || !next.covers(size))
        } else if frame.disposal == 2 {
            clear()
        } else if frame.disposal == 3 {
            pixels = saved
        }
        frame = next
        saved = next.disposal == 3 ? pixels : []
    }

    /// Draws one row of the frame, given as indices of colours.
    mutating func draw(_ indices: [UInt8], row: Int) {
        let line = frame.top + row
        let visible = min(frame.width, size.width - frame.left)
        guard line < size.height, visible > 0 else { return }
        let start = line * size.width + frame.left
        let (source, colors) = (indices.span.extracting(first: visible), frame.palette)
        let palette = colors.span
        pixels.withUnsafeMutableBytes { pixels in
            let target = UnsafeMutableRawBufferPointer(rebasing: pixels[start * 4..<(start + visible) * 4])
            for column in source.indices {
                let color = palette[Int(source[column])]
                if color != 0 { target.storeBytes(of: color, toByteOffset: column * 4, as: UInt32.self) }
            }
        }
    }

    private mutating func clear() {
        let right = min(frame.left + frame.width, size.width)
        guard frame.left < right, frame.top < size.height else { return }
        for row in frame.top..<min(frame.top + frame.height, size.height) {
            let line = row * size.width
            for index in (line + frame.left) * 4..<(line + right) * 4 { pixels[index] = 0 }
        }
    }
}

/// The order in which a GIF stores its rows.
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

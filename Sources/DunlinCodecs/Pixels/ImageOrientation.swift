/// The orientation of a camera, which decides how the stored pixels are turned to be shown. The raw values are EXIF's.
public enum ImageOrientation: UInt8, Sendable, Hashable, CaseIterable {
    case upright = 1
    case mirrored = 2
    case upsideDown = 3
    case mirroredUpsideDown = 4
    /// The stored rows are the columns to show.
    case transposed = 5
    /// The picture is to be turned right by a quarter.
    case turnedLeft = 6
    case transversed = 7
    /// The picture is to be turned left by a quarter.
    case turnedRight = 8

    /// Whether width and height are swapped.
    public var swapsSides: Bool { rawValue >= 5 }
}

extension ImageBuffer {
    /// Returns the picture as it is to be shown, with its pixels moved.
    public func applying(_ orientation: ImageOrientation) -> ImageBuffer {
        if orientation == .upright { return self }
        var turning = TurningRows(self, orientation)
        while turning.step(rows: height) {}
        return turning.picture
    }
}

/// Moves a picture's pixels as its orientation says, some rows at a time.
struct TurningRows {
    private let source: ImageBuffer
    private let orientation: ImageOrientation
    private let size: ImageSize
    private var pixels: [UInt8]
    private var row = 0

    init(_ source: ImageBuffer, _ orientation: ImageOrientation) {
        self.source = source
        self.orientation = orientation
        size = orientation.swapsSides ? source.size.transposed : source.size
        pixels = [UInt8](repeating: 0, count: source.byteCount)
    }

    var picture: ImageBuffer {
        ImageBuffer(size, pixels, source.alpha, isOpaque: source.isOpaque)
            .carrying(scale: source.scale, profile: source.colorProfile)
    }

    /// Fills some rows of the result; returns false once there are no more.
    mutating func step(rows: Int) -> Bool {
        let end = min(size.height, row + rows)
        while row < end {
            fill(row)
            row += 1
        }
        return row < size.height
    }

    /// Returns where the leftmost pixel of a row of the result is stored, and the distance to the next.
    private func walk(_ row: Int) -> (start: Int, step: Int) {
        let (right, bottom, stride) = (source.width - 1, source.height - 1, source.width)
        return switch orientation {
        case .upright: (row * stride, 1)
        case .mirrored: (row * stride + right, -1)
        case .upsideDown: ((bottom - row) * stride + right, -1)
        case .mirroredUpsideDown: ((bottom - row) * stride, 1)
        case .transposed: (row, stride)
        case .turnedLeft: (bottom * stride + row, -stride)
        case .transversed: (bottom * stride + right - row, -stride)
        case .turnedRight: (right - row, stride)
        }
    }

    private mutating func fill(_ row: Int) {
        var (from, step) = walk(row)
        from *= 4
        step *= 4
        let (source, width) = (source, size.width)
        let span = source.span
        var to = row * width * 4
        var target = pixels.mutableSpan
        for _ in 0..<width {
            for channel in 0..<4 { target[to + channel] = span[from + channel] }
            from += step
            to += 4
        }
    }
}

/// Converts between straight and premultiplied alpha.
enum AlphaConversion {
    static func premultiplied(_ value: UInt8, _ alpha: UInt8) -> UInt8 {
        UInt8(truncatingIfNeeded: (UInt32(value) * UInt32(alpha) + 127) / 255)
    }

    static func straight(_ value: UInt8, _ alpha: UInt8) -> UInt8 {
        if alpha == 0 { return 0 }
        return UInt8(min(255, (UInt32(value) * 255 + UInt32(alpha) / 2) / UInt32(alpha)))
    }

    /// Converts the pixels of some rows in place.
    static func convert(_ pixels: inout MutableSpan<UInt8>, _ range: Range<Int>, to alpha: ImageBuffer.Alpha) {
        var index = range.lowerBound
        while index + 3 < range.upperBound {
            let opacity = pixels[index + 3]
            if opacity < 255 {
                for channel in index..<index + 3 {
                    let value = pixels[channel]
                    pixels[channel] =
                        alpha == .premultiplied ? premultiplied(value, opacity) : straight(value, opacity)
                }
            }
            index += 4
        }
    }
}

extension ImageBuffer {
    /// Returns the picture with alpha multiplied into its colours, or taken out of them. Taking it out is inexact for
    /// nearly transparent pixels, as little is left of their colours.
    public func converted(to alpha: Alpha) -> ImageBuffer {
        var rows = ConvertingRows(self, to: alpha)
        while rows.step(rows: height) {}
        return rows.picture
    }

    /// Does what `converted` does, some rows at a time.
    func convertedInSteps(to alpha: Alpha) async throws -> ImageBuffer {
        var rows = ConvertingRows(self, to: alpha)
        let each = Work.rows(width: width)
        try await Work.inSteps { rows.step(rows: each) }
        return rows.picture
    }
}

/// Converts the alpha of a picture, some rows at a time.
struct ConvertingRows {
    private let source: ImageBuffer
    private let alpha: ImageBuffer.Alpha
    private var pixels: [UInt8]
    private var row: Int

    init(_ source: ImageBuffer, to alpha: ImageBuffer.Alpha) {
        self.source = source
        self.alpha = alpha
        pixels = source.pixels
        row = source.isOpaque || source.alpha == alpha ? source.height : 0
    }

    var picture: ImageBuffer {
        ImageBuffer(source.size, pixels, alpha, isOpaque: source.isOpaque)
            .carrying(scale: source.scale, profile: source.colorProfile)
    }

    /// Converts some rows; returns false once there are no more.
    mutating func step(rows: Int) -> Bool {
        let end = min(source.height, row + rows)
        if row < end {
            let (range, alpha) = (row * source.stride..<end * source.stride, alpha)
            var span = pixels.mutableSpan
            AlphaConversion.convert(&span, range, to: alpha)
            row = end
        }
        return row < source.height
    }
}

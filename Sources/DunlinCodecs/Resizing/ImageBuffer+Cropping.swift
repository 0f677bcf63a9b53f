extension ImageBuffer {
    /// A part of a picture: a corner and a size.
    public struct Area: Sendable, Hashable {
        public var left: Int
        public var top: Int
        public var size: ImageSize

        public init(left: Int, top: Int, size: ImageSize) {
            (self.left, self.top, self.size) = (left, top, size)
        }
    }

    /// Returns the part of the picture within an area. The area is clipped to the picture; throws
    /// `ImageError.invalidSize` if nothing is left.
    public func cropped(to area: Area) throws(ImageError) -> ImageBuffer {
        let columns = Self.range(area.left, area.size.width, within: width)
        let rows = Self.range(area.top, area.size.height, within: height)
        guard !columns.isEmpty, !rows.isEmpty else { throw .invalidSize(area.size) }
        var pixels: [UInt8] = []
        pixels.reserveCapacity(columns.count * rows.count * 4)
        for row in rows {
            let start = row * stride
            pixels += storage[start + columns.lowerBound * 4..<start + columns.upperBound * 4]
        }
        let size = ImageSize(width: columns.count, height: rows.count)
        return ImageBuffer(size, pixels, alpha, isOpaque: isOpaque).carrying(scale: scale, profile: colorProfile)
    }

    /// Returns the middle part of a given size, which is limited to the picture's.
    public func cropped(toCenter size: ImageSize) throws(ImageError) -> ImageBuffer {
        let (wide, high) = (min(max(size.width, 0), width), min(max(size.height, 0), height))
        let size = ImageSize(width: wide, height: high)
        return try cropped(to: Area(left: (width - wide) / 2, top: (height - high) / 2, size: size))
    }

    private static func range(_ start: Int, _ length: Int, within limit: Int) -> Range<Int> {
        let (end, isBeyond) = start.addingReportingOverflow(max(length, 0))
        let lower = min(max(start, 0), limit)
        return lower..<max(lower, min(isBeyond ? limit : end, limit))
    }
}

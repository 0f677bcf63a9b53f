/// Width and height in pixels.
public struct ImageSize: Sendable, Hashable, CustomStringConvertible {
    public var width: Int
    public var height: Int

    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    public var description: String { "\(width) x \(height)" }

    /// The number of pixels; `Int.max` if there are more.
    public var pixels: Int {
        let (product, isBeyond) = width.multipliedReportingOverflow(by: height)
        return isBeyond ? .max : product
    }

    /// The size with width and height swapped.
    public var transposed: ImageSize { ImageSize(width: height, height: width) }

    /// The largest size of the same shape that fits into another; never larger than this one, and at least 1 x 1.
    public func fitting(_ bounds: ImageSize) -> ImageSize {
        if width <= bounds.width, height <= bounds.height { return self }
        return scaled(by: min(Double(bounds.width) / Double(width), Double(bounds.height) / Double(height)))
    }

    /// The smallest size of the same shape that covers another; it may be larger than this one.
    public func covering(_ bounds: ImageSize) -> ImageSize {
        scaled(by: max(Double(bounds.width) / Double(width), Double(bounds.height) / Double(height)))
    }

    private func scaled(by factor: Double) -> ImageSize {
        ImageSize(width: Self.side(width, factor), height: Self.side(height, factor))
    }

    private static func side(_ length: Int, _ factor: Double) -> Int {
        let side = (Double(length) * factor).rounded()
        return side < 1 || side.isNaN ? 1 : Int(exactly: side) ?? .max
    }
}

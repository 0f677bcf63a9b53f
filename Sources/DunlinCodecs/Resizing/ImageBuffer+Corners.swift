extension ImageBuffer {
    /// Returns the picture with round corners, smooth at their edges and transparent beyond. The radius is in pixels,
    /// and at most half the shorter side.
    public func withRoundCorners(radius: Double) -> ImageBuffer {
        let radius = min(max(radius.isNaN ? 0 : radius, 0), Double(min(width, height)) / 2)
        if radius == 0 { return self }
        var pixels = storage
        let reach = Int(radius.rounded(.up))
        for down in 0..<reach {
            for right in 0..<reach {
                let covered = Self.coverage(right, down, radius)
                if covered >= 1 { continue }
                for row in [down, height - 1 - down] {
                    for column in [right, width - 1 - right] { fade((row * width + column) * 4, covered, &pixels) }
                }
            }
        }
        return ImageBuffer(size, pixels, alpha, isOpaque: false).carrying(scale: scale, profile: colorProfile)
    }

    /// Returns how much of a pixel is within a corner's circle, estimated from four by four points.
    private static func coverage(_ column: Int, _ row: Int, _ radius: Double) -> Double {
        var inside = 0
        for point in 0..<16 {
            let x = radius - (Double(column) + (Double(point % 4) + 0.5) / 4)
            let y = radius - (Double(row) + (Double(point / 4) + 0.5) / 4)
            if x <= 0 || y <= 0 || x * x + y * y <= radius * radius { inside += 1 }
        }
        return Double(inside) / 16
    }

    private func fade(_ index: Int, _ covered: Double, _ pixels: inout [UInt8]) {
        let channels = alpha == .premultiplied ? index..<index + 4 : index + 3..<index + 4
        for channel in channels { pixels[channel] = UInt8((Double(storage[channel]) * covered).rounded()) }
    }
}

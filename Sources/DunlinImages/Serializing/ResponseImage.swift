public import Dunlin

/// The picture of a response: its bytes, the information in their header, and the pixels if they have been decoded.
public struct ResponseImage: Sendable {
    /// The bytes as the server sent them.
    public let bytes: Bytes
    public let info: ImageInfo
    /// The number of pixels for each point.
    public let scale: Double
    /// The pixels; nil if they have not been decoded.
    public let picture: ImageBuffer?
    let limits: ImageLimits

    init(_ bytes: Bytes, _ info: ImageInfo, scale: Double, limits: ImageLimits, picture: ImageBuffer? = nil) {
        (self.bytes, self.info, self.scale) = (bytes, info, scale)
        (self.limits, self.picture) = (limits, picture)
    }

    /// The same for a screen with this many pixels for each point.
    func scaled(_ scale: Double) -> ResponseImage {
        if scale == self.scale { return self }
        return ResponseImage(bytes, info, scale: scale, limits: limits, picture: picture?.scaled(scale))
    }

    /// The width and height for display, in points.
    public var pointSize: (width: Double, height: Double) {
        let size = info.displaySize
        return (Double(size.width) / scale, Double(size.height) / scale)
    }

    /// Returns the pixels: existing ones, or decoded now, on the default pool, when it is their turn in the queue of
    /// decodes. Throws an `ImageError`.
    public func decoded(_ queue: DecodeQueue = .shared) async throws -> ImageBuffer {
        if let picture { return picture }
        var options = ImageDecoder.Options()
        options.scale = scale
        return try await ImageDecoder(limits: limits, queue: queue).decode(bytes, options)
    }
}

extension ResponseImage: CustomStringConvertible, CustomReflectable {
    public var description: String {
        "\(info.format) of \(info.displaySize) pixels (\(bytes)\(picture == nil ? "" : ", decoded"))"
    }

    public var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}

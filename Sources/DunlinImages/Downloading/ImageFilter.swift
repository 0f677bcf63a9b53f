/// One thing to do to a picture before it is handed out, and a name for it.
///
/// A downloader applies a chain of filters once for all who ask for the same chain, and caches what comes out by its
/// name. So filters of the same name must do the same.
public struct ImageFilter: Sendable {
    /// What it does, in words that no other filter has: `resize 64 x 64 lanczos`.
    public let name: String
    let apply: @Sendable (ImageBuffer) async throws -> ImageBuffer

    /// A filter of your own. It runs on the default pool; an error of its is that of the request.
    public init(_ name: String, _ apply: @escaping @Sendable (ImageBuffer) async throws -> ImageBuffer) {
        self.name = name
        self.apply = apply
    }

    /// To exactly this size, whatever the picture's shape.
    public static func resize(to size: ImageSize, _ filter: ImageBuffer.Filter = .lanczos) -> ImageFilter {
        ImageFilter("resize \(size) \(filter)") { try await $0.resized(to: size, filter: filter) }
    }

    /// Into a size, keeping its shape. It is never enlarged.
    public static func fit(into size: ImageSize, _ filter: ImageBuffer.Filter = .lanczos) -> ImageFilter {
        ImageFilter("fit \(size) \(filter)") { try await $0.resized(to: $0.size.fitting(size), filter: filter) }
    }

    /// To exactly this size, keeping its shape: what is beyond the size is cut off at both sides.
    public static func fill(_ size: ImageSize, _ filter: ImageBuffer.Filter = .lanczos) -> ImageFilter {
        ImageFilter("fill \(size) \(filter)") {
            try await $0.resized(to: $0.size.covering(size), filter: filter).cropped(toCenter: size)
        }
    }

    /// With round corners; the radius is in pixels.
    public static func roundCorners(radius: Double) -> ImageFilter {
        ImageFilter("round corners \(radius)") { $0.withRoundCorners(radius: radius) }
    }
}

extension ImageFilter: CustomStringConvertible {
    public var description: String { name }
}

extension [ImageFilter] {
    /// What a chain is called; nil for none. No two chains of other names are called the same.
    var name: String? {
        if isEmpty { return nil }
        return map { $0.name.replacing("\\", with: "\\\\").replacing("|", with: "\\|") }.joined(separator: " | ")
    }

    func apply(to picture: ImageBuffer) async throws -> ImageBuffer {
        var picture = picture
        for filter in self {
            try Task.checkCancellation()
            picture = try await filter.apply(picture)
        }
        return picture
    }
}

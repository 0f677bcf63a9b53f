internal import DunlinTypes

/// An operation on a picture before it is delivered, with a name.
///
/// A downloader applies a chain of filters once for all who request the same chain, and caches the result by its name.
/// So filters with the same name must do the same.
public struct ImageFilter: Sendable {
    /// The name, which no other filter has: `resize 64 x 64 lanczos`.
    public let name: String
    let apply: @Sendable (ImageBuffer) async throws -> ImageBuffer

    /// Creates a filter of your own. It runs on the default pool; its error becomes the request's. It may use its
    /// downloader: what it asks for takes none of the places that `maximumActive` limits.
    public init(_ name: String, _ apply: @escaping @Sendable (ImageBuffer) async throws -> ImageBuffer) {
        self.name = name
        self.apply = apply
    }

    /// Resizes to exactly this size, whatever the picture's shape.
    public static func resize(to size: ImageSize, _ filter: ImageBuffer.Filter = .lanczos) -> ImageFilter {
        ImageFilter("resize \(size) \(filter)") { try await $0.resized(to: size, filter: filter) }
    }

    /// Shrinks to fit into a size, keeping the shape. Pictures are never enlarged.
    public static func fit(into size: ImageSize, _ filter: ImageBuffer.Filter = .lanczos) -> ImageFilter {
        ImageFilter("fit \(size) \(filter)") { try await $0.resized(to: $0.size.fitting(size), filter: filter) }
    }

    /// Resizes to exactly this size, keeping the shape: what exceeds the size is cut off at both sides.
    public static func fill(_ size: ImageSize, _ filter: ImageBuffer.Filter = .lanczos) -> ImageFilter {
        ImageFilter("fill \(size) \(filter)") {
            try await $0.resized(to: $0.size.covering(size), filter: filter).cropped(toCenter: size)
        }
    }

    /// Rounds the corners; the radius is in pixels.
    public static func roundCorners(radius: Double) -> ImageFilter {
        ImageFilter("round corners \(radius)") { $0.withRoundCorners(radius: radius) }
    }
}

extension ImageFilter: CustomStringConvertible {
    public var description: String { name }
}

extension [ImageFilter] {
    /// The name of a chain of filters; nil for an empty chain. Different chains have different names.
    var name: String? {
        if isEmpty { return nil }
        return map { filter in
            let name = filter.name.parts(at: UInt8(ascii: "\\")).joined(separator: #"\\"#)
            return name.parts(at: UInt8(ascii: "|")).joined(separator: #"\|"#)
        }.joined(separator: " | ")
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

public import DunlinCodecs

/// A source of images for targets.
public protocol ImageSource: Sendable {
    /// A request for an image. Equal requests stand for the same image, made in the same way.
    associatedtype Request: Equatable & Sendable

    /// A text that changes when the source would ask as another user: a load that began before is not shared with a
    /// request that comes after. Empty, and always the same, unless the source says otherwise.
    func edition(of request: Request) -> String

    /// Returns the request for a URL: a GET that accepts images. Throws for text that is not such a URL.
    func request(forImageAt url: String) throws -> Request

    /// Returns the image if it is in memory and the request allows its use. Must not wait for a network or a disk.
    func imageInMemory(for request: Request) async -> ImageBuffer?

    /// Returns the image, from wherever it is. Must end soon if its task is cancelled.
    func image(for request: Request) async throws -> ImageBuffer
}

extension ImageSource {
    public func edition(of request: Request) -> String { "" }
}

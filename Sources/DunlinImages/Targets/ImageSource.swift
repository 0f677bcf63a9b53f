public import DunlinCodecs

/// Where targets have their images from.
public protocol ImageSource: Sendable {
    /// What an image is asked for by. Two that are equal stand for the same image, made in the same way.
    associatedtype Request: Equatable & Sendable

    /// The request for a URL: a GET that accepts images. Throws for text that is no such URL.
    func request(forImageAt url: String) throws -> Request

    /// The image, if it is in memory and the request allows that it is taken from there. Must not wait for a network or
    /// a disk.
    func imageInMemory(for request: Request) async -> ImageBuffer?

    /// The image, from wherever it is. Ends soon when its task is cancelled.
    func image(for request: Request) async throws -> ImageBuffer
}

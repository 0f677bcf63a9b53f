internal import FoundationEssentials

/// A cache of pictures in memory, by names that its user chooses.
///
/// Every call is complete when it returns: later reads see its effect.
public protocol ImageCache: AnyObject, Sendable {
    func image(for identifier: String) -> ImageBuffer?

    /// Adds an image. Returns false if it is not stored.
    @discardableResult
    func add(_ image: ImageBuffer, for identifier: String) -> Bool

    /// Removes an image. Returns whether there was one.
    @discardableResult
    func removeImage(for identifier: String) -> Bool

    /// Removes all images. Returns whether there were any.
    @discardableResult
    func removeAll() -> Bool
}

/// A cache of pictures in memory, by the requests that brought them, which an `ImageDownloader` asks first.
///
/// The cache keeps pictures; the downloader decides which of them answers a request, and for how long.
public protocol ImageRequestCache: ImageCache {
    /// The time by which pictures age, in seconds since 1970; by default that of the system's clock.
    var now: Int64 { get }

    /// A number that changes whenever pictures of a URL are removed by `removeImage`, `removeAll` or `invalidate`: what
    /// was requested before that is not added.
    func removals(of url: String) -> UInt64

    /// Returns whether a downloader adds a picture; by default it does.
    func shouldCache(_ image: ImageBuffer, for key: ImageKey) -> Bool

    /// Returns the pictures with this key, the latest first. A server may have several, such as one for each language.
    func images(for key: ImageKey) -> [StoredImage]

    /// Adds a picture in place of the one that it supersedes (`Array.add`). Returns false if it is not stored, as when
    /// `removals` of the key's URL is another number by now.
    @discardableResult
    func add(_ image: StoredImage, for key: ImageKey, since removals: UInt64) -> Bool

    /// Removes the images with this URL, filters and scale, whoever they are for. Returns whether there were any.
    @discardableResult
    func removeImage(for key: ImageKey) -> Bool

    /// Removes all pictures from a URL, whatever was made from them. Returns how many there were.
    @discardableResult
    func invalidate(_ url: String) -> Int
}

extension ImageRequestCache {
    public var now: Int64 { Int64(Date().timeIntervalSince1970) }

    public func shouldCache(_ image: ImageBuffer, for key: ImageKey) -> Bool { true }
}

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
public protocol ImageRequestCache: ImageCache {
    /// Returns whether a downloader adds a picture; by default it does.
    func shouldCache(_ image: ImageBuffer, for key: ImageKey) -> Bool

    /// Returns the stored picture, and whether it may be shown without validating it.
    func lookUp(_ key: ImageKey) -> ImageLookup

    /// Adds an image. Returns false if it is not stored.
    @discardableResult
    func add(_ image: ImageBuffer, for key: ImageKey, freshness: ImageFreshness) -> Bool

    /// Renews the freshness of a picture that its origin has confirmed. Returns false if the picture is gone.
    @discardableResult
    func renew(_ key: ImageKey, freshness: ImageFreshness) -> Bool

    /// Removes an image. Returns whether there was one.
    @discardableResult
    func removeImage(for key: ImageKey) -> Bool

    /// Removes all pictures from a URL, whatever was made from them. Returns how many there were.
    @discardableResult
    func invalidate(_ url: String) -> Int
}

extension ImageRequestCache {
    public func shouldCache(_ image: ImageBuffer, for key: ImageKey) -> Bool { true }
}

/// What a cache has stored for a request.
public enum ImageLookup: Sendable {
    /// A fresh picture; the freshness says how to validate it.
    case fresh(ImageBuffer, ImageFreshness)
    /// A stale picture.
    case stale(ImageBuffer, ImageFreshness)
    case nothing
}

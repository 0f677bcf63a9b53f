/// Pictures in memory, by names that its user makes up.
///
/// Every call is complete when it returns: who reads after it sees what it did.
public protocol ImageCache: AnyObject, Sendable {
    func image(for identifier: String) -> ImageBuffer?

    /// False if it is not stored.
    @discardableResult
    func add(_ image: ImageBuffer, for identifier: String) -> Bool

    /// True if there was one.
    @discardableResult
    func removeImage(for identifier: String) -> Bool

    /// False if there was nothing.
    @discardableResult
    func removeAll() -> Bool
}

/// Pictures in memory, by the requests that brought them: what an `ImageDownloader` looks into first.
public protocol ImageRequestCache: ImageCache {
    /// Whether a downloader adds a picture; the default is that it does.
    func shouldCache(_ image: ImageBuffer, for key: ImageKey) -> Bool

    /// What there is, and whether it may still be shown without being asked about.
    func lookUp(_ key: ImageKey) -> ImageLookup

    /// False if it is not stored.
    @discardableResult
    func add(_ image: ImageBuffer, for key: ImageKey, freshness: ImageFreshness) -> Bool

    /// Says how long a picture is fresh that its origin has confirmed. False if it is not there any more.
    @discardableResult
    func renew(_ key: ImageKey, freshness: ImageFreshness) -> Bool

    /// True if there was one.
    @discardableResult
    func removeImage(for key: ImageKey) -> Bool

    /// Removes all that is from a URL, whatever was made of it. How many there were.
    @discardableResult
    func invalidate(_ url: String) -> Int
}

extension ImageRequestCache {
    public func shouldCache(_ image: ImageBuffer, for key: ImageKey) -> Bool { true }
}

/// What a cache has for a request.
public enum ImageLookup: Sendable {
    /// The second tells by what to ask whether it is still the same.
    case fresh(ImageBuffer, ImageFreshness)
    /// Its time is over.
    case stale(ImageBuffer, ImageFreshness)
    case nothing
}

internal import Dunlin
internal import Synchronization

/// The interface by which targets ask a downloader for images.
extension ImageDownloader {
    /// Returns the request for the picture at a URL, which accepts only images. Throws a `NetworkError` with code
    /// `invalidRequest` for text that is not a URL.
    public nonisolated func request(forImageAt url: String) throws -> Request {
        var request = Request(.url(url))
        request.fields = ["Accept": "image/*"]
        _ = try self.url(of: request.target)
        return request
    }

    /// Returns the picture if it is in the cache of images and the request allows its use; otherwise nil.
    public nonisolated func imageInMemory(for request: Request) -> ImageBuffer? {
        let use = request.memoryUse(settings.cacheMode)
        guard let cache, use == .fresh || use == .any, let url = knownURL(of: request) else { return nil }
        let identity = configuration.identity(of: request, url, by: session, settings.secretFields)
        switch cache.lookUp(configuration.key(of: request, identity)) {
        case .fresh(let picture, _): return picture
        case .stale(let picture, _): return use == .any ? picture : nil
        case .nothing: return nil
        }
    }

    /// Changes with the session's user, when all cookies are removed from its jar, and when a URL is invalidated.
    public nonisolated var edition: String {
        let (jar, invalidations) = (settings.cookies?.number ?? "", invalidations.load(ordering: .relaxed))
        return "\(session.asker ?? "") \(session.askerEdition) \(jar) \(invalidations)"
    }

    private nonisolated func knownURL(of request: Request) -> String? {
        do { return try url(of: request.target) } catch { return nil }
    }
}

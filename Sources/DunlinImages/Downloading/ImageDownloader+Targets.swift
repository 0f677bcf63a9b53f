internal import Dunlin

/// What shows images asks a downloader by these.
extension ImageDownloader {
    /// The request for the picture at a URL, which accepts images and nothing else. Throws `NetworkError` with code
    /// `invalidRequest` for text that is no URL.
    public nonisolated func request(forImageAt url: String) throws -> Request {
        var request = Request(.url(url))
        request.fields = ["Accept": "image/*"]
        _ = try self.url(of: request.target)
        return request
    }

    /// The picture, if it is in the cache of images and the request allows that it is taken from there.
    public nonisolated func imageInMemory(for request: Request) -> ImageBuffer? {
        let use = request.memoryUse(session.configuration.cacheMode)
        guard let cache, use == .fresh || use == .any, let url = knownURL(of: request) else { return nil }
        let identity = configuration.identity(of: request, url, by: session)
        switch cache.lookUp(configuration.key(of: request, identity)) {
        case .fresh(let picture, _): return picture
        case .stale(let picture, _): return use == .any ? picture : nil
        case .nothing: return nil
        }
    }

    private nonisolated func knownURL(of request: Request) -> String? {
        do { return try url(of: request.target) } catch { return nil }
    }
}

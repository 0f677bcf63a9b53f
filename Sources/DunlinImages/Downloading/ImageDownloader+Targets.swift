internal import Dunlin
internal import DunlinSemantics
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
        do {
            let inquiry = try inquiry(for: request)
            guard case .give(let picture) = lookUp(request, key(of: request, inquiry), inquiry) else { return nil }
            return picture
        } catch {
            // Whoever requests it is told.
            return nil
        }
    }

    /// Changes with who asks, with the jar's cookies, and when the URL is forgotten. It may contain secrets.
    public nonisolated func edition(of request: Request) -> String {
        do {
            let inquiry = try inquiry(for: request)
            let name = inquiry.name
            let removals = removals(of: key(of: request, inquiry).url)
            return "\(name.user?.hex ?? "") \(name.terms) \(inquiry.fields.string) \(session.epoch) \(removals)"
        } catch {
            // Whoever requests it is told.
            return ""
        }
    }
}

internal import Dunlin
internal import DunlinSemantics

extension ImageDownloader {
    /// The absolute URL of a target, without its fragment. Throws for an invalid one.
    nonisolated func url(of target: HTTP.Target) throws -> String {
        // Before anything is looked up: with an invalid value, the URL would be another one.
        if let problem = target.problem {
            throw NetworkError(.invalidRequest, "\(ShownURL.of(target.template)): \(problem)", isSafeToRetry: true)
        }
        let text = String(target.text.prefix { $0 != "#" })
        // As it was written, because the cache of images identifies its picture by it.
        if Self.isWhole(text) { return text }
        do throws(AddressError) {
            if let base = settings.baseURL {
                return try WebAddress(base: base).resolving(text).description
            }
        } catch {}
        let reason = "\"\(ShownURL.of(target.text))\" is not a URL of an image"
        throw NetworkError(.invalidRequest, reason, isSafeToRetry: true)
    }

    static func isWhole(_ text: String) -> Bool {
        do throws(AddressError) { _ = try WebAddress(text) } catch { return false }
        return true
    }
}

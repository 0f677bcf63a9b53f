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
            guard let base = settings.baseURL else { return try WebAddress(text).description }
            return try WebAddress(base: base).resolving(text).description
        } catch {
            let lacksBase = settings.baseURL == nil && error.problem == .notAbsolute
            let remedy = lacksBase ? "; set the session's `baseURL`, or give the whole URL" : ""
            let reason = "\"\(ShownURL.of(target.text))\" cannot be requested: \(error.problem)\(remedy)"
            throw NetworkError(.invalidRequest, reason, isSafeToRetry: true)
        }
    }

    static func isWhole(_ text: String) -> Bool {
        do throws(AddressError) { _ = try WebAddress(text) } catch { return false }
        return true
    }
}

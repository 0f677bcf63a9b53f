internal import Dunlin
internal import DunlinSemantics
internal import Synchronization

/// What is looked for in memory before anything is sent. Nothing here waits.
extension ImageDownloader {
    enum Found {
        case give(ImageBuffer)
        /// A picture that is given once its server has confirmed it.
        case ask(Stale)
        case nothing
    }

    /// The value of `Accept`, unless the request has its own; nil if the session sets one.
    nonisolated var accept: String? {
        (settings.fields["accept"] ?? "*/*") == "*/*" ? configuration.serializer.accept : nil
    }

    /// Throws if the request cannot be sent.
    nonisolated func inquiry(for request: Request) throws -> Inquiry {
        var options = HTTPSession.Options()
        if request.httpCacheMode != .session { options.cacheMode = request.httpCacheMode }
        let inquiry: Inquiry
        do {
            inquiry = try session.inquiry(
                request.method, request.target, request.fields, options: options, accept: accept)
        } catch {
            // Which says what to do.
            _ = try url(of: request.target)
            throw error
        }
        return identity(of: request).map { inquiry.named($0) } ?? inquiry
    }

    nonisolated func identity(of request: Request) -> String? {
        configuration.identity.map { ImageKey.normal($0(request)) }
    }

    nonisolated func key(of request: Request, _ inquiry: Inquiry) -> ImageKey {
        ImageKey(inquiry, filter: request.filters.name, scale: request.scale ?? configuration.serializer.scale)
    }

    nonisolated func shared(_ inquiry: Inquiry, _ request: Request) -> SharedDownload {
        let question = SharedQuestion(
            url: inquiry.key, asker: inquiry.asker, method: inquiry.identity == nil ? inquiry.method : .get,
            fields: inquiry.fields, cache: request.httpCacheMode)
        return SharedDownload(question: question, epoch: session.epoch)
    }

    /// What changes whenever pictures of a URL are forgotten.
    nonisolated func removals(of url: String) -> [UInt64] {
        [cache?.removals(of: url) ?? 0, invalidated.withLock { $0[url]?.number } ?? 0]
    }

    /// The answer of the cache of images.
    nonisolated func lookUp(_ request: Request, _ key: ImageKey, _ inquiry: Inquiry) -> Found {
        guard let cache, request.decodes, !request.fields.contains("range"),
            let mode = request.memoryUse(settings.cacheMode).cacheMode
        else { return .nothing }
        for stored in cache.images(for: key) {
            switch inquiry.verdict(on: stored.answer, at: cache.now, mode: mode) {
            case .give: return .give(stored.image)
            // An older one is no answer instead.
            case .ask(let fields):
                return fields.isEmpty ? .nothing : .ask(Stale(key: key, stored: stored, conditions: fields))
            case .no: continue
            }
        }
        return .nothing
    }
}

/// The URLs that were invalidated last. Where their redirects lead is not known before they are requested, so what the
/// HTTP cache has of these is not removed with them: instead nothing answers that was asked for before.
struct Invalidations {
    struct Entry: Sendable {
        let number: UInt64
        /// The time of the HTTP cache from which on something must have been asked for; nil without a cache.
        let oldest: Int64?
    }

    private(set) var last: UInt64 = 0
    private var urls = RecentValues<String, Entry>(limit: 4096)

    subscript(url: String) -> Entry? { urls[url] }

    mutating func note(_ url: String, at time: Int64?) {
        last += 1
        urls.keep(Entry(number: last, oldest: time.map { $0 + 1 }), for: url)
    }
}

#if Logging
    internal import Dunlin
    internal import Logging

    /// What a line says of something that happened before the end of a request.
    struct StepLine {
        /// One word, always the same for the same thing: that of the event which spans have for it.
        var step: String
        var text: String
        var metadata: Logger.Metadata = [:]

        private init(_ step: String, _ text: String) {
            (self.step, self.text) = (step, text)
        }

        init(_ step: HTTPSession.RequestStep) {
            switch step {
            case .queued: self.init("queued", "waits for its turn")
            case .admitted(let wait):
                self.init("admitted", "its turn has come")
                metadata[.wait] = .milliseconds(wait)
            case .suspended: self.init("suspended", "suspended")
            case .resumed: self.init("resumed", "resumed")
            case .waitingForConnectivity(let error):
                self.init("waiting_for_connectivity", "waits for a network")
                metadata.describe(error)
            case .retrying(let attempt):
                self.init("retrying", "tries again after a wait")
                metadata[.wait] = .milliseconds(attempt.wait)
                metadata.describe(attempt.cause)
            case .redirected(let redirect, let target):
                self.init("redirected", "redirected")
                metadata[.status] = .stringConvertible(redirect.status.code)
                metadata[.redirectHost] = LogText.host(of: target).map { "\($0.host)" }
                metadata[.redirectPath] = "\(LogText.path(of: target))"
            case .sendingAgain(let reason):
                self.init("sending_again", "sent again: \(reason.rawValue)")
                metadata[.reason] = "\(reason.rawValue)"
            case .joined: self.init("joined", "waits for an identical request")
            case .servedFromCache(let use):
                self.init("served_from_cache", "answered from the cache")
                metadata.describe(use)
            case .downloadResumed(let offset, of: _):
                self.init("download_resumed", "goes on with a download")
                metadata[.offset] = .stringConvertible(offset)
            }
        }

        /// The end of an exchange through a proxy.
        init(proxy: String, _ end: HTTPSession.ExchangeEnd) {
            self.init("proxy", "went through a proxy")
            metadata[.proxy] = "\(LogText.proxy(proxy))"
            metadata[.status] = (end.head?.status.code).map { .stringConvertible($0) }
            if let error = end.error { metadata.describe(error) }
        }
    }
#endif

internal import DunlinSemantics

extension HTTPSession {
    /// A redirecting response, and the URL that it answered.
    public struct Redirect: Sendable {
        public var method: HTTP.Method
        /// The requested URL, without user info.
        public var url: String
        public var head: ResponseHead
        /// The names whose values are not shown.
        var secretFields = HTTP.SecretFields.usual

        public init(method: HTTP.Method, url: String, head: ResponseHead) {
            self.method = method
            self.url = url
            self.head = head
        }

        public var status: HTTP.Status { head.status }
        /// The response's `Location`, as received.
        public var location: String? { head.fields["location"] }
    }
}

extension HTTPSession.Redirect: CustomStringConvertible, CustomReflectable {
    /// Method, URL and status, without query values whose names look secret.
    public var description: String { "\(method) \(shownURL): \(status)" }

    private var shownURL: String { WebAddress.named(url, hiding: secretFields) }

    public var customMirror: Mirror {
        Mirror(
            self, children: ["method": method, "url": shownURL, "head": head], displayStyle: .struct)
    }
}

extension HTTPSession {
    /// Why a redirect was not followed, as the underlying error of a `NetworkError`.
    struct RedirectFailure: Error, CustomStringConvertible {
        /// All redirects of the request; the last is the one that was not followed.
        let chain: [HTTPSession.Redirect]
        /// What is wrong with the redirect's address, if anything.
        let cause: (any Error)?

        var description: String {
            let steps = chain.map(\.description).joined(separator: ", then ")
            return cause.map { "\(steps): \($0)" } ?? steps
        }
    }
}

extension NetworkError {
    /// The redirects that led to this error, if one was refused; that one is the last.
    public var redirects: [HTTPSession.Redirect] { (underlying as? HTTPSession.RedirectFailure)?.chain ?? [] }
}

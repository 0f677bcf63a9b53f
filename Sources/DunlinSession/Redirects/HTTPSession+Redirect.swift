internal import DunlinSemantics

extension HTTPSession {
    /// A response that redirects, and the URL it answered.
    public struct Redirect: Sendable {
        public var method: HTTP.Method
        /// The URL that was asked for, without user info.
        public var url: String
        public var head: ResponseHead
        /// The names that are left out of what is shown.
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
    /// Without the values of the URL's query whose names look like secrets.
    public var description: String { "\(method) \(shownURL): \(status)" }

    private var shownURL: String { WebAddress.named(url, hiding: secretFields) }

    public var customMirror: Mirror {
        Mirror(
            self, children: ["method": method, "url": shownURL, "head": head], displayStyle: .struct)
    }
}

extension HTTPSession {
    /// Why a redirect was not followed: the underlying error of the `NetworkError`.
    public struct RedirectFailure: Error, Sendable, CustomStringConvertible {
        /// All redirects of this request, the one that was not followed last.
        public var chain: [HTTPSession.Redirect]
        /// What is wrong with the address it led to, if something is.
        public var cause: (any Error)?

        public init(chain: [HTTPSession.Redirect], cause: (any Error)? = nil) {
            self.chain = chain
            self.cause = cause
        }

        public var description: String {
            let steps = chain.map(\.description).joined(separator: ", then ")
            return cause.map { "\(steps): \($0)" } ?? steps
        }
    }
}

extension NetworkError {
    /// The redirects that led to this error, if following one was refused; the one that was refused last.
    public var redirects: [HTTPSession.Redirect] { (underlying as? HTTPSession.RedirectFailure)?.chain ?? [] }
}

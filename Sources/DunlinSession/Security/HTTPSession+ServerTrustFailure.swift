internal import DunlinSemantics

extension HTTPSession {
    /// Why a request failed whose server is not trusted: the underlying error of its `NetworkError`.
    package struct ServerTrustFailure: Error, Sendable, Hashable {
        /// The host that is not trusted: the request's, or its proxy's.
        package var host: String
        package var refusal: NetworkError.TrustRefusal
        /// The URL of the request as in errors, without user info and its query's secrets. Nil if a connection was
        /// opened ahead of need.
        package var failingURL: String?

        package init(host: String, refusal: NetworkError.TrustRefusal, failingURL: String? = nil) {
            self.host = host
            self.refusal = refusal
            self.failingURL = failingURL
        }

        /// The certificates that the server presented; nil if it presented none.
        package var peerCertificates: [Certificate]? { refusal.path.isEmpty ? nil : refusal.path }

        /// The code of this kind of failure in `NSURLErrorDomain`.
        package static let urlErrorCode = -1202
    }
}

extension HTTPSession.ServerTrustFailure: CustomStringConvertible {
    /// A sentence for a user who cannot do anything about the reason.
    package var description: String {
        """
        The certificate for this server is invalid. You might be connecting to a server that is pretending to be \
        “\(host)” which could put your confidential information at risk.
        """
    }
}

extension NetworkError {
    /// The error; if a server was not trusted, with that server and the request's URL, as it may be shown.
    static func explained(
        _ error: any Error, at origin: HTTP.Origin, url: @autoclosure () -> String? = nil,
        hiding secret: HTTP.SecretFields = .usual
    ) -> any Error {
        guard var failure = error as? NetworkError, let refusal = failure.underlying as? NetworkError.TrustRefusal
        else {
            return error
        }
        // A proxy's certificate says nothing about the origin behind it.
        let host = failure.phase == .proxyTLS ? refusal.host : origin.host
        failure.underlying = HTTPSession.ServerTrustFailure(
            host: host, refusal: refusal, failingURL: url().map { WebAddress.named($0, hiding: secret) })
        return failure
    }

    /// The server and the URL of the request, if the server was not trusted; otherwise nil.
    package var trustFailure: HTTPSession.ServerTrustFailure? {
        if let failure = underlying as? HTTPSession.ServerTrustFailure { return failure }
        return trustRefusal.map { HTTPSession.ServerTrustFailure(host: $0.host, refusal: $0) }
    }

    /// Why the server is not trusted; nil for any other error.
    public var trustRefusal: NetworkError.TrustRefusal? {
        (underlying as? HTTPSession.ServerTrustFailure)?.refusal ?? underlying as? NetworkError.TrustRefusal
    }
}

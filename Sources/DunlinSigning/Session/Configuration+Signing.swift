public import Dunlin

extension HTTPSession.Configuration {
    /// Signs each exchange of the session: a retry, a redirect or a request that is sent again has a signature and a
    /// time of its own.
    ///
    /// ```swift
    /// try configuration.sign(with: signer)
    /// ```
    ///
    /// A redirect to another origin is followed without a signature, unless `isSigned` returns true for that origin. A
    /// request with an `Authorization` of its own, or with a signature in its query, is sent as it is.
    ///
    /// The signature is of the request as it is sent, so call this after interceptors that change requests were added.
    /// Throws `NetworkError` with code `invalidConfiguration` for a region or a service that cannot be signed for, and
    /// if the session has another way to authenticate.
    public mutating func sign(
        with signer: AWSSigner, redirectedTo isSigned: @escaping @Sendable (HTTP.Origin) -> Bool = { _ in false }
    ) throws(NetworkError) {
        try signer.check()
        if credentials != nil || authentication != nil {
            throw NetworkError(
                .invalidConfiguration,
                "a session whose requests are signed needs neither `credentials` nor `authentication`: their field "
                    + "would be in the signature's place")
        }
        interceptors += [.call(OriginOfCall()), .exchange(Signing(signer: signer, isSigned: isSigned))]
    }
}

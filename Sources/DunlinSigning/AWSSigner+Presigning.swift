public import Dunlin
internal import DunlinSemantics

extension AWSSigner {
    /// Returns a URL that anyone may send a request to until it expires, such as a browser: the signature is in its
    /// query.
    ///
    /// ```swift
    /// let url = try await signer.presigned(
    ///     "https://photos.s3.eu-central-1.amazonaws.com/dunlin.jpg", expiresAfter: .seconds(3600))
    /// ```
    ///
    /// The request must have the same method, and the given fields. With S3 the body is not in the signature; with
    /// other services the request must have none. A URL lasts 1 second to 7 days, and no longer than the credentials.
    /// Whoever has it can use it, so it is a secret.
    ///
    /// Throws `NetworkError` with code `invalidRequest` for another duration, and for a URL that is none.
    public func presigned(
        _ url: String, method: HTTP.Method = .get, fields: Fields = Fields(), expiresAfter duration: Duration
    ) async throws -> String {
        let seconds = duration.components.seconds
        guard (1...604_800).contains(seconds), duration <= .seconds(604_800) else {
            throw NetworkError(
                .invalidRequest, "a presigned URL lasts 1 second to 7 days, and not \(duration); pass one of these")
        }
        return try await presigned(
            try Self.head(method, url, fields), seconds: seconds,
            payload: service.followsS3 ? CanonicalRequest.unsigned : CanonicalRequest.noContent)
    }

    /// The same for a head; `payload` is what is signed in the body's place.
    package func presigned(_ head: RequestHead, seconds: Int64, payload: String) async throws -> String {
        let (credentials, scope) = (try await credentials(), try scope())
        let signed = signedFields(of: head)
        var parameters = [
            ("X-Amz-Algorithm", "AWS4-HMAC-SHA256"), ("X-Amz-Credential", "\(credentials.accessKey)/\(scope.text)"),
            ("X-Amz-Date", scope.time), ("X-Amz-Expires", String(seconds)),
            ("X-Amz-SignedHeaders", Set(signed.map { $0.name.lowercased() }).sorted().joined(separator: ";")),
        ]
        if let token = credentials.sessionToken { parameters.append(("X-Amz-Security-Token", token)) }
        let query = CanonicalTarget.query(head.query ?? "", adding: parameters)
        let request = CanonicalRequest(
            method: head.method, path: CanonicalTarget.path(head.path, followsS3: service.followsS3), query: query,
            fields: signed, payload: payload)
        let signature = try key(credentials, scope).code(of: Bytes(try scope.stringToSign(request))).hex
        return "\(head.origin)\(head.path)?\(query)&X-Amz-Signature=\(signature)"
    }

    private static func head(_ method: HTTP.Method, _ url: String, _ fields: Fields) throws -> RequestHead {
        do throws(AddressError) {
            let address = try WebAddress(url)
            return RequestHead(method: method, origin: address.origin, target: address.target, fields: fields)
        } catch {
            throw NetworkError(.invalidRequest, "the URL cannot be signed: \(error)", underlying: error)
        }
    }
}

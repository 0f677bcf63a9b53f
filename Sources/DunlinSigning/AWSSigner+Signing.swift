public import Dunlin

extension AWSSigner {
    /// Returns the request with its signature, as it is to be sent. One that has an `Authorization` or is signed in its
    /// query stays as it is.
    ///
    /// In a session `sign(with:)` calls this for each exchange.
    public func signed(_ request: TransportRequest) async throws -> TransportRequest {
        if request.isSigned { return request }
        try check()
        // A long body takes its time to hash, and the signature has the time at which it is made.
        let (request, payload) = try await hashed(request)
        let (credentials, scope) = (try await credentials(), try scope())
        let length = payload == CanonicalRequest.chunks ? try request.decodedLength() : nil
        var head = request.head
        if let length { head.announceChunks(of: length) }
        head.fields["X-Amz-Date"] = scope.time
        head.fields["X-Amz-Security-Token"] = credentials.sessionToken
        // What is no hash must be told, and S3 wants to be told of any.
        if service.followsS3 || payload.contains("-") { head.fields["X-Amz-Content-Sha256"] = payload }
        let key = try key(credentials, scope)
        let signature = try sign(&head, payload, as: credentials.accessKey, key, scope)
        guard let length else { return request.with { $0.head = head } }
        let signer = ChunkSigner(key: key, scope: scope, continuing: signature)
        return try request.chunked(length, by: chunkSize, signer).with { $0.head = head }
    }

    /// Adds the signature to the fields, and returns it.
    private func sign(
        _ head: inout RequestHead, _ payload: String, as accessKey: String, _ key: HTTP.HMAC, _ scope: SigningScope
    ) throws -> String {
        let canonical = CanonicalRequest(
            method: head.method, path: CanonicalTarget.path(head.path, followsS3: service.followsS3),
            query: CanonicalTarget.query(head.query ?? ""), fields: signedFields(of: head), payload: payload)
        let signature = try key.code(of: Bytes(try scope.stringToSign(canonical))).hex
        head.fields["Authorization"] = """
            AWS4-HMAC-SHA256 Credential=\(accessKey)/\(scope.text), \
            SignedHeaders=\(canonical.names), Signature=\(signature)
            """
        return signature
    }

    /// The request to send, and what is signed in its body's place.
    private func hashed(_ request: TransportRequest) async throws -> (TransportRequest, String) {
        if let own = request.head.fields["X-Amz-Content-Sha256"] { return (request, own) }
        if !request.body.mayHaveContent { return (request, CanonicalRequest.noContent) }
        switch payload {
        case .unsigned: return (request, CanonicalRequest.unsigned)
        case .chunks: return (request, CanonicalRequest.chunks)
        case .signed:
            let (request, digest) = try await request.digested(by: .sha256)
            return (request, digest.hex)
        }
    }

    private var chunkSize: Int { if case .chunks(let size) = payload { size } else { 64 * 1024 } }

    /// The fields to sign, with the `Host` that is sent.
    func signedFields(of head: RequestHead) -> Fields {
        var signed = Fields()
        for (name, value) in head.fields.raw {
            let name = String(decoding: name, as: UTF8.self).lowercased()
            if !unsignedFields.contains(name) { signed.append(name: name, rawValue: value) }
        }
        if !signed.contains("Host") { signed.append(name: "Host", value: head.origin.authority) }
        return signed
    }
}

extension TransportRequest {
    /// Whether it says by itself who sends it.
    fileprivate var isSigned: Bool {
        head.fields.contains("Authorization")
            || CanonicalTarget.query(head.query ?? "").split(separator: "&").contains {
                $0.hasPrefix("X-Amz-Signature=")
            }
    }
}

import Dunlin
import DunlinSigning
import FoundationEssentials
import Testing

/// The examples of S3's documentation, "Authenticating requests (AWS Signature Version 4)".
@Suite(.timeLimit(.minutes(10))) struct `Signatures for S3` {
    static func signer(_ payload: AWSSigner.Payload = .signed) -> AWSSigner {
        var signer = AWSSigner(
            region: "us-east-1", service: .s3,
            credentials: .init(
                accessKey: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
            payload: payload)
        signer.clock = { Date(timeIntervalSince1970: 1_369_353_600) }
        return signer
    }

    private static func head(
        _ method: HTTP.Method, _ target: String, _ fields: Fields = [:], host: String = "examplebucket.s3.amazonaws.com"
    ) -> RequestHead {
        RequestHead(method: method, origin: .init(scheme: .https, host: host), target: target, fields: fields)
    }

    private static func chunks(of request: TransportRequest) async throws -> [Bytes] {
        guard case .stream(_, _, let make) = request.body.content else { return [] }
        var chunks: [Bytes] = []
        for try await chunk in make() as any RequestBody.Chunks { chunks.append(chunk) }
        return chunks
    }

    private static func text(_ names: String, _ signature: String) -> String {
        """
        AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, \
        SignedHeaders=\(names), Signature=\(signature)
        """
    }

    @Test(
        arguments: [
            (
                "/test.txt", ["Range": "bytes=0-9"], "host;range;x-amz-content-sha256;x-amz-date",
                "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
            ),
            (
                "/?lifecycle", [:], "host;x-amz-content-sha256;x-amz-date",
                "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"
            ),
            (
                "/?max-keys=2&prefix=J", [:], "host;x-amz-content-sha256;x-amz-date",
                "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
            ),
        ] as [(String, Fields, String, String)])
    func `an object, a bucket's lifecycle and its list are asked for with S3's signatures`(
        target: String, fields: Fields, names: String, signature: String
    ) async throws {
        let signed = try await Self.signer().signed(.init(head: Self.head(.get, target, fields)))
        #expect(signed.head.fields["Authorization"] == Self.text(names, signature))
        #expect(signed.head.fields["X-Amz-Content-Sha256"] == CanonicalRequest.noContent)
    }

    /// Paths and queries that are escaped when they are sent: what botocore 1.43 signs them with.
    @Test(arguments: [
        ("/?prefix=photos/2024", "aa9d7772d7e64b123fec35e524ec86752254d62eb061da078f6ded390e8db4d7"),
        ("/a%20b?uploads", "b920b523d3b3baa51936158b6e7d34e5c36461fee2dfffac3e25a5a992b268d7"),
        ("/a%20b", "148958ace6e83bc7d9893e7fb92c63d466140bd5acf2a0722d6fea26964f5651"),
    ])
    func `an escaped path is signed as it is`(target: String, signature: String) async throws {
        let signed = try await Self.signer().signed(.init(head: Self.head(.get, target)))
        #expect(signed.head.fields["Authorization"]?.hasSuffix("Signature=\(signature)") == true)
    }

    @Test func `an object is stored with S3's signature`() async throws {
        let fields: Fields = ["Date": "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY"]
        let signed = try await Self.signer().signed(
            .init(head: Self.head(.put, "/test$file.text", fields), body: .bytes(Bytes("Welcome to Amazon S3."))))
        #expect(
            signed.head.fields["Authorization"]
                == Self.text(
                    "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
                    "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"))
        #expect(
            signed.head.fields["X-Amz-Content-Sha256"]
                == "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072")
    }

    @Test func `a presigned URL has S3's signature`() async throws {
        let url = try await Self.signer().presigned(
            "https://examplebucket.s3.amazonaws.com/test.txt", expiresAfter: .seconds(86_400))
        #expect(
            url == """
                https://examplebucket.s3.amazonaws.com/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256\
                &X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request\
                &X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host\
                &X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404
                """)
    }

    @Test(arguments: [[66_560], [1, 66_559], [30_000, 30_000, 6_560]])
    func `chunks have S3's signatures, however the body comes`(lengths: [Int]) async throws {
        let fields: Fields = ["x-amz-storage-class": "REDUCED_REDUNDANCY", "Content-Length": "66824"]
        let pieces = lengths.map { Bytes([UInt8](repeating: UInt8(ascii: "a"), count: $0)) }
        let body = RequestBody.replayable(length: 66_560) {
            AsyncThrowingStream { stream in
                for piece in pieces { stream.yield(piece) }
                stream.finish()
            }
        }
        let signed = try await Self.signer(.chunks()).signed(
            .init(
                head: Self.head(.put, "/examplebucket/chunkObject.txt", fields, host: "s3.amazonaws.com"), body: body))
        #expect(
            signed.head.fields["Authorization"]
                == Self.text(
                    "content-encoding;content-length;host;x-amz-content-sha256;x-amz-date"
                        + ";x-amz-decoded-content-length;x-amz-storage-class",
                    "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9"))
        #expect(signed.head.fields["Content-Encoding"] == "aws-chunked")
        #expect(signed.head.fields["X-Amz-Decoded-Content-Length"] == "66560")
        let chunks = try await Self.chunks(of: signed)
        let expected = [
            ("10000", 65_536, "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648"),
            ("400", 1_024, "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497"),
            ("0", 0, "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9"),
        ]
        .map { Bytes("\($0);chunk-signature=\($2)\r\n\(String(repeating: "a", count: $1))\r\n") }
        #expect(chunks == expected)
        #expect(chunks.reduce(0) { $0 + $1.count } == 66_824)
        guard case .stream(length: 66_824, isReplayable: true, _) = signed.body.content else {
            Issue.record("the body has another length, or can be sent once only")
            return
        }
    }
}

import Dunlin
import DunlinSigning
import FoundationEssentials
import Testing

/// The vectors of AWS's own test suite for Signature Version 4, as its aws-c-auth has them: the signature in a field,
/// and in the query of a URL that lasts an hour. Left out is post-sts-header-after, whose token is not signed.
@Suite(.timeLimit(.minutes(10))) struct `Test suite of Signature Version 4` {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var method: HTTP.Method
        var target: String
        var fields: Fields
        var token: String?
        var body: String
        var head: String
        var query: String

        var testDescription: String { name }

        init(
            _ name: String, _ method: HTTP.Method, _ target: String, _ fields: Fields = [:], token: String? = nil,
            body: String = "", head: String, query: String
        ) {
            (self.name, self.method, self.target, self.fields) = (name, method, target, fields)
            (self.token, self.body, self.head, self.query) = (token, body, head, query)
        }

        var request: RequestHead {
            let origin = HTTP.Origin(scheme: .https, host: "example.amazonaws.com")
            return RequestHead(method: method, origin: origin, target: target, fields: fields)
        }

        var payload: String {
            get throws { try ContentDigest(.sha256, of: Bytes(body)).hex }
        }
    }

    private static let longToken = """
        AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRq\
        TflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75Y\
        U9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9K\
        SYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==
        """

    private static let plain = "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

    private static func signer(_ token: String?) -> AWSSigner {
        var signer = AWSSigner(
            region: "us-east-1", service: "service",
            credentials: .init(
                accessKey: "AKIDEXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
                sessionToken: token))
        signer.clock = { Date(timeIntervalSince1970: 1_440_938_160) }
        return signer
    }

    @Test(arguments: cases)
    func `a request has the signature of the suite`(example: Case) async throws {
        var head = example.request
        // The suite tells the hash of a body that it signs.
        if !example.body.isEmpty { head.fields["X-Amz-Content-Sha256"] = try example.payload }
        let body = example.body.isEmpty ? RequestBody.none : .string(example.body)
        let signed = try await Self.signer(example.token).signed(.init(head: head, body: body))
        let text = try #require(signed.head.fields["Authorization"])
        #expect(text.hasPrefix("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "))
        #expect(text.hasSuffix(", Signature=\(example.head)"))
        #expect(signed.head.fields["X-Amz-Date"] == "20150830T123600Z")
        #expect(signed.head.fields["X-Amz-Security-Token"] == example.token)
    }

    @Test(arguments: cases)
    func `a presigned URL has the signature of the suite`(example: Case) async throws {
        let url = try await Self.signer(example.token)
            .presigned(example.request, seconds: 3600, payload: example.payload)
        #expect(url.hasSuffix("&X-Amz-Signature=\(example.query)"))
    }

    /// The suite's paths that are not normalised, which is how S3 has them.
    @Test(arguments: [
        ("/example1/example2/../..", "dc33e0856fd4baca4d7aa2146c38958283844764f38c74252a333df5e613003b"),
        ("/example/..", "eca7ead57bb5aa5c8e28007acd4ff04e1ff9a0ff3b237ec1554a184887ff9282"),
        ("/./", "68714168e6557f8f2de0ef956fc24dc2593a4bd2961f8df51898d8a134695145"),
        ("/./example", "beb03f223f7deae4146464f06e29eebbee9c8afbe15c290cf07aa8b119e14cff"),
        ("//", "c88bcd3d312d75078c0cd961d6deae3f4c754924b01669efcfcb439fd5e5b76e"),
        ("//example//", "87cca117541a147f6df867677d98a7d80dff226d2bfca9e4ffa899665623c7e5"),
        ("/example space/", "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741"),
    ])
    func `a path that is not normalised has the signature of the suite`(path: String, signature: String) throws {
        let scope = try SigningScope(
            Date(timeIntervalSince1970: 1_440_938_160), region: "us-east-1", service: "service")
        let request = CanonicalRequest(
            method: .get, path: CanonicalTarget.path(path, followsS3: true), query: "",
            fields: ["Host": "example.amazonaws.com", "X-Amz-Date": scope.time], payload: CanonicalRequest.noContent)
        var keys = SigningKeys()
        let key = try keys.key("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", scope)
        #expect(try key.code(of: Bytes(scope.stringToSign(request))).hex == signature)
    }

    /// Paths and queries that are escaped when they are sent, which the suite has not: what botocore 1.43 signs.
    @Test(arguments: [
        ("/?prefix=photos/2024", "461a1080c9bff460decf9703aebead50cef37ece42bdeea015b142313fe58203"),
        ("/?prefix=photos%2F2024", "461a1080c9bff460decf9703aebead50cef37ece42bdeea015b142313fe58203"),
        ("/?uploads", "45e2d9bc440e1f1a43f34a801dee17a21392d0aa8829ff85dfea1d34515316fc"),
        ("/a%20b", "08c33fd523b5dc18699a2c38863929f12203a282c033d442d45b59a096458aa6"),
        ("/a%20b?uploads", "d4b47c22f2fb7fa293aacb5856992dd12dac33ba2da4461d54d3c0d79de3bc96"),
    ])
    func `an escaped path is escaped once more`(target: String, signature: String) async throws {
        let origin = HTTP.Origin(scheme: .https, host: "example.amazonaws.com")
        let request = TransportRequest(head: .init(method: .get, origin: origin, target: target))
        let signed = try await Self.signer(nil).signed(request)
        #expect(signed.head.fields["Authorization"]?.hasSuffix("Signature=\(signature)") == true)
    }

    @Test func `the texts on the way are those of the suite`() throws {
        let scope = try SigningScope(
            Date(timeIntervalSince1970: 1_440_938_160), region: "us-east-1", service: "service")
        let request = CanonicalRequest(
            method: .get, path: "/", query: CanonicalTarget.query("Param2=value2&Param1=value1"),
            fields: ["X-Amz-Date": scope.time, "Host": "example.amazonaws.com"], payload: CanonicalRequest.noContent)
        #expect(
            String(decoding: request.bytes, as: UTF8.self) == """
                GET
                /
                Param1=value1&Param2=value2
                host:example.amazonaws.com
                x-amz-date:20150830T123600Z

                host;x-amz-date
                e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
                """)
        #expect(
            try scope.stringToSign(request) == """
                AWS4-HMAC-SHA256
                20150830T123600Z
                20150830/us-east-1/service/aws4_request
                816cd5b414d056048ba4f7c5386d6e0533120fb1fcfa93762cf0fc39e2cf19e0
                """)
    }

    static let cases: [Case] = [
        .init(
            "get-header-key-duplicate", .get, "/",
            ["My-Header1": "value2", "My-Header1": "value2", "My-Header1": "value1"],
            head: "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea",
            query: "3349ee0b81b4b589da0ff28a395c3591e04de515651dd74f298fa992d1507a97"),
        .init(
            "get-header-value-multiline", .get, "/", ["My-Header1": "value1 value2 value3"],
            head: "cfd34249e4b1c8d6b91ef74165d41a32e5fab3306300901bb65a51a73575eefd",
            query: "e6f5def831211aca02987a44b96826706278c7bc078112ae0263659c5b2f2d56"),
        .init(
            "get-header-value-order", .get, "/",
            ["My-Header1": "value4", "My-Header1": "value1", "My-Header1": "value3", "My-Header1": "value2"],
            head: "08c7e5a9acfcfeb3ab6b2185e75ce8b1deb5e634ec47601a50643f830c755c01",
            query: "313720e71ca6202fdcfa9b20f88de01a4eb0638a83c833b1c184359a4eda864e"),
        .init(
            "get-header-value-trim", .get, "/", ["My-Header1": " value1", "My-Header2": " \"a   b   c\""],
            head: "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736",
            query: "e7bb0fd515e125e1aec2ecc4c0c17484fb06f6846b927c35e46005dd3df3acd4"),
        .init(
            "get-relative", .get, "/example/..",
            head: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
            query: "e93c787ed7f371d5c6b165c1b38ede9550f4dce4144713e844b25b7192d3865d"),
        .init(
            "get-relative-relative", .get, "/example1/example2/../..",
            head: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
            query: "e93c787ed7f371d5c6b165c1b38ede9550f4dce4144713e844b25b7192d3865d"),
        .init(
            "get-slash-dot-slash", .get, "/./",
            head: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
            query: "e93c787ed7f371d5c6b165c1b38ede9550f4dce4144713e844b25b7192d3865d"),
        .init(
            "get-slash", .get, "//",
            head: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
            query: "e93c787ed7f371d5c6b165c1b38ede9550f4dce4144713e844b25b7192d3865d"),
        .init(
            "get-slash-pointless-dot", .get, "/./example",
            head: "ef75d96142cf21edca26f06005da7988e4f8dc83a165a80865db7089db637ec5",
            query: "35034b1a0bdd969f346975386daf8aedfd4976573b8348cf4f67eaa41c5857de"),
        .init(
            "get-slashes", .get, "//example//",
            head: "9a624bd73a37c9a373b5312afbebe7a714a789de108f0bdfe846570885f57e84",
            query: "c1834e8fb0307243711f0f907f6ab7311ed300d87f13792d7ee4da89ab93e082"),
        .init(
            "get-space", .get, "/example space/",
            head: "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741",
            query: "7a1f416954786484c9824d93c1f26ef64acb9b1b6c9154d08c9f07d0e394abf6"),
        .init(
            "get-unreserved", .get, "/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
            head: "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f",
            query: "95968482db1b9e0fadef6efc1bd24689f77c77d9ef56919c96a28cc92e0d6005"),
        .init(
            "get-utf8", .get, "/ሴ",
            head: "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85",
            query: "10eae3f14a260bd3911cc6d008d3c576d143b05b62f09782a7a4b37f52178e44"),
        .init(
            "get-vanilla", .get, "/",
            head: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
            query: "e93c787ed7f371d5c6b165c1b38ede9550f4dce4144713e844b25b7192d3865d"),
        .init(
            "get-vanilla-empty-query-key", .get, "/?Param1=value1",
            head: "a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb",
            query: "49096700cbbaa5753443850f40df10f904fc2fdb544dc9512203cc77c471a9de"),
        .init(
            "get-vanilla-query", .get, "/",
            head: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
            query: "e93c787ed7f371d5c6b165c1b38ede9550f4dce4144713e844b25b7192d3865d"),
        .init(
            "get-vanilla-query-order-encoded", .get, "/?Param-3=Value3&Param=Value2&%E1%88%B4=Value1",
            head: "371d3713e185cc334048618a97f809c9ffe339c62934c032af5a0e595648fcac",
            query: "c5f1848ceec943ac2ca68ee720460c23aaae30a2300586597ada94c4a65e4787"),
        .init(
            "get-vanilla-query-order-key-case", .get, "/?Param2=value2&Param1=value1",
            head: "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
            query: "86012e2c9ad4d77369f5d81c11f75158aae4f895a085212cc6d3f923d300bed5"),
        .init(
            "get-vanilla-query-unreserved", .get,
            "/?\(plain)=\(plain)",
            head: "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197",
            query: "8e76a88a7433637b12778d5592799b29ad21ecd6cf6325051c21d86f0acda2bf"),
        .init(
            "get-vanilla-utf8-query", .get, "/?ሴ=bar",
            head: "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04",
            query: "0bdd809b1519ac4f0c1dc3540e2cc46bd0c7f778eda408b2ebf3b913d21ff600"),
        .init(
            "get-vanilla-with-session-token", .get, "/",
            token: "6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267",
            head: "07ec1639c89043aa0e3e2de82b96708f198cceab042d4a97044c66dd9f74e7f8",
            query: "7ff2b50b376cb4d151970630573d6291dc128cc5c2a12ffb237f73cc53f67b6c"),
        .init(
            "post-header-key-case", .post, "/",
            head: "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
            query: "2ce6e6d2e0cf2f9d1b55fafec88cd20574c31dc2e7631979f71ba2310083e95b"),
        .init(
            "post-header-key-sort", .post, "/", ["My-Header1": "value1"],
            head: "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c",
            query: "c09d07e0d55871f10f2a6d350d994acf6825a3cae70673d7def55616e6119dd7"),
        .init(
            "post-header-value-case", .post, "/", ["My-Header1": "VALUE1"],
            head: "cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d",
            query: "0698bc9e4f7f9139065ba2909c0e99da257e8e2a42492a097bcd46d792391fed"),
        .init(
            "post-sts-header-before", .post, "/", token: longToken,
            head: "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead",
            query: "46c2e3c63c1dbe7d39f8ada16fe7f001c1f56c5791441565323677f96308871c"),
        .init(
            "post-vanilla", .post, "/",
            head: "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
            query: "2ce6e6d2e0cf2f9d1b55fafec88cd20574c31dc2e7631979f71ba2310083e95b"),
        .init(
            "post-vanilla-empty-query-value", .post, "/?Param1=value1",
            head: "28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11",
            query: "a9ef26247f293bffe40eeff86a0480ba8c14d31503b2e0c3399e3a16bf1a3682"),
        .init(
            "post-vanilla-query", .post, "/?Param1=value1",
            head: "28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11",
            query: "a9ef26247f293bffe40eeff86a0480ba8c14d31503b2e0c3399e3a16bf1a3682"),
        .init(
            "post-x-www-form-urlencoded", .post, "/",
            ["Content-Type": "application/x-www-form-urlencoded", "Content-Length": "13"], body: "Param1=value1",
            head: "d3875051da38690788ef43de4db0d8f280229d82040bfac253562e56c3f20e0b",
            query: "89a40deed0f26f9461242825a082d2222717248abc7ab41f552ad84a94ad46e9"),
        .init(
            "post-x-www-form-urlencoded-parameters", .post, "/",
            ["Content-Type": "application/x-www-form-urlencoded; charset=utf-8", "Content-Length": "13"],
            body: "Param1=value1",
            head: "328d1b9eaadca9f5818ef05e8392801e091653bafec24fcab71e7344e7f51422",
            query: "0dbeb9b026c7b6675f266b8427efec9b4fa8b1f6ef1477d717aea231106eab4d"),
    ]
}

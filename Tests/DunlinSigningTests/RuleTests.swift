import Dunlin
import DunlinSigning
import FoundationEssentials
import Testing

@Suite(.timeLimit(.minutes(10))) struct `Rules of signing` {
    @Test(arguments: [
        // As it is sent, for S3, for others.
        ("", "/", "/"),
        ("/a%20b", "/a%20b", "/a%2520b"),
        ("/a%7eb/$c", "/a~b/%24c", "/a%257eb/%24c"),
        ("/photos/./a//b/../c", "/photos/./a//b/../c", "/photos/a/c"),
        ("/a/b/..", "/a/b/..", "/a/"),
        ("/a/.", "/a/.", "/a/"),
        ("/../..", "/../..", "/"),
        ("/100%", "/100%25", "/100%25"),
        ("/a+b=c@d:e", "/a%2Bb%3Dc%40d%3Ae", "/a%2Bb%3Dc%40d%3Ae"),
    ])
    func `a path is escaped once for S3, and normalised and escaped as it is sent for others`(
        sent: String, storage: String, other: String
    ) {
        #expect(CanonicalTarget.path(sent, followsS3: true) == storage)
        #expect(CanonicalTarget.path(sent, followsS3: false) == other)
    }

    @Test(arguments: [
        ("", ""),
        ("uploads", "uploads="),
        ("b=2&a=2&a=1&A=3", "A=3&a=1&a=2&b=2"),
        ("prefix=photos/2024", "prefix=photos%2F2024"),
        ("prefix=photos%2f2024&q=a%20b", "prefix=photos%2F2024&q=a%20b"),
        ("a=b=c&&d", "a=b%3Dc&d="),
        ("a-b=1&a=1", "a=1&a-b=1"),
    ])
    func `a query is sorted, and its names and values are escaped`(sent: String, signed: String) {
        #expect(CanonicalTarget.query(sent) == signed)
    }

    @Test func `fields are sorted without case, and spaces in them count once`() {
        let fields: Fields = ["X-B": "  a   \"b  c\" ", "Host": "h", "x-a": "1", "X-A": "2", "X-Empty": ""]
        let request = CanonicalRequest(method: .post, path: "/", query: "", fields: fields, payload: "p")
        #expect(
            String(decoding: request.bytes, as: UTF8.self)
                == "POST\n/\n\nhost:h\nx-a:1,2\nx-b:a \"b c\"\nx-empty:\n\nhost;x-a;x-b;x-empty\np")
    }

    @Test func `a key is derived once for a day, a region, a service and a secret`() throws {
        var keys = SigningKeys()
        func scope(_ hours: Double, _ region: String = "r", _ service: String = "s") throws -> SigningScope {
            try SigningScope(Date(timeIntervalSince1970: hours * 3600), region: region, service: service)
        }
        let first = try keys.key("x", scope(1)).code(of: "m")
        #expect(try keys.key("x", scope(23)).code(of: "m") == first && keys.derived == 1)
        #expect(try keys.key("y", scope(1)).code(of: "m") != first && keys.derived == 2)
        #expect(try keys.key("x", scope(24)).code(of: "m") != first && keys.derived == 3)
        #expect(try keys.key("x", scope(1, "q")).code(of: "m") != first && keys.derived == 4)
        #expect(try keys.key("x", scope(1)).code(of: "m") == first && keys.derived == 4)
        // The oldest makes room, and is derived anew.
        #expect(try keys.key("x", scope(1, "r", "t")).code(of: "m") != first && keys.derived == 5)
        #expect(try keys.key("x", scope(1)).code(of: "m") == first && keys.derived == 6)
    }

    @Test func `the length of a framed body is known beforehand`() {
        #expect(ChunkSigner.framedLength(66_560, size: 65_536) == 66_824)
        #expect(ChunkSigner.framedLength(0, size: 65_536) == 86)
        #expect(ChunkSigner.framedLength(65_536, size: 65_536) == 65_626 + 86)
        #expect(ChunkSigner.framedLength(.max, size: 8_192) == nil)
    }

    @Test(arguments: [(0.0, "19700101T000000Z"), (1_440_938_160.9, "20150830T123600Z")])
    func `a time is written in whole seconds`(seconds: Double, time: String) throws {
        let scope = try SigningScope(Date(timeIntervalSince1970: seconds), region: "r", service: "s")
        #expect(scope.time == time && scope.text == "\(time.prefix(8))/r/s/aws4_request")
    }
}

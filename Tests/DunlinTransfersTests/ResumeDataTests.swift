import Dunlin
import DunlinSemantics
import DunlinTypes
import FoundationEssentials
import Testing

@testable import DunlinTransfers

@Suite struct `Resume data` {
    @Test func `resume data keeps no secrets`() throws {
        var fields: Fields = [
            "Accept": "a/b", "Authorization": "s", "Cookie": "s", "Proxy-Authorization": "s", "X-API-Key": "s",
            "X-Auth-Token": "s", "X-Amz-Security-Token": "s", "X-Password": "s", "Client-Secret": "s",
            "X-Session-Id": "s", "Signature": "s", "User-Agent": "me", "Range": "bytes=0-", "If-Range": "\"a\"",
            "If-Match": "\"a\"", "Accept-Encoding": "gzip", "Host": "a", "Content-Length": "1",
            "Expect": "100-continue", "X-Goog-Iap-Jwt-Assertion": "s", "X-Otp": "s", "X-Callback": "//a/?token=s",
            "X-Ticket": "//a/?ticket=s",
        ]
        fields.append(name: "X-Marked", value: "s", sensitive: true)
        let data = ResumeData(
            try WebAddress("https://user:word@a.test/x"), fields: fields, validator: nil, completeLength: nil,
            partPath: "p", pieces: [], hiding: ["ticket"])
        #expect(data.fields == ["Accept": "a/b", "User-Agent": "me"])
        #expect(data.url == "https://a.test/x")
        let text = String(decoding: try JSONEncoder().encode(data), as: UTF8.self)
        #expect(!text.contains("word") && !text.contains("\"s\"") && !text.contains("=s"))
    }

    @Test func `no text that prints resume data, or an error with it, shows a secret of its URL`() throws {
        let data = ResumeData(
            try WebAddress("https://a.test/x?token=hunter2&page=2"), validator: nil, completeLength: 9, partPath: "/p",
            pieces: [.init(range: 0..<3, checksum: 1)])
        #expect("\(data)" == "GET https://a.test/x?token=***&page=2: 3 of 9 bytes in /p")
        var error = NetworkError(.cancelled, "it was cancelled")
        error.leftover = data
        var dumped = ""
        for value in [data, error] as [Any] {
            dump(value, to: &dumped)
            #expect(!dumped.contains("hunter2") && !String(reflecting: value).contains("hunter2"), "\(dumped)")
        }
        #expect(data.url.contains("hunter2") && dumped.contains("page=2"))
    }

    @Test func `resume data shows no secret of its session, also after it was read back`() throws {
        let data = ResumeData(
            try WebAddress("https://a.test/x?ticket=hunter2&page=2"), validator: nil, completeLength: 9, partPath: "/p",
            pieces: [.init(range: 0..<3, checksum: 1)], hiding: ["ticket"])
        let read = try JSONDecoder().decode(ResumeData.self, from: try JSONEncoder().encode(data))
        #expect(read == data)
        for value in [data, data.with(pieces: []), read.hiding(["ticket"])] {
            var dumped = "\(value)"
            dump(value, to: &dumped)
            #expect(!dumped.contains("hunter2") && dumped.contains("page=2"), "\(dumped)")
        }
    }

    private static let json = """
        {"version": 4, "url": "https://a.test/x", "method": "GET", "fields": [["Accept", "a/b"]],
         "validator": "\\"v\\"", "completeLength": 100, "partPath": "/tmp/p",
         "pieces": [{"start": 0, "end": 10, "checksum": 18446744073709551615}, {"start": 10, "end": 12, "checksum": 0},
                    {"start": 20, "end": 30, "checksum": 1}],
         "source": [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
                    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
                     0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
                     0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
                     0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255]]}
        """

    @Test func `resume data is read back the same`() throws {
        let data = try JSONDecoder().decode(ResumeData.self, from: Data(Self.json.utf8))
        #expect(data.url == "https://a.test/x")
        #expect(data.method == .get)
        #expect(data.fields == ["Accept": "a/b"])
        #expect(data.validator == #""v""#)
        #expect(data.completeLength == 100)
        #expect(data.partPath == "/tmp/p")
        #expect(data.source?.salt == Array(0...15) && data.source?.hash.last == 255)
        #expect(data.byteCount == 22)
        #expect(data.offset == 12)
        let again = try JSONDecoder().decode(ResumeData.self, from: try JSONEncoder().encode(data))
        #expect(again == data)
    }

    @Test(arguments: [
        (#""version": 4"#, #""version": 3"#), ("https://a.test/x", "ftp://a.test/x"), ("https://a.test/x", "x"),
        (#""GET""#, #""""#), (#"["Accept", "a/b"]"#, #"["Accept"]"#), (#"\"v\""#, #"W/\"v\""#), (#"\"v\""#, "v"),
        (#""completeLength": 100"#, #""completeLength": 29"#), (#""completeLength": 100"#, #""completeLength": -1"#),
        ("/tmp/p", ""), ("/tmp/p", #"/tmp/\u0000p"#), (#""start": 0"#, #""start": -1"#),
        (#""start": 0"#, #""start": 10"#),
        (#""start": 10"#, #""start": 9"#), (#""start": 20"#, #""start": 11"#),
        ("[[0, 1, 2,", "[[0, 1,"), ("14, 255]]", "14]]"), ("14, 255]]", "14, 255], []]"),
    ])
    func `resume data with an impossible value is refused`(part: String, other: String) throws {
        #expect(Self.json.contains(part))
        let json = Self.json.replacing(part, with: other)
        let error = #expect(throws: NetworkError.self) {
            try JSONDecoder().decode(ResumeData.self, from: Data(json.utf8))
        }
        #expect(error?.code == .invalidResumeData)
    }

    @Test(arguments: ["", "{}", "[]", "null", "{\"version\": 4}"])
    func `anything that is not resume data is refused`(json: String) {
        #expect(throws: (any Error).self) { try JSONDecoder().decode(ResumeData.self, from: Data(json.utf8)) }
    }
}

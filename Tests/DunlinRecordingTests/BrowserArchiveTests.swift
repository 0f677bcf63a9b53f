import Dunlin
import DunlinTesting
import Foundation
import Testing

@testable import DunlinRecording

@Suite(.timeLimit(.minutes(10))) struct `Archives of browsers` {
    private static func path(_ name: String) -> String {
        #filePath.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 } + "/Recordings/\(name).har"
    }

    /// Saved by Firefox 153 from a page with a script that asks for these.
    @Test func `one that Firefox has saved is read, and answers what it has`() async throws {
        let har = try HAR(contentsOf: Self.path("firefox"))
        #expect(har.creator.name == "Firefox" && har.entries.count == 11)
        let matching = RecordedTransport.Matching(fields: ["Authorization"], origin: false)
        let transport = try RecordedTransport(Self.path("firefox"), matching: matching)
        let client = try HTTPSession(.init(baseURL: "http://a.test", transport: transport))
        let user = try await client.get("users/42", as: DynamicValue.self)
        #expect(user == ["id": 42, "name": "Ada", "q": "/users/42"])
        // A redirect leads to what was recorded a second time.
        #expect(try await client.get("moved", as: DynamicValue.self) == user)
        #expect(try await client.get("users/42?page=2", as: .string).value.contains("page=2"))
        let missing = await #expect(throws: NetworkError.self) { try await client.get("missing", as: .string) }
        #expect(missing?.response?.status == .notFound)
        // Recorded with gzip, and as text.
        #expect(try await client.get("zip", as: .string).value == String(repeating: "some text ", count: 20))
        #expect(try await client.get("dot.gif", as: .bytes).value.count == 43)
        let created = try await client.post("users", json: ["age": DynamicValue(36), "name": "Ada"], as: .string)
        #expect(created.head.status == .created)
        #expect(try await client.post("form", body: .form(["a": 1, "b": 2]), as: .string).value == #"{"ok":true}"#)
        _ = try await client.get("", as: .string)
        let failure = await #expect(throws: RecordedTransport.Failure.self) { try await transport.finish() }
        #expect(failure?.unused.map { String($0.suffix(12)) } == ["/favicon.ico"])
        #expect(failure?.misses == [] && failure?.secrets == [])
    }

    @Test func `an archive has the members that the panels of browsers look for`() throws {
        let text = String(try HAR().text)
        #expect(text.contains(#""pages":[],"entries":[]"#) && text.contains(#""version":"1.2""#))
        let entry = String(
            try HAR([HAR.Entry(at: .now, HAR.Request("GET", "http://a.test/"), HAR.Response(200))]).text)
        for name in [
            "startedDateTime", "time", "request", "response", "cache", "timings", "method", "url", "httpVersion",
            "cookies", "headers", "queryString", "headersSize", "bodySize", "status", "statusText", "content", "size",
            "mimeType", "redirectURL", "send", "wait", "receive",
        ] {
            #expect(entry.contains("\"\(name)\":"), "\(name)")
        }
    }

    /// As Chromium writes it: HTTP/2, fields of names that begin with a colon, no cookies, and members of its own.
    @Test func `fields of HTTP/2, members of other programs and missing ones do no harm`() async throws {
        let text = #"""
            {"log": {"version": "1.2", "creator": {"name": "WebInspector", "version": "537.36"}, "pages": [],
             "entries": [{"_connectionId": "12", "_initiator": {"type": "other"}, "_priority": "High",
              "_resourceType": "fetch", "cache": {"beforeRequest": null}, "connection": "443", "pageref": "page_1",
              "request": {"method": "GET", "url": "https://a.test/v", "httpVersion": "h3",
               "headers": [{"name": ":authority", "value": "a.test"}, {"name": ":method", "value": "GET"},
                {"name": "accept", "value": "*/*"}], "queryString": [], "cookies": [], "headersSize": -1,
               "bodySize": 0},
              "response": {"status": 200, "statusText": "", "httpVersion": "h3", "headers": [
                {"name": ":status", "value": "200"}, {"name": "content-encoding", "value": "br"},
                {"name": "set-cookie", "value": "a=1\nb=2"}], "cookies": [], "content": {"size": 2,
                "mimeType": "text/plain", "text": "aGk=", "encoding": "base64"}, "redirectURL": "", "headersSize": -1,
               "bodySize": -1, "_transferSize": 93, "_error": null, "_fetchedViaServiceWorker": false},
              "serverIPAddress": "[2001:db8::1]", "startedDateTime": "2026-11-30T08:00:00.123456+01:00",
              "time": 12.5, "timings": {"blocked": 1.2, "dns": -1, "ssl": -1, "connect": -1, "send": 0.1,
               "wait": 11, "receive": 0.2, "_blocked_queueing": 1}}]}}
            """#
        let entry = try #require(try HAR(Bytes(text)).entries.first)
        let answer = try RecordedAnswer(entry)
        #expect(answer.body == "hi" && answer.failure == nil)
        #expect(answer.head?.fields.values(of: "Set-Cookie") == ["a=1", "b=2"])
        #expect(answer.head?.fields["Content-Encoding"] == nil && answer.head?.fields.count == 2)
    }
}

import Dunlin
import DunlinFoundation
import DunlinTesting
import FoundationEssentials
import LedgerRows
import Mocking
import Testing

@Suite(.timeLimit(.minutes(10))) struct `Request serializers` {
    typealias Serializer = RequestSerializer
    static let form = "application/x-www-form-urlencoded"

    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var method = HTTP.Method.post
        var target: HTTP.Target = "x"
        var parameters: HTTP.Parameters? = ["b": [1, true], "a": "ä"]
        var location = RequestSerializer.Location.automatic
        var session = Serializer.form
        var own: Serializer?
        var fields: Fields = [:]
        var sent: String
        var type: String?
        var body = ""
        /// Of an empty body; nil where none is announced.
        var length: String?
    }

    private static let query = "/x?a=%C3%A4&b%5B%5D=1&b%5B%5D=1"
    private static let pairs = "a=%C3%A4&b%5B%5D=1&b%5B%5D=1"
    private static let json = #"{"b":[1,true],"a":"ä"}"#
    private static let custom = Serializer.custom { parameters in .string("\(parameters?.count ?? -1)") }

    private static var encoding: Serializer {
        var serializer = Serializer.form
        serializer.encodePairs = { "\($1.method) \($1.target.text)".count == 6 ? "verbatim+\($0.count)" : "other" }
        return serializer
    }

    private static var inBody: Serializer {
        var serializer = Serializer.form
        serializer.methodsInURL = ["get", "propfind"]
        return serializer
    }

    static let cases: [Case] = [
        Case(testDescription: "GET", method: .get, sent: query),
        Case(testDescription: "HEAD", method: .head, sent: query),
        Case(testDescription: "DELETE", method: .delete, sent: query),
        Case(testDescription: "get in lower case", method: "get", sent: query),
        Case(testDescription: "POST", sent: "/x", type: form, body: pairs),
        Case(testDescription: "PUT", method: .put, sent: "/x", type: form, body: pairs),
        Case(testDescription: "PATCH", method: .patch, sent: "/x", type: form, body: pairs),
        Case(testDescription: "a method nobody knows", method: "PROPFIND", sent: "/x", type: form, body: pairs),
        Case(
            testDescription: "DELETE in the body", method: .delete, location: .body, sent: "/x", type: form, body: pairs
        ),
        Case(testDescription: "GET in the body", method: .get, location: .body, sent: "/x", type: form, body: pairs),
        Case(testDescription: "POST in the URL", location: .url, sent: query),
        Case(testDescription: "other methods in the URL", method: "PropFind", own: inBody, sent: query),
        Case(
            testDescription: "other methods in the body", method: .delete, own: inBody, sent: "/x", type: form,
            body: pairs),
        Case(testDescription: "no parameters in a URL", method: .get, parameters: nil, sent: "/x"),
        Case(testDescription: "empty parameters in a URL", method: .get, parameters: [:], sent: "/x"),
        Case(testDescription: "no parameters in a form", parameters: nil, sent: "/x", type: form, length: "0"),
        Case(testDescription: "a query that is there", method: .get, target: "x?c=1", sent: "/x?c=1&\(pairs)"),
        Case(testDescription: "an empty query", method: .get, target: "x?", sent: "/x?\(pairs)"),
        Case(testDescription: "a query that goes on", method: .get, target: "x?c&", sent: "/x?c&\(pairs)"),
        Case(testDescription: "a fragment", method: .get, target: "x#part", sent: query),
        Case(testDescription: "own type", fields: ["content-type": "a/b"], sent: "/x", type: "a/b", body: pairs),
        Case(testDescription: "JSON of the session", session: .json, sent: "/x", type: "application/json", body: json),
        Case(testDescription: "JSON of the call", own: .json, sent: "/x", type: "application/json", body: json),
        Case(testDescription: "JSON in a URL", method: .get, own: .json, sent: query),
        Case(testDescription: "no parameters in JSON", parameters: nil, own: .json, sent: "/x"),
        Case(
            testDescription: "empty parameters in JSON", parameters: [:], own: .json, sent: "/x",
            type: "application/json", body: "{}"),
        Case(
            testDescription: "own type of JSON", own: .json, fields: ["Content-Type": "application/vnd.x+json"],
            sent: "/x",
            type: "application/vnd.x+json", body: json),
        Case(testDescription: "a form of the call", session: .json, own: .form, sent: "/x", type: form, body: pairs),
        Case(
            testDescription: "a styled form", own: .form(.init(arrays: .repeatedKey, bools: .words, order: .given)),
            sent: "/x", type: form, body: "b=1&b=true&a=%C3%A4"),
        Case(testDescription: "a property list in a URL", method: .get, own: .propertyList, sent: query),
        Case(
            testDescription: "a property list of the session in a URL", method: .delete,
            session: .propertyList(.binary), sent: query),
        Case(testDescription: "no parameters in a property list", parameters: nil, own: .propertyList, sent: "/x"),
        Case(testDescription: "custom", own: custom, sent: "/x", type: "text/plain; charset=utf-8", body: "2"),
        Case(
            testDescription: "custom without parameters", parameters: nil, own: custom, sent: "/x",
            type: "text/plain; charset=utf-8", body: "-1"),
        Case(testDescription: "own pairs in a body", own: encoding, sent: "/x", type: form, body: "verbatim+2"),
        Case(testDescription: "own pairs in a URL", method: .get, own: encoding, sent: "/x?other"),
    ]

    @Test(
        .rows(
            "HS-7", "HS-12", "HS-13", "HS-24", "RQ-19", "RQ-30", "RQ-31", "RQ-32", "RQ-33", "RQ-34", "RQ-35",
            "RQ-37", "RQ-38", "RQ-70", "RQ-71", "RQ-72", "RQ-77", "VD-18"),
        arguments: cases)
    func `a request serializer puts parameters where they belong, in the form they should have`(play: Case) async throws
    {
        let mocked = try Mocked { $0.requestSerializer = play.session }
        mocked.transport.otherwise { _ in .respond() }
        let options = HTTPSession.Options(fields: play.fields)
        _ = try await mocked.session.request(
            play.target, method: play.method, parameters: play.parameters, in: play.location, using: play.own,
            options: options,
            as: .bytes)
        let request = try #require(mocked.transport.requests.last)
        #expect(request.target == play.sent)
        #expect(request.fields.values(of: "content-type") == (play.type.map { [$0] } ?? []))
        #expect(String(request.body) == play.body)
    }

    @Test(.rows("RQ-77"), arguments: [RequestBody.PropertyListFormat.xml, .binary])
    func `a property list is sent in the serializer's format, which is XML unless it says so`(
        format: RequestBody.PropertyListFormat
    ) async throws {
        let mocked = try Mocked { $0.requestSerializer = format == .xml ? .propertyList : .propertyList(.binary) }
        mocked.transport.otherwise { _ in .respond() }
        _ = try await mocked.session.post("x", parameters: ["a": 1], as: .bytes)
        let request = try #require(mocked.transport.requests.last)
        #expect(request.body.starts(with: format == .binary ? "bplist00".utf8 : "<?xml".utf8))
        #expect(request.fields.values(of: "content-type") == ["application/x-plist"])
        #expect(try PropertyListDecoder().decode([String: Int].self, from: Data(request.body)) == ["a": 1])
    }

    @Test(.rows("HS-9", "HS-10", "HS-15")) func `a request serializer serves every verb and the request task`()
        async throws
    {
        let mocked = try Mocked { $0.requestSerializer = .json }
        mocked.transport.otherwise { _ in .respond(json: User(id: 1, name: "Ada")) }
        let (session, parameters) = (mocked.session, ["a": 1] as HTTP.Parameters)
        _ = try await session.get("x", parameters: parameters, as: .bytes)
        _ = try await session.get("x", parameters: parameters, as: User.self)
        _ = try await session.head("x", parameters: parameters)
        _ = try await session.post("x", parameters: parameters, as: .bytes)
        _ = try await session.post("x", parameters: .encoding(User(id: 2, name: "B")), as: User.self)
        _ = try await session.put("x", parameters: parameters, as: .bytes)
        _ = try await session.put("x", parameters: parameters, as: User.self)
        _ = try await session.patch("x", parameters: parameters, as: .bytes)
        _ = try await session.patch("x", parameters: parameters, as: User.self)
        _ = try await session.delete("x", parameters: parameters, as: .bytes)
        _ = try await session.delete("x", parameters: parameters, in: .body, as: User.self)
        _ = try await session.task("x", method: .post, parameters: parameters, as: .bytes).value
        let sent = mocked.transport.requests.map { "\($0.method) \($0.target) \(String($0.body))" }
        let json = #"{"a":1}"#
        #expect(
            sent == [
                "GET /x?a=1 ", "GET /x?a=1 ", "HEAD /x?a=1 ", "POST /x \(json)", #"POST /x {"id":2,"name":"B"}"#,
                "PUT /x \(json)", "PUT /x \(json)", "PATCH /x \(json)", "PATCH /x \(json)", "DELETE /x?a=1 ",
                "DELETE /x \(json)", "POST /x \(json)",
            ])
    }

    private struct Broken: Error {}

    @Test(.rows("HS-11", "RQ-19", "RQ-59", "RQ-73", "RQ-79")) func `a request serializer that fails sends nothing`()
        async throws
    {
        let mocked = try Mocked()
        let nan: HTTP.Parameters = ["x": .number(.init(Double.nan))]
        let error = try await networkError {
            _ = try await mocked.session.post("x", parameters: nan, using: .json, as: .bytes)
        }
        #expect(error?.code == .invalidParameters && error?.requestMayHaveBeenSent == false)
        #expect(error?.foundationCode == .init("com.alamofire.error.serialization.request", -1016))
        #expect(error?.reason == "The `parameters` argument is not valid JSON.")
        let list = try await networkError {
            _ = try await mocked.session.post("x", parameters: ["x": nil], using: .propertyList, as: .bytes)
        }
        #expect(list?.code == .invalidParameters)
        var broken = Serializer.form
        broken.encodePairs = { _, _ in throw Broken() }
        for method in [HTTP.Method.get, .post] {
            await #expect(throws: Broken.self) {
                try await mocked.session.request("x", method: method, parameters: [:], using: broken, as: .bytes)
            }
        }
        for text in ["a b", "a\r\nHost: b", "a#b", "ä", "%zz", "a[]=1"] {
            broken.encodePairs = { _, _ in text }
            let unfit = try await networkError {
                _ = try await mocked.session.get("x", parameters: [:], using: broken, as: .bytes)
            }
            #expect(unfit?.code == .invalidParameters)
            #expect(unfit?.underlying is HTTP.QueryError)
        }
        #expect(mocked.transport.requests.isEmpty)
    }

    static let coded: [Serializer] = [
        .form, .json, .propertyList, .form(.init(arrays: .indexed, order: .given)), .propertyList(.binary),
        .json(.init(order: .sorted, escapesSlashes: false)), inBody,
    ]

    @Test(.rows("RQ-58", "RQ-76", "CO-3", "CO-4", "CO-5"))
    func `a request serializer comes back the same from JSON, unless it holds closures`() throws {
        for serializer in Self.coded {
            let data = try JSONEncoder().encode(serializer)
            let copy = try JSONDecoder().decode(Serializer.self, from: data)
            #expect(try DynamicValue(encoding: copy) == DynamicValue(encoding: serializer))
            #expect(copy.style == serializer.style && copy.methodsInURL == serializer.methodsInURL)
        }
        for serializer in [Self.custom, Self.encoding] {
            #expect(throws: EncodingError.self) { try JSONEncoder().encode(serializer) }
        }
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(
                Serializer.self, from: Data(#"{"format":"yaml","style":{},"methodsInURL":[]}"#.utf8))
        }
    }
}

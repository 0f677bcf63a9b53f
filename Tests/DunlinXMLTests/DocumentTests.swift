import Dunlin
import DunlinTesting
import DunlinXML
import LedgerRows
import Testing

@Suite(.timeLimit(.minutes(10))) struct `An XML document` {
    private static func response(_ body: Bytes, type: String? = "text/xml") -> HTTP.WholeResponse {
        let fields: Fields = type.map { ["Content-Type": $0] } ?? [:]
        return HTTP.WholeResponse(
            head: ResponseHead(version: .http11, status: 200, fields: fields), body: body)
    }

    @Test(.rows("RS-41")) func `an XML document gives its elements, attributes and text by name`() throws {
        let text: Bytes = "<feed xmlns='u'><e id='1'>a<b>c</b>d</e><!--x--><e id='2'/></feed>"
        let root = try XML.Document(text).root
        #expect(root.name == XML.Name("feed", namespace: "u"))
        #expect(root.elements(named: "e").map { $0[attribute: "id"] } == ["1", "2"])
        #expect(root["e"]?.text == "acd")
        #expect(root["e"]?["b"]?.children == [.text("c")])
        #expect(root["missing"] == nil)
        #expect(root[attribute: "id"] == nil)
    }

    @Test func `adjacent pieces of text are joined`() throws {
        #expect(try XML.Document("<a>b<!-- -->c<![CDATA[d]]>&#101;</a>").root.children == [.text("bcde")])
    }

    @Test(.rows("RS-42", "CO-9"))
    func `an XML document is made of a response with an XML type, and others are refused`() throws {
        let serializer = XMLDocumentSerializer()
        let response = Self.response("<a/>")
        try serializer.validate(response)
        #expect(try serializer.serialize(response).root.name == XML.Name("a"))
        #expect(throws: NetworkError.self) { try serializer.validate(Self.response("<a/>", type: "text/html")) }
        try serializer.accepting("+xml").validate(Self.response("<a/>", type: "application/atom+xml"))
        #expect(throws: XML.Error.self) { try serializer.serialize(Self.response("")) }
        let latin = Self.response(
            Bytes(Array("<a>".utf8) + [0xE4] + Array("</a>".utf8)), type: "text/xml;charset=latin1")
        #expect(try serializer.serialize(latin).root.text == "ä")
    }

    @Test(.rows("RS-40")) func `a response can be serialized as events that are read later`() throws {
        let events = XMLEventsSerializer().serialize(Self.response("<a>x</b>"))
        var seen: [XML.Event] = []
        #expect(throws: XML.Error.self) { try events.forEach { seen.append($0) } }
        #expect(seen == [.start(XML.Name("a"), attributes: []), .text("x")])
    }

    @Test(.rows("RS-40")) func `a session gives the events of a response with an XML type, and of no other`()
        async throws
    {
        let transport = MockTransport()
        transport.on(.get, "/feed").respond(fields: ["Content-Type": "text/xml"], body: "<a>x</a>")
        transport.on(.get, "/page").respond(fields: ["Content-Type": "text/html"], body: "<a>x</a>")
        let session = try HTTPSession(HTTPSession.Configuration(baseURL: "http://api.test", transport: transport))
        var seen: [XML.Event] = []
        try await session.get("feed", as: .xmlEvents).value.forEach { seen.append($0) }
        #expect(seen == [.start(XML.Name("a"), attributes: []), .text("x"), .end(XML.Name("a"))])
        await #expect(throws: NetworkError.self) { try await session.get("page", as: .xmlEvents) }
    }
}

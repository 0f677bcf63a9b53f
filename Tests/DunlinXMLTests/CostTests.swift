import Dunlin
import Testing

@testable import DunlinXML

/// What documents cost is counted in what is done, and compared between two sizes.
@Suite struct `What a document costs` {
    private static func problem(_ text: String) -> XML.Error.Problem? {
        do throws(XML.Error) {
            _ = try XML.Document(Bytes(text))
            return nil
        } catch {
            return error.problem
        }
    }

    private static func document(_ entities: String, _ references: String, _ count: Int) -> String {
        "<!DOCTYPE a [\(entities)]><a>" + String(repeating: references, count: count) + "</a>"
    }

    @Test(arguments: ["&lt;", "&amp;", "&quot;", "&apos;", "&gt;", "&#38;lt;"])
    func `predefined references within an entity count towards the limit of expansion`(reference: String) {
        let entity = "<!ENTITY e '" + String(repeating: reference, count: 1_000) + "'>"
        #expect(Self.problem(Self.document(entity, "&e;", 100)) == nil)
        #expect(Self.problem(Self.document(entity, "&e;", 400)) == .expandsTooFar)
        let attribute = "<!DOCTYPE a [\(entity)]><a b='" + String(repeating: "&e;", count: 400) + "'/>"
        #expect(Self.problem(attribute) == .expandsTooFar)
        // In the document itself they are no longer than what they stand for.
        #expect(Self.problem("<a>" + String(repeating: "&lt;", count: 400_000) + "</a>") == nil)
    }

    /// Swift would compare them in a time that grows with the square of the run.
    @Test(arguments: [
        "<a>MARKS</a>", "<aMARKS/>", "<a bMARKS=''/>", "<a b='MARKS'/>", "<xMARKS:a xmlns:xMARKS='u'/>",
        "<a xmlns='uMARKS'/>", "<a><![CDATA[MARKS]]></a>", "<!DOCTYPE a [<!ENTITY e 'MARKS'>]><a>&e;</a>",
    ])
    func `a name or text has at most 256 combining marks in a row`(document: String) {
        for (count, problem) in [(256, nil), (257, .tooManyMarks)] as [(Int, XML.Error.Problem?)] {
            let marks = String(String.UnicodeScalarView(repeatElement("\u{301}", count: count)))
            let parts = document.split(separator: "MARKS", omittingEmptySubsequences: false)
            #expect(Self.problem(parts.joined(separator: marks)) == problem)
        }
        #expect(Self.problem("<a>" + String(repeating: "&#x301;", count: 257) + "</a>") == .tooManyMarks)
        // What is joined counts as one, whatever stands between.
        for (between, count) in [("<!---->", 2), ("<![CDATA[\u{301}]]>", 2), ("<b/>", 2), ("<b>\u{301}</b>", 2)] {
            let marks = String(String.UnicodeScalarView(repeatElement("\u{301}", count: 200)))
            let text = String(repeating: marks + between, count: count)
            #expect(Self.problem("<a>\(text)</a>") == .tooManyMarks, "\(between)")
            #expect(Self.problem("<a>\(marks)a\(between)\(marks)</a>") == nil)
        }
        #expect(Self.problem("<a b='" + String(repeating: "&#x301;", count: 257) + "'/>") == .tooManyMarks)
    }

    @Test func `names in an entity count towards the limit of expansion even if they are empty`() {
        let name = String(repeating: "n", count: 10_000)
        let entities = "<!ENTITY \(name) ''><!ENTITY e '&\(name);'>"
        #expect(Self.problem(Self.document(entities, "&e;", 90)) == nil)
        #expect(Self.problem(Self.document(entities, "&e;", 110)) == .expandsTooFar)
    }

    @Test(arguments: ["<![CDATA[xy]]>", "xy<!---->", "<?p?>xy", "x&#121;<!---->", "&lt;y<!---->"])
    func `text is copied once, in however many pieces it comes`(piece: String) throws {
        for count in [1_000, 2_000, 4_000] {
            var reader = try XML.Reader(Bytes("<a>" + String(repeating: piece, count: count) + "</a>"))
            var builder = TreeBuilder()
            while let event = try reader.next() { builder.take(event) }
            #expect(builder.copied == 2 * count)
            #expect(builder.root?.children.count == 1)
            #expect(builder.root?.text.utf8.count == 2 * count)
        }
    }

    private static func steps(bindings: Int, elements: Int, nested: Bool) throws -> Int {
        let declarations = (0..<bindings).map { " xmlns:p\($0)='u\($0)'" }.joined()
        let depth = nested ? 8 : 1
        let start = (0..<depth).map { _ in "<a\(declarations)>" }.joined()
        let end = String(repeating: "</a>", count: depth)
        let text = start + String(repeating: "<b p0:c='' p1:c=''/>", count: elements) + end
        var reader = try XML.Reader(Bytes(text))
        while try reader.next() != nil {}
        return reader.scope.steps
    }

    @Test(arguments: [false, true]) func `a namespace is looked up once a name, however many are declared`(nested: Bool)
        throws
    {
        for bindings in [2, 900] {
            let few = try Self.steps(bindings: bindings, elements: 100, nested: nested)
            let many = try Self.steps(bindings: bindings, elements: 300, nested: nested)
            // An element's own, and that of each attribute.
            #expect(many - few == 200 * 3)
        }
    }

    @Test func `namespaces are compared by number, and equal ones have the same number`() throws {
        var scope = NamespaceScope()
        let long = String(repeating: "u", count: 1_000_000)
        #expect(scope.declare("p", long, at: 1) && scope.declare("q", long, at: 2) && scope.declare("r", "v", at: 2))
        #expect(scope.namespace(of: "p") == scope.namespace(of: "q"))
        #expect(scope.namespace(of: "p")?.number == 2)
        #expect(scope.namespace(of: "r")?.number == 3)
        scope.leave(2)
        #expect(scope.namespace(of: "q") == nil)
        #expect(scope.namespace(of: "p")?.name == long)
        #expect(scope.namespace(of: "") == NamespaceScope.Namespace.none)
    }
}

@Suite struct `A deep document` {
    private static func text(_ depth: Int) -> Bytes {
        Bytes(String(repeating: "<a>", count: depth) + "x" + String(repeating: "</a>", count: depth))
    }

    @Test(arguments: [XML.Document.deepest + 1, 100_000])
    func `a document that is deeper than a tree may be is refused, whatever the limits are`(depth: Int) {
        let limits = XML.Limits(depth: .max)
        let error = #expect(throws: XML.Error.self) { try XML.Document(Self.text(depth), limits: limits) }
        #expect(error?.problem == .tooDeep)
    }

    @Test func `a tree of the greatest depth can be compared, hashed, described and released`() throws {
        let limits = XML.Limits(depth: 100_000)
        let first = try XML.Document(Self.text(XML.Document.deepest), limits: limits)
        let second = try XML.Document(Self.text(XML.Document.deepest), limits: limits)
        #expect(first == second)
        #expect(first.hashValue == second.hashValue)
        #expect("\(first)".utf8.count > XML.Document.deepest)
        #expect(first.root.text == "x")
    }

    @Test func `events can be read as deep as the limits allow`() throws {
        let depth = 100_000
        var reader = try XML.Reader(Self.text(depth), limits: XML.Limits(depth: depth))
        var events = 0
        while try reader.next() != nil { events += 1 }
        #expect(events == 2 * depth + 1)
    }
}

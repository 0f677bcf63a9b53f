import Dunlin
import LedgerRows
import Testing

@testable import DunlinXML

/// What a document consists of, in one line, or the problem it ends with.
private func summary(_ text: Bytes, charset: String? = nil, limits: XML.Limits = XML.Limits()) -> String {
    var parts: [String] = []
    do throws(XML.Error) {
        var reader = try XML.Reader(text, charset: charset, limits: limits)
        while let event = try reader.next() { parts.append(short(event)) }
    } catch {
        parts.append("!\(error.problem)")
    }
    return parts.joined(separator: " ")
}

private func short(_ event: XML.Event) -> String {
    switch event {
    case .start(let name, let attributes):
        "<" + short(name) + attributes.map { " \(short($0.name))=[\($0.value)]" }.joined() + ">"
    case .end(let name): "</" + short(name) + ">"
    case .text(let text): "[" + text + "]"
    case .comment(let text): "#" + text
    case .instruction(let target, let data): "?\(target):\(data)"
    }
}

private func short(_ name: XML.Name) -> String {
    (name.namespace.map { "{\($0)}" } ?? "") + name.local
}

@Suite struct `A document in XML` {
    static let wellFormed: [(String, String)] = [
        ("<a/>", "<a> </a>"), ("<a></a>", "<a> </a>"), (" <a b='1' c = \"2\" /> ", "<a b=[1] c=[2]> </a>"),
        ("<?xml version=\"1.0\"?><a>x<b>y</b>z</a>", "<a> [x] <b> [y] </b> [z] </a>"),
        ("<a>&lt;&gt;&amp;&quot;&apos;&#65;&#x1F600;</a>", "<a> [<>&\"'A😀] </a>"),
        ("<a>1\r\n2\r3\n4</a>", "<a> [1\n2\n3\n4] </a>"), ("<a b=\"1\r\n2\t3&#10;\"/>", "<a b=[1 2 3\n]> </a>"),
        ("<a><![CDATA[<&]]]]><![CDATA[>]]></a>", "<a> [<&]]] [>] </a>"), ("<a><![CDATA[]]></a>", "<a> </a>"),
        ("<!--x--><a><!-- y --></a><!---->", "#x <a> # y  </a> #"),
        ("<?p q r?><a><?s?></a>", "?p:q r <a> ?s: </a>"), ("<ä·1/>", "<ä·1> </ä·1>"),
        ("<a xmlns='u'><b xmlns=''/><c d='1'/></a>", "<{u}a> <b> </b> <{u}c d=[1]> </{u}c> </{u}a>"),
        (
            "<p:a xmlns:p='u' p:b='1' xml:lang='d'><p:c xmlns:p='v'/></p:a>",
            "<{u}a {u}b=[1] {http://www.w3.org/XML/1998/namespace}lang=[d]> <{v}c> </{v}c> </{u}a>"
        ),
        ("<!DOCTYPE a><a/>", "<a> </a>"), ("<!DOCTYPE a SYSTEM 'x'><a/>", "<a> </a>"),
        ("<!DOCTYPE a PUBLIC \"x\" 'y' [ <!ELEMENT a ANY><!ATTLIST a b CDATA '>'> ] ><a/>", "<a> </a>"),
        (
            "<!DOCTYPE a [<!ENTITY b 'c'><!ENTITY b 'd'><!ENTITY e '&b;&b;'>]><a f='&e;'>&b;&e;</a>",
            "<a f=[cc]> [ccc] </a>"
        ),
        ("<!DOCTYPE a [<!ENTITY b ''>]><a>&b;</a>", "<a> </a>"),
        ("<!DOCTYPE a [<!-- ] --><?x ]?><!ENTITY b SYSTEM 'c' NDATA d>]><a/>", "<a> </a>"),
    ]

    @Test(.rows("RS-40"), arguments: wellFormed)
    func `a well-formed document is read event by event`(text: String, events: String) {
        #expect(summary(Bytes(text)) == events)
    }

    static let malformed: [(String, XML.Error.Problem)] = [
        ("", .endsEarly), (" ", .endsEarly), ("x", .notWellFormed), ("<a>", .endsEarly), ("<a", .endsEarly),
        ("<a></b>", .mismatchedTag), ("</a>", .notWellFormed), ("<a/><b/>", .notWellFormed), ("<a/>x", .notWellFormed),
        ("<a b='1' b='2'/>", .repeatedAttribute), ("<a b/>", .notWellFormed), ("<a b=1/>", .notWellFormed),
        ("<a b='1'c='2'/>", .notWellFormed), ("<a b='<'/>", .notWellFormed), ("<1/>", .invalidName),
        ("< a/>", .invalidName), ("<a:/>", .invalidName), ("<a:b/>", .unboundPrefix), ("<a b:c='1'/>", .unboundPrefix),
        ("<a:b:c xmlns:a='u'/>", .notWellFormed), ("<a xmlns:xml='u'/>", .unboundPrefix),
        ("<a xmlns:p=''/>", .unboundPrefix), ("<a xmlns:xmlns='u'/>", .unboundPrefix),
        ("<a xmlns:p='u' xmlns:q='u' p:b='' q:b=''/>", .repeatedAttribute), ("<a>&b;</a>", .unknownEntity),
        ("<a>&</a>", .invalidName), ("<a>&lt</a>", .invalidReference), ("<a>&#0;</a>", .invalidReference),
        ("<a>&#xD800;</a>", .invalidReference), ("<a>&#+65;</a>", .invalidReference),
        ("<a>&#99999999999;</a>", .invalidReference),
        ("<a>]]></a>", .notWellFormed), ("<!-- -- --><a/>", .notWellFormed), ("<![CDATA[x]]><a/>", .notWellFormed),
        ("<a><?xml version='1.0'?></a>", .notWellFormed), (" <?xml version='1.0'?><a/>", .notWellFormed),
        ("<a>\u{1}</a>", .invalidCharacter), ("<a>\u{FFFF}</a>", .invalidCharacter),
        ("<a/><!DOCTYPE a>", .notWellFormed), ("<!DOCTYPE a><!DOCTYPE a><a/>", .notWellFormed),
        ("<!DOCTYPE a [%p;]><a/>", .parameterEntity), ("<!DOCTYPE a [<!ENTITY b '%p;'>]><a/>", .parameterEntity),
        ("<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;</a>", .externalEntity),
        ("<!DOCTYPE a [<!ENTITY b '<c/>'>]><a>&b;</a>", .markupInEntity),
        ("<!DOCTYPE a [<!ENTITY b '&#60;c/>'>]><a>&b;</a>", .markupInEntity),
        ("<!DOCTYPE a [<!ENTITY b '&b;'>]><a>&b;</a>", .expandsTooFar),
        ("<!DOCTYPE a [<!ENTITY b '&c'>]><a>&b;</a>", .invalidReference), ("<!DOCTYPE a [", .endsEarly),
    ]

    @Test(.rows("RS-41"), arguments: malformed)
    func `a malformed document is refused with the rule that it breaks`(text: String, problem: XML.Error.Problem) {
        let found = summary(Bytes(text))
        #expect(found.hasSuffix("!\(problem)"), "\(found)")
    }

    @Test(arguments: wellFormed)
    func `a document is refused wherever it is cut`(text: String, events: String) {
        let bytes = Bytes(text)
        let body = text.lastIndex(of: ">").map { text[...$0].utf8.count } ?? 0
        for count in 0..<body where !text.hasPrefix("<!--x") && !text.hasPrefix("<?p") {
            #expect(summary(bytes[0..<count]).contains("!"), "\(count)")
        }
    }

    @Test func `an error gives the line and the column`() {
        let error = #expect(throws: XML.Error.self) { try XML.Document("<a>\n <b>\n</a>") }
        #expect(error?.line == 3)
        #expect(error?.description == "an end tag does not match its start, at line 3, column 3")
    }

    @Test func `a reader that has failed keeps failing with the same error`() throws {
        var reader = try XML.Reader("<a><b></a>")
        _ = try reader.next()
        _ = try reader.next()
        for _ in 0..<3 {
            let error = #expect(throws: XML.Error.self) { try reader.next() }
            #expect(error?.problem == .mismatchedTag)
        }
    }
}

@Suite struct `A hostile document` {
    @Test(arguments: [(512, true), (513, false), (300_000, false)])
    func `a document can be nested 512 levels deep and no deeper`(depth: Int, isTaken: Bool) {
        let text = String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)
        #expect(summary(Bytes(text)).contains("!") != isTaken)
        let whole = Result { () throws(XML.Error) in try XML.Document(Bytes(text)) }
        let isWhole = if case .success = whole { true } else { false }
        #expect(isWhole == isTaken)
    }

    @Test(.rows("RS-41")) func `entities within entities are refused when they expand too far`() {
        var text = "<!DOCTYPE a [<!ENTITY e0 'lol'>"
        for level in 1...12 {
            text += "<!ENTITY e\(level) '" + String(repeating: "&e\(level - 1);", count: 10) + "'>"
        }
        #expect(summary(Bytes(text + "]><a>&e12;</a>")) == "<a> !expandsTooFar")
        #expect(summary(Bytes(text.replacing("lol", with: "") + "]><a>&e12;</a>")) == "<a> !expandsTooFar")
    }

    @Test func `many references to a long entity are refused when they expand too far`() {
        let long = String(repeating: "x", count: 10_000)
        let text = "<!DOCTYPE a [<!ENTITY b '\(long)'>]><a>" + String(repeating: "&b;", count: 101) + "</a>"
        #expect(summary(Bytes(text)) == "<a> !expandsTooFar")
    }

    @Test func `an element can have 1000 attributes and no more`() {
        func text(_ count: Int) -> Bytes { Bytes("<a " + (0..<count).map { "b\($0)='' " }.joined() + "/>") }
        #expect(!summary(text(1_000)).contains("!"))
        #expect(summary(text(1_001)) == "!tooManyAttributes")
    }
}

@Suite struct `A document's encoding` {
    private static func wide(_ text: String, isBig: Bool) -> [UInt8] {
        text.utf16.flatMap { isBig ? [UInt8($0 >> 8), UInt8($0 & 0xFF)] : [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    }

    static let encoded: [([UInt8], String?, String)] = [
        (Array("<a>ä</a>".utf8), nil, "<a> [ä] </a>"), ([0xEF, 0xBB, 0xBF] + Array("<a/>".utf8), "latin1", "<a> </a>"),
        (wide("<a>ä</a>", isBig: true), nil, "<a> [ä] </a>"), (wide("<a>ä</a>", isBig: false), nil, "<a> [ä] </a>"),
        ([0xFF, 0xFE] + wide("<a/>", isBig: false), nil, "<a> </a>"),
        (Array("<?xml version='1.0' encoding='latin1'?><a>".utf8) + [0xE4] + Array("</a>".utf8), nil, "<a> [ä] </a>"),
        (Array("<a>".utf8) + [0xE4] + Array("</a>".utf8), "iso-8859-1", "<a> [ä] </a>"),
        (Array("<a>".utf8) + [0xE4] + Array("</a>".utf8), nil, "!unreadableText"),
        (Array("<?xml version='1.0' encoding='latin1'?><a>ä</a>".utf8), "utf-8", "<a> [ä] </a>"),
        (Array("<a/>".utf8), "x-nothing", "!unreadableText"),
    ]

    @Test(arguments: encoded)
    func `a document's encoding is its byte order mark's, the given one or the declared one`(
        bytes: [UInt8], charset: String?, events: String
    ) {
        #expect(summary(Bytes(bytes), charset: charset) == events)
    }
}

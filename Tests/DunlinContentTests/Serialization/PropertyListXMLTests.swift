import Dunlin
import FoundationEssentials
import Testing

@testable import DunlinContent
@testable import DunlinSession
@testable import DunlinTransfers

@Suite struct `A property list in XML` {
    /// What Foundation is given, or nil for what is refused.
    private static func read(_ body: Bytes) -> String? {
        do throws(PropertyListShape.Refusal) {
            return String(try PropertyListShape.checked(body))
        } catch {
            return nil
        }
    }

    private static func decoded<Value: Decodable>(_ type: Value.Type, _ body: Bytes) throws -> Value {
        try PropertyListSerializer(type).serialize(Replies.made(body))
    }

    static let plain: [(String, String)] = [
        ("<string>a</string>", "<string>a</string>"), ("<array/>", "<array></array>"),
        ("<array ><true /><false></false >\n</array >", "<array><true/><false/></array>"),
        ("<string/>", "<string></string>"), ("<data/>", "<data></data>"),
        ("<dict><key>a</key><integer>1</integer></dict>", "<dict><key>a</key><integer>1</integer></dict>"),
        ("<!--<--><?x > ?><array><!-- </array> --></array>", "<array></array>"),
        ("<string>a<!-- b -->c<![CDATA[<&]]>]]></string>", "<string>ac&lt;&amp;]]></string>"),
        ("<string>&lt;&gt;&amp;&quot;&apos;&#65;&#x1F600;&#13;</string>", "<string>&lt;>&amp;\"'A😀\r</string>"),
        ("<string>\r\n\t\u{1}ä</string>", "<string>\r\n\t\u{1}ä</string>"),
    ]

    @Test(arguments: plain)
    func `a property list in XML is rewritten in plain form before Foundation reads it`(text: String, expected: String)
    {
        let heads = [
            "", "\n", "<?xml version=\"1.0\" encoding=\"UTF-8\"?>", "<?xml version='1.0'?><!DOCTYPE plist>",
            "<?xml version=\"1.0\"?>\n<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \">\">\n<!-- -->",
            "<!DOCTYPE plist SYSTEM 'x[' >",
        ]
        for head in heads {
            for (start, end) in [("", ""), ("<plist>", "</plist>"), ("<plist version='1.0' > ", "</plist >\n<!---->")] {
                let found = Self.read(Bytes(head + start + text + end))
                #expect(found == "<plist version=\"1.0\">\(expected)</plist>", "\(head)\(start)")
            }
        }
    }

    static let refused = [
        "<", "<plist", "<plist>", "<plist/>", "<plist></plist>", "<plist><array></plist>", "<array></array></array>",
        "<array><plist><true/></plist></array>", "<plist><true/><true/></plist>", "<true/>x", "<true/><true/>",
        "<array>x</array>", "<array><key>a</key></array>", "<dict><key>a</key></dict>", "<dict><true/></dict>",
        "<dict><key>a</key><key>b</key></dict>", "<key>a</key>", "<b/>", "<Array/>", "<array a='1'/>",
        "<plist a='1'><true/></plist>", "<plist version=1><true/></plist>", "<string><true/></string>",
        "<true>1</true>", "<string>&a;</string>", "<string>&lt</string>", "<string>&#0;</string>",
        "<string>&#xD800;</string>", "<string>&#+65;</string>", "<string>a", "<string>a</string", "<string>a</key>",
        "<array><!--></array>", "<array><!-- -- --></array>", "<array><![CDATA[]]></array>", "<array></array x>",
        "<array x=\"</array\"></array>", "<array </array>", "<!DOCTYPE a><true/>", "<!DOCTYPE plist []><true/>",
        "<!DOCTYPE plist><!DOCTYPE plist><true/>", "<true/><!DOCTYPE plist>", "<array><?x</array>",
        "<?xml version='1.0' encoding='latin1'?><true/>", "<?xml version='1.0' encoding='UTF-16'?><true/>",
        "<?xml version='1.0' b='1'?><true/>", "<array><?xml version='1.0'?></array>",
        "<!DOCTYPE plist [<!ENTITY a \"b\">]><plist><string>&a;</string></plist>",
    ]

    @Test(arguments: refused)
    func `XML that is not a whole property list from end to end is refused`(text: String) {
        #expect(Self.read(Bytes(text)) == nil)
    }

    @Test func `a property list in XML is refused wherever it is cut`() {
        let whole: Bytes = "<plist version='1.0'><dict><key>a</key><array><string>&lt;</string></array></dict></plist>"
        #expect(Self.read(whole) != nil)
        for count in 0..<whole.count { #expect(Self.read(whole[0..<count]) == nil, "\(count)") }
    }

    @Test(arguments: [(512, true), (513, false), (100_000, false)])
    func `a property list in XML can be nested 512 levels deep and no deeper`(depth: Int, isTaken: Bool) {
        let starts = ["", "<!--</array>-->", "<?x </array>?>", "<!-- ><array/> -->", "<!--><!-->"]
        for hidden in starts {
            let start = "<plist>" + String(repeating: "<array>" + hidden, count: depth - 1)
            let text = start + String(repeating: "</array>", count: depth - 1) + "</plist>"
            #expect((Self.read(Bytes(text)) != nil) == isTaken)
        }
        let wide = "<array>" + String(repeating: "<array/>", count: depth) + "</array>"
        #expect(Self.read(Bytes(wide)) != nil)
    }

    /// Each of these was two things to two readers: no deeper than one element to who counts it, and 100,000 deep to
    /// who recurses into it.
    @Test(arguments: ["<!-->", "<array x=\"</a\">", "<array x='</a'>", "<array </a>", "<array x=</array>"])
    func `malformed tags and comments cannot hide the depth of a property list`(step: String) throws {
        for count in [1, 100_000] {
            for end in ["", "</array>"] {
                let text = "<plist>" + String(repeating: step + "<array>" + end, count: count) + "</plist>"
                let failure = Replies.failure { _ = try Self.decoded([String].self, Bytes(text)) }
                #expect(failure?.code == .unreadableContent)
            }
        }
    }

    private static func wide(_ text: String, isBig: Bool) -> [UInt8] {
        text.utf16.flatMap { isBig ? [UInt8($0 >> 8), UInt8($0 & 0xFF)] : [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    }

    @Test func `a property list in XML is read as UTF-8, or as what its byte order mark says`() throws {
        let text = "<?xml version='1.0' encoding='UTF-16'?><array><string>ä</string></array>"
        for isBig in [false, true] {
            #expect(try Self.decoded([String].self, Bytes(Self.wide("\u{FEFF}" + text, isBig: isBig))) == ["ä"])
            #expect(Self.read(Bytes(Self.wide(text, isBig: isBig))) == nil)
        }
        #expect(try Self.decoded([String].self, Bytes("\u{FEFF}<array><string>ä</string></array>")) == ["ä"])
        #expect(Self.read(Bytes(Array("<array><string>".utf8) + [0xE4] + Array("</string></array>".utf8))) == nil)
        #expect(Self.read(Bytes(Self.wide("\u{FEFF}<array/>", isBig: false).dropLast())) == nil)
        #expect(Self.read(Bytes([0xFF, 0xFE, 0, 0, 0x3C, 0, 0, 0x11])) == nil)
    }

    @Test func `a checked property list gives the same values as Foundation alone`() throws {
        let body = Bytes(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0"><array><dict><key>a &amp; b</key><string>1 &lt; 2 <![CDATA[<>&]]></string></dict>
            <dict/></array></plist>
            """)
        let expected = try PropertyListDecoder().decode([[String: String]].self, from: Data(body))
        #expect(try Self.decoded([[String: String]].self, body) == expected)
        #expect(expected == [["a & b": "1 < 2 <>&"], [:]])
        let values = "<plist><array><real>1.5</real><integer>-2</integer><integer>0x10</integer></array></plist>"
        #expect(try Self.decoded([Double].self, Bytes(values)) == [1.5, -2, 16])
        let dates = "<plist><array><date>2020-01-01T00:00:00Z</date></array></plist>"
        #expect(try Self.decoded([Date].self, Bytes(dates)) == [Date(timeIntervalSince1970: 1_577_836_800)])
        #expect(try Self.decoded([Data].self, "<array><data>\n\tAA EC\n</data></array>") == [Data([0, 1, 2])])
    }
}

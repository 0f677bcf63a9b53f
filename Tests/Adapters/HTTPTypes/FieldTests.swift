import Dunlin
import DunlinHTTPTypes
import HTTPTypes
import Testing

@Suite struct `Fields, from and to HTTPFields` {
    @Test func `keep order, case and every value by itself`() throws {
        var fields = Fields()
        for (name, value) in [("X-One", "1"), ("SET-COOKIE", "a=1, b"), ("x-one", ""), ("Set-Cookie", "c=é")] {
            fields.append(name: name, value: value)
        }
        let theirs = try HTTPFields(fields)
        #expect(theirs.map(\.name.rawName) == ["X-One", "SET-COOKIE", "x-one", "Set-Cookie"])
        #expect(theirs.map(\.value) == ["1", "a=1, b", "", "c=é"])
        let back = try Fields(theirs)
        #expect(back == fields)
        #expect(back.map(\.name) == fields.map(\.name))
    }

    @Test func `keep bytes that are no UTF-8 on the way to HTTPFields`() async throws {
        let wire: [UInt8] = Array("HTTP/1.1 200 OK\r\nX-Name: caf".utf8) + [0xE9, 0x0D, 0x0A, 0x0D, 0x0A]
        let fields = try await Wire.response(Bytes(wire)).fields
        let theirs = try HTTPFields(fields)
        let name = try #require(HTTPField.Name("X-Name"))
        let bytes = theirs[fields: name].first?.withUnsafeBytesOfValue { Array($0) }
        #expect(bytes == Array("caf".utf8) + [0xE9])
        #expect { try Fields(theirs) } throws: { "\($0)".contains("\"X-Name\" is not UTF-8") }
    }

    @Test(arguments: ["a\r\nEvil: 1", "a\nb", "a\rb", "a\0b", "a\u{1}b", "a\u{7F}b", " a", "a ", "\ta", "a\t", "\r\n"])
    func `that HTTPField would change are refused by name`(value: String) throws {
        #expect { try HTTPFields(["X-Fine": "1", "X-Bad": value]) } throws: {
            let error = $0 as? NetworkError
            return error?.code == .invalidRequest && error?.reason.contains("\"X-Bad\"") == true
        }
    }

    @Test(arguments: [UInt8(0x01), 0x0B, 0x1F, 0x7F, 0x09, 0x20])
    func `with values that a lenient HTTPField let in are refused by name`(byte: UInt8) throws {
        let name = try #require(HTTPField.Name("X-Bad"))
        let fields = HTTPFields([HTTPField(name: name, lenientValue: [byte])])
        #expect { try Fields(fields) } throws: { ($0 as? NetworkError)?.reason.contains("\"X-Bad\"") == true }
    }

    /// What one side lets through, the other has as well.
    @Test func `are the same for each byte in the middle of a value, or refused`() throws {
        for byte in UInt8.min...UInt8.max where byte < 0x80 {
            let value = "a" + String(UnicodeScalar(byte)) + "b"
            let isAllowed = byte == 9 || (0x20..<0x7F).contains(byte)
            let theirs = try? HTTPFields(["X": value])
            #expect((theirs != nil) == isAllowed, "\(byte)")
            if let theirs { #expect(try Fields(theirs)["x"] == value) }
        }
    }

    @Test(arguments: ["", "a b", "a:b", ":path", "a\r\n", "é"])
    func `with names that are no tokens are refused`(name: String) throws {
        #expect(throws: NetworkError.self) { try HTTPFields([name: "1"]) }
    }

    @Test func `of a number that HTTPFields would trap on are refused`() throws {
        var fields = Fields()
        for _ in 0..<65_535 { fields.append(name: "a", value: "") }
        #expect { try HTTPFields(fields) } throws: { ($0 as? NetworkError)?.reason == "there are too many fields" }
    }

    @Test func `that must not be indexed are marked as sensitive`() throws {
        let name = try #require(HTTPField.Name("X-Thing"))
        var field = HTTPField(name: name, value: "planted-secret")
        field.indexingStrategy = .disallow
        var fields = HTTPFields()
        fields.append(field)
        #expect(!"\(try Fields(fields))".contains("planted-secret"))
    }
}

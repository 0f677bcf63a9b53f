import Dunlin
import FoundationEssentials
import Testing

@Suite struct `Errors of JSON` {
    private struct User: Decodable {
        struct Login: Decodable {
            var password: Int
        }

        var name: String
        var age: Int
        var login: Login?
    }

    private func message(_ text: String, _ json: HTTP.JSON = .standard) -> String {
        do {
            _ = try json.decode([User].self, from: Bytes(text))
            return ""
        } catch DecodingError.keyNotFound(_, let context), DecodingError.valueNotFound(_, let context),
            DecodingError.typeMismatch(_, let context), DecodingError.dataCorrupted(let context)
        {
            return (context.underlyingError as? HTTP.JSON.SyntaxError)?.description ?? context.debugDescription
        } catch {
            return "\(error)"
        }
    }

    @Test func `an error says what was expected, what was found, and where`() {
        #expect(
            message("[\n  {\"name\": \"Ada\", \"age\": \"x\\ny\"}\n]")
                == "expected Int, found the text \"x y\" (at [0].age, line 2, column 26)")
        #expect(message(#"[{"name":null,"age":1}]"#) == "expected String, found null (at [0].name, line 1, column 10)")
        #expect(
            message(#"[{"name":[1],"age":1}]"#) == "expected String, found an array (at [0].name, line 1, column 10)")
        #expect(
            message(#"[{"name":"é","age":1e99}]"#)
                == "the number does not fit in Int: the number 1e99 (at [0].age, line 1, column 20)")
        #expect(
            message(#"[{"nme":"x","age":1}]"#)
                == "the member \"name\" is missing; found \"nme\", \"age\" (at [0], line 1, column 2)")
        #expect(message("{}") == "expected an array, found an object (line 1, column 1)")
    }

    @Test func `an error about a text that is no JSON says what stands there`() {
        #expect(
            message("[\n {\"name\": tru}]")
                == "invalid JSON at [0].name, line 2, column 14: unexpected text: \"name\": tru}")
        #expect(
            message("<!DOCTYPE html><html>")
                == "invalid JSON, line 1, column 1: unexpected text: <!DOCTYPE html><html")
        #expect(message("[1") == "invalid JSON at [0], line 1, column 3: it ends too early: 1")
        #expect(
            message(#"[{"a":1,"a":2}]"#, .strict)
                == "invalid JSON at [0].a, line 1, column 9: an object has a key twice: \"a\"")
    }

    @Test(arguments: [
        #"[{"name":"x","age":1,"login":{"password":"hunter2"}}]"#,
        #"[{"name":"x","age":1,"login":{"password":hunter2}}]"#,
        #"[{"name":"x","age":1,"login":{"password":"hunter2\x"}}]"#, #"[{"api_token":["a","hunter2\q"]}]"#,
        #"[{"Authorization":{"value":["hunter2 ]}}]"#, #"[{"secret":"hunter2" x}]"#, #"[{"sessionId":"hunter2","#,
        #"{"password":"hunter2"} x"#, #"{"a":{"password":"hunter2"} x}"#, #"[{"password":"hunter2"}"#,
        #"{"a":{"b":1,"token":["hunter2"]} 1}"#, #"[{"password":"hunter2"},x]"#, #"[["hunter2"] 1"#,
        #"{"passwd":"hunter2"x"#, #"[{"pin":"hunter2" "a""#, #"{"password":"hunter2", x}"#,
    ])
    func `an error about JSON shows nothing that looks like a secret`(text: String) {
        let message = message(text)
        #expect(!message.isEmpty && !message.contains("hunter2") && !message.contains("hunter"))
    }

    @Test func `a secret is known by its name in the document too`() {
        struct Holder: Decodable { var p: Int }
        var json = HTTP.JSON()
        json.keys = .custom(
            decode: { _ in `The meaning of JSON`.AnyKey(stringValue: "p") },
            encode: { $0.last ?? `The meaning of JSON`.AnyKey(stringValue: "p") })
        do {
            _ = try json.decode(Holder.self, from: #"{"password":"hunter2"}"#)
            Issue.record("no error")
        } catch {
            #expect(!"\(error)".contains("hunter2"))
        }
    }

    @Test func `an error between two members says where, and not what came before`() {
        #expect(message(#"[{"a":1, x}]"#) == "invalid JSON at [0], line 1, column 10: unexpected text: x")
        #expect(
            message(#"[{"a":1 x}]"#) == #"invalid JSON at [0].a, line 1, column 9: unexpected text: "a":1 x"#)
        #expect(message("[1, 2, x]") == "invalid JSON at [2], line 1, column 8: unexpected text: x")
    }

    /// A type that tries one type after another, for each of many elements.
    private struct Tried: Decodable {
        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            do { _ = try container.decode(Bool.self) } catch { _ = try container.decode(String.self) }
        }
    }

    @Test(.timeLimit(.minutes(3))) func `many errors in one text take time in proportion`() throws {
        let text = Bytes("[" + repeatElement("\"abcdefgh\"", count: 50_000).joined(separator: ",") + "]")
        #expect(try HTTP.JSON.standard.decode([Tried].self, from: text).count == 50_000)
    }

    /// One that catches an error of each of its elements.
    private struct Caught: Decodable {
        var errors = 0
        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            while !container.isAtEnd {
                do { _ = try container.decode(Bool.self) } catch {
                    errors += 1
                    _ = try container.decode(DynamicValue.self)
                }
            }
        }
    }

    @Test(.timeLimit(.minutes(3))) func `long names around many errors do not make them cost more`() throws {
        for letter in ["a", "\\u0061"] {
            let name = String(repeating: letter, count: 200_000)
            let text = Bytes(
                "{\"\(name)\":[" + repeatElement("\"\(letter)\"", count: 50_000).joined(separator: ",") + "]}")
            let caught = try HTTP.JSON.standard.decode([String: Caught].self, from: text)
            #expect(caught.values.map(\.errors) == [50_000])
        }
    }

    @Test func `an error shows what comes before an unfinished text or key`() {
        #expect(message(#"[{"a":"b,"#) == #"invalid JSON at [0].a, line 1, column 10: it ends too early: "a":"b,"#)
        #expect(message(#"[{"a":"b{"#) == #"invalid JSON at [0].a, line 1, column 10: it ends too early: "a":"b{"#)
        #expect(message(#"[{"a":1,"bc"#) == #"invalid JSON at [0], line 1, column 12: it ends too early: "bc"#)
        #expect(message(#"[{"a":1,"bc\q":2}]"#) == #"invalid JSON at [0], line 1, column 13: unexpected text: "bc\q"#)
        #expect(message(#"["a","b,"#) == #"invalid JSON at [1], line 1, column 9: it ends too early: "b,"#)
        #expect(message("[1, 2, trx]") == "invalid JSON at [2], line 1, column 10: unexpected text: trx")
        #expect(message("[1 2]") == "invalid JSON at [0], line 1, column 4: unexpected text: 1 2")
        #expect(message(#"{"a":[[1],{}],"b" 1}"#) == #"invalid JSON at b, line 1, column 19: unexpected text: "b" 1"#)
    }

    @Test(arguments: [
        ("pin_code", true), ("otpCode", true), ("SecurityCode", true), ("recovery_codes", true), ("card-number", true),
        ("name", false), ("postcode", false), (String(repeating: "n", count: 101), true),
    ])
    func `whether a value is shown depends on its name`(name: String, isSecret: Bool) {
        do {
            _ = try HTTP.JSON.standard.decode([String: Int].self, from: Bytes("{\"\(name)\":\"hunter2\"}"))
            Issue.record("no error")
        } catch {
            #expect("\(error)".contains("hunter2") != isSecret)
        }
    }

    @Test func `the element before a value in an array does not count as its name`() {
        let error = #expect(throws: DecodingError.self) {
            try HTTP.JSON.standard.decode([Either].self, from: #"["password",17]"#)
        }
        #expect("\(error.debugDescription)".contains("17"))
    }

    /// A text, or fails for everything else.
    private struct Either: Decodable {
        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            _ = try container.decode(String.self)
        }
    }

    @Test func `a long or strange text is cut and made visible`() {
        let long = String(repeating: "long ", count: 100)
        let message = message("[{\"name\":\"x\",\"age\":\"\(long)\u{202E}\\u001b[2J\"}]")
        #expect(message.utf8.count < 160 && message.contains("…") && !message.unicodeScalars.contains("\u{202E}"))
        let broken = self.message("[{\"\(long)\":\"\(long)\u{1}\"}]")
        #expect(broken.utf8.count < 500 && !broken.unicodeScalars.contains("\u{1}"))
    }
}

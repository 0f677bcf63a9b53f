import DunlinTypes
import DunlinWire
import LedgerRows
import Testing

@Suite struct `Agreeing on WebSocket compression` {
    private static func offer(_ change: (inout WebSocketDeflate.Offer) -> Void = { _ in }) -> WebSocketDeflate.Offer {
        var offer = WebSocketDeflate.Offer()
        change(&offer)
        return offer
    }

    /// What is agreed on by an answer to an offer; the error, if nothing is.
    private static func agree(
        _ offer: WebSocketDeflate.Offer, _ answers: String...
    ) throws -> Result<WebSocketDeflate?, WebSocketHandshakeError> {
        let handshake = try WebSocketHandshake(key: `A WebSocket handshake`.key, deflate: offer)
        let head = `A WebSocket handshake`.head { fields in
            for answer in answers { fields.append(name: "Sec-WebSocket-Extensions", value: answer) }
        }
        do throws(WebSocketHandshakeError) {
            return .success(try handshake.agreement(with: head, hash: `A WebSocket handshake`.hash).deflate)
        } catch {
            return .failure(error)
        }
    }

    @Test(.rules("6455-4.1-16")) func `an offer says what the client asks for`() {
        #expect(Self.offer().element.text == "permessage-deflate; client_max_window_bits")
        let full = Self.offer {
            $0.serverNoContextTakeover = true
            $0.clientNoContextTakeover = true
            $0.serverMaxWindowBits = 10
            $0.clientMaxWindowBits = 12
        }
        #expect(
            full.element.text
                == "permessage-deflate; server_no_context_takeover; client_no_context_takeover; "
                + "server_max_window_bits=10; client_max_window_bits=12")
    }

    @Test(arguments: [(Int.min, 9, 8), (8, 9, 8), (9, 9, 9), (15, 15, 15), (16, 15, 15), (Int.max, 15, 15)])
    func `an offered window has a size that zlib supports`(bits: Int, client: Int, server: Int) {
        let offer = Self.offer {
            $0.clientMaxWindowBits = bits
            $0.serverMaxWindowBits = bits
        }
        #expect(
            offer.element.text
                == "permessage-deflate; server_max_window_bits=\(server); client_max_window_bits=\(client)")
    }

    @Test func `the server may restrict both sides, asked or not`() throws {
        #expect(try Self.agree(Self.offer(), "permessage-deflate") == .success(WebSocketDeflate()))
        var agreed = WebSocketDeflate()
        agreed.serverKeepsContext = false
        agreed.clientKeepsContext = false
        agreed.serverWindowBits = 8
        agreed.clientWindowBits = 9
        let answer =
            "permessage-deflate ;server_no_context_takeover;\tclient_no_context_takeover; "
            + "server_max_window_bits=8; client_max_window_bits=\"9\""
        #expect(try Self.agree(Self.offer(), answer) == .success(agreed))
    }

    @Test func `what the client said of itself holds even if the server does not repeat it`() throws {
        let offer = Self.offer {
            $0.clientNoContextTakeover = true
            $0.clientMaxWindowBits = 11
        }
        var agreed = WebSocketDeflate()
        agreed.clientKeepsContext = false
        agreed.clientWindowBits = 11
        #expect(try Self.agree(offer, "permessage-deflate") == .success(agreed))
        #expect(try Self.agree(offer, "permessage-deflate; client_max_window_bits=15") == .success(agreed))
        agreed.clientWindowBits = 10
        #expect(try Self.agree(offer, "permessage-deflate; client_max_window_bits=10") == .success(agreed))
    }

    @Test(.rules("6455-9.1-5")) func `what was asked of the server must be granted`() throws {
        let forgetful = Self.offer { $0.serverNoContextTakeover = true }
        #expect(try Self.agree(forgetful, "permessage-deflate") == .failure(.invalidDeflate))
        let small = Self.offer { $0.serverMaxWindowBits = 10 }
        for (answer, bits) in [("", nil), ("=9", 9), ("=10", 10), ("=11", nil)] as [(String, Int?)] {
            let parameter = answer.isEmpty ? "" : "; server_max_window_bits" + answer
            let outcome = try Self.agree(small, "permessage-deflate" + parameter)
            #expect((try? outcome.get()?.serverWindowBits) == bits, "\(answer)")
        }
    }

    @Test(
        .rules("6455-9.1-5"),
        arguments: [
            "client_max_window_bits=8", "client_max_window_bits=7", "client_max_window_bits=16",
            "client_max_window_bits",
            "client_max_window_bits=09", "client_max_window_bits=+9", "server_max_window_bits",
            "server_max_window_bits=7",
            "server_max_window_bits=16", "server_max_window_bits=010", "server_max_window_bits=x",
            "server_max_window_bits=99999999999999999999", "server_no_context_takeover=1",
            "client_no_context_takeover=true", "unknown", "server_no_context_takeover; server_no_context_takeover",
            "client_max_window_bits=9; client_max_window_bits=9", "Server_No_Context_Takeover",
        ])
    func `a parameter that answers no offer is refused`(parameter: String) throws {
        #expect(try Self.agree(Self.offer(), "permessage-deflate; " + parameter) == .failure(.invalidDeflate))
    }

    @Test(.rules("6455-4.1-22", "6455-9.1-3", "6455-9.1-4")) func `only what was offered may be chosen, and once`()
        throws
    {
        #expect(try Self.agree(Self.offer(), "x-webkit-deflate-frame") == .failure(.extensionNotOffered))
        #expect(try Self.agree(Self.offer(), "permessage-deflate, foo") == .failure(.extensionNotOffered))
        #expect(try Self.agree(Self.offer(), "permessage-deflate", "foo") == .failure(.extensionNotOffered))
        #expect(try Self.agree(Self.offer(), "permessage-deflate, permessage-deflate") == .failure(.invalidDeflate))
        #expect(try Self.agree(Self.offer(), "permessage-deflate", "permessage-deflate") == .failure(.invalidDeflate))
    }

    // MARK: - The field's grammar

    static let lists: [(String, [WebSocketExtension]?)] = [
        ("", []), (" , ,\t", []), ("foo", [.init("foo")]), ("foo, bar", [.init("foo"), .init("bar")]),
        (",foo,,bar,", [.init("foo"), .init("bar")]),
        ("foo; a; b=1", [.init("foo", [.init("a"), .init("b", "1")])]),
        ("foo;a=\"b\" , bar", [.init("foo", [.init("a", "b")]), .init("bar")]),
        ("foo; a=\"\\b\\c\"", [.init("foo", [.init("a", "bc")])]),
        ("foo;", nil), ("foo; ;a", nil), (";a", nil), ("foo bar", nil), ("foo; a=", nil), ("foo; =b", nil),
        ("foo; a = b", nil), ("foo; a=\"\"", nil), ("foo; a=\"b c\"", nil), ("foo; a=\"b", nil), ("foo; a=\"b\\", nil),
        ("foo; a=\"b\"c", nil), ("foo; a=\"b,c\"", nil), ("foo=1", nil), ("f\u{E4}", nil), ("\"foo\"", nil),
        ("foo\0", nil),
    ]

    @Test(.rules("6455-9.1-1", "6455-9.1-2"), arguments: lists)
    func `a list of extensions is read, or refused as a whole`(text: String, list: [WebSocketExtension]?) {
        #expect(WebSocketExtension.list([Bytes(text)]) == list)
        let both = list.map { [WebSocketExtension("first")] + $0 }
        #expect(WebSocketExtension.list(["first", Bytes(text)]) == both)
    }

    @Test func `an extension is written as it is read`() {
        let element = WebSocketExtension("foo", [.init("a"), .init("b", "1")])
        #expect(element.text == "foo; a; b=1")
        #expect(WebSocketExtension.list([Bytes(element.text)]) == [element])
    }

    @Test(.rules("6455-9.1-1")) func `a malformed list ends the handshake`() throws {
        #expect(try Self.agree(Self.offer(), "permessage-deflate; =") == .failure(.malformedExtensions))
    }
}

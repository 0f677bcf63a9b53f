import Dunlin
import FoundationEssentials
import Testing

@testable import DunlinContent

/// What comes of bodies that are there to hurt whoever makes a value of them, with Foundation's decoder and strictly.
@Suite(.timeLimit(.minutes(10))) struct `Hostile JSON` {
    /// A value that is as deep as its JSON.
    private final class Node: Decodable, Sendable {
        let children: [Node]

        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            var children: [Node] = []
            while !container.isAtEnd { children.append(try container.decode(Node.self)) }
            self.children = children
        }
    }

    private struct Item: Codable, Equatable {
        var name: String
        var count: Int
        var scores: [Double]
    }

    @Test(arguments: [(500, true), (513, false), (100_000, false), (4_000_000, false)])
    func `JSON for a recursive type can be nested to the limit of depth and no deeper`(depth: Int, isTaken: Bool) async
    {
        let text = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        let response = Replies.made(Bytes(text))
        for serializer in [JSONSerializer(Node.self), JSONSerializer(Node.self).strict] {
            // On threads as small as a request's are.
            let error = await Task { Self.failure { try serializer.serialize(response) } }.value
            #expect((error == nil) == isTaken)
            #expect(error.map(Self.isTyped) != false)
        }
    }

    @Test func `JSON that was cut or changed anywhere gives a value or a typed error`() throws {
        let item = Item(name: "Zürich 😀", count: 12, scores: [1.5, -2e9, 0])
        let whole = try JSONEncoder().encode(item)
        for index in whole.indices {
            var bodies = [Data(whole[..<index])]
            for byte in [0x00, 0x22, 0x2C, 0x5C, 0x7D, 0x80, 0xC3, 0xED, 0xFF] as [UInt8] {
                bodies.append(whole)
                bodies[bodies.count - 1][index] = byte
            }
            for body in bodies {
                let response = Replies.made(Bytes(body))
                for serializer in [JSONSerializer(Item.self), JSONSerializer(Item.self).strict] {
                    let error = Self.failure { try serializer.serialize(response) }
                    #expect(error.map(Self.isTyped) != false, "\(Array(body))")
                }
            }
        }
    }

    @Test(arguments: [
        #"{"name":"a","count":99999999999999999999,"scores":[]}"#, #"{"name":"a","count":1e400,"scores":[]}"#,
        #"{"name":"\ud800","count":1,"scores":[]}"#, #"{"name":null,"count":1,"scores":[]}"#,
    ])
    func `JSON with a number or text that its type cannot hold is refused`(text: String) {
        for serializer in [JSONSerializer(Item.self), JSONSerializer(Item.self).strict] {
            let error = Self.failure { try serializer.serialize(Replies.made(Bytes(text))) }
            #expect(error.map(Self.isTyped) == true)
        }
    }

    private static func failure<Value>(_ work: () throws -> Value) -> (any Error)? {
        do {
            _ = try work()
            return nil
        } catch {
            return error
        }
    }

    private static func isTyped(_ error: any Error) -> Bool {
        error is DecodingError || error is HTTP.JSON.SyntaxError || error is NetworkError
    }
}

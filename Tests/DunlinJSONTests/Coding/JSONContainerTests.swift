import Dunlin
import FoundationEssentials
import Testing

/// Types that use their decoder and encoder in every way that is allowed: whatever they do, they get what they would
/// get of Foundation.
@Suite struct `Containers of JSON` {
    typealias Key = `The meaning of JSON`.AnyKey

    /// Does with a decoder what a closure says; the result is what was found.
    private struct Probe: Decodable {
        static let key = CodingUserInfoKey.probe
        var found: [String]

        init(from decoder: any Decoder) throws {
            guard let work = decoder.userInfo[Self.key] as? Work else { throw CancellationError() }
            found = try work.work(decoder)
        }

        struct Work: Sendable {
            let work: @Sendable (any Decoder) throws -> [String]
        }
    }

    private func expectSame(
        _ text: String, sourceLocation: SourceLocation = #_sourceLocation,
        _ work: @escaping @Sendable (any Decoder) throws -> [String]
    ) {
        var json = HTTP.JSON()
        json.userInfo[Probe.key] = Probe.Work(work: work)
        let decoder = JSONDecoder()
        decoder.userInfo[Probe.key] = Probe.Work(work: work)
        DunlinJSONTests.expectSame([Probe].self, text, json, decoder, sourceLocation: sourceLocation)
    }

    @Test func `members can be asked for in any order, twice, and as several types`() {
        expectSame(#"[{"a":1,"b":"x","c":[1,2],"d":null,"e":{"f":true}}]"#) { decoder in
            let one = try decoder.container(keyedBy: Key.self)
            let two = try decoder.container(keyedBy: Key.self)
            var found = ["\(try one.decode(String.self, forKey: Key(stringValue: "b")))"]
            found.append("\(try two.decode(Int.self, forKey: Key(stringValue: "a")))")
            found.append("\(try one.decode(Double.self, forKey: Key(stringValue: "a")))")
            found.append("\(try two.decode([Int].self, forKey: Key(stringValue: "c")))")
            found.append("\(try two.decode([String: Bool].self, forKey: Key(stringValue: "e")))")
            found.append("\(one.contains(Key(stringValue: "d"))) \(one.contains(Key(stringValue: "z")))")
            found.append("\(try one.decodeNil(forKey: Key(stringValue: "d")))")
            found.append("\(try one.decodeNil(forKey: Key(stringValue: "a")))")
            found.append("\(try one.decodeIfPresent(Int.self, forKey: Key(stringValue: "d")) as Any)")
            found.append("\(try one.decodeIfPresent(Int.self, forKey: Key(stringValue: "z")) as Any)")
            found.append("\(one.allKeys.map(\.stringValue).sorted())")
            found.append("\(one.codingPath.count) \(decoder.codingPath.map(\.stringValue))")
            return found
        }
    }

    @Test(arguments: ["a", "b", "c", "d", "e", "z"])
    func `a member that is missing, null or of another type is refused the same`(name: String) {
        let text = #"[{"a":1,"b":"x","c":[1,2],"d":null,"e":{"f":true}}]"#
        let key = Key(stringValue: name)
        expectSame(text) { ["\(try $0.container(keyedBy: Key.self).decode(Int.self, forKey: key))"] }
        expectSame(text) { ["\(try $0.container(keyedBy: Key.self).decode(String.self, forKey: key))"] }
        expectSame(text) { ["\(try $0.container(keyedBy: Key.self).decode(Bool.self, forKey: key))"] }
        expectSame(text) { ["\(try $0.container(keyedBy: Key.self).decode([Int].self, forKey: key))"] }
        expectSame(text) { ["\(try $0.container(keyedBy: Key.self).decode([String: Bool].self, forKey: key))"] }
        expectSame(text) { ["\(try $0.container(keyedBy: Key.self).decodeIfPresent(Int.self, forKey: key) as Any)"] }
        expectSame(text) { ["\(try $0.container(keyedBy: Key.self).decodeIfPresent([Int].self, forKey: key) as Any)"] }
        expectSame(text) { ["\(try $0.container(keyedBy: Key.self).decodeNil(forKey: key))"] }
        expectSame(text) {
            let inner = try $0.container(keyedBy: Key.self).nestedContainer(keyedBy: Key.self, forKey: key)
            return [
                "\(inner.codingPath.map(\.stringValue))",
                "\(try inner.decode(Int.self, forKey: Key(stringValue: "f")))",
            ]
        }
        expectSame(text) {
            var inner = try $0.container(keyedBy: Key.self).nestedUnkeyedContainer(forKey: key)
            return ["\(inner.codingPath.map(\.stringValue))", "\(inner.count as Any)", "\(try inner.decode(Int.self))"]
        }
        expectSame(text) {
            let inner = try $0.container(keyedBy: Key.self).superDecoder(forKey: key)
            return ["\(inner.codingPath.map(\.stringValue))", "\(try inner.singleValueContainer().decodeNil())"]
        }
    }

    @Test func `an array is read element by element, and not beyond its end`() {
        let text = #"[[1,null,"x",[2],{"a":3},null]]"#
        expectSame(text) {
            var array = try $0.unkeyedContainer()
            var found = ["\(try array.decode(Int.self)) \(array.currentIndex)", "\(try array.decodeNil())"]
            found.append("\(try array.decodeNil()) \(try array.decode(String.self))")
            var inner = try array.nestedUnkeyedContainer()
            let object = try array.nestedContainer(keyedBy: Key.self)
            found.append("\(try inner.decode(Int.self)) \(inner.isAtEnd) \(inner.codingPath.map(\.stringValue))")
            found.append("\(try object.decode(Int.self, forKey: Key(stringValue: "a")))")
            let last = try array.superDecoder()
            found.append("\(try last.singleValueContainer().decodeNil()) \(last.codingPath.map(\.stringValue))")
            found.append("\(array.isAtEnd) \(array.count as Any)")
            return found
        }
        for index in 0..<7 {
            expectSame(text) { decoder in
                var array = try decoder.unkeyedContainer()
                for _ in 0..<min(index, 6) { _ = try array.superDecoder() }
                return ["\(try array.decode(Int.self))"]
            }
            expectSame(text) { decoder in
                var array = try decoder.unkeyedContainer()
                for _ in 0..<min(index, 6) { _ = try array.superDecoder() }
                return ["\(try array.decodeIfPresent(String.self) as Any)"]
            }
            expectSame(text) { decoder in
                var array = try decoder.unkeyedContainer()
                for _ in 0..<min(index, 6) { _ = try array.superDecoder() }
                return ["\(try array.decode([Int].self))"]
            }
        }
    }

    @Test func `a failed attempt leaves an array where it was`() {
        expectSame("[[\"x\",1]]") {
            var array = try $0.unkeyedContainer()
            var found: [String] = []
            do { _ = try array.decode(Int.self) } catch { found.append("\(array.currentIndex)") }
            do { _ = try array.nestedUnkeyedContainer() } catch { found.append("\(array.currentIndex)") }
            do { _ = try array.decode([Int].self) } catch { found.append("\(array.currentIndex)") }
            found.append("\(try array.decode(String.self)) \(try array.decode(Int.self))")
            return found
        }
    }

    private class Animal: Codable {
        var name = "x"
    }

    private final class Dog: Animal {
        var age = 3
        private enum Keys: CodingKey { case age }

        override init() { super.init() }

        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            age = try container.decode(Int.self, forKey: .age)
            try super.init(from: container.superDecoder())
        }

        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            try super.encode(to: container.superEncoder())
            try container.encode(age, forKey: .age)
        }
    }

    @Test func `a class and its parent are written and read apart`() throws {
        expectSameWritten(Dog())
        let dog = try HTTP.JSON.standard.decode(Dog.self, from: #"{"age":4,"super":{"name":"Rex"}}"#)
        #expect(dog.age == 4 && dog.name == "Rex")
        for text in [#"{"age":4}"#, #"{"age":4,"super":null}"#, #"{"age":4,"super":{}}"#, #"{"super":{"name":"x"}}"#] {
            let ours = Reading { try HTTP.JSON.standard.decode(Dog.self, from: Bytes(text)) }
            #expect(ours == Reading { try JSONDecoder().decode(Dog.self, from: Data(text.utf8)) }, "\(text)")
        }
    }

    private indirect enum Tree: Codable, Equatable {
        case leaf(Int)
        case node(left: Tree, right: Tree)
    }

    private enum Size: String, Codable, CodingKeyRepresentable {
        case small, large
    }

    @Test func `enums, recursive types and dictionaries by other keys are read and written the same`() throws {
        let tree = Tree.node(left: .leaf(1), right: .node(left: .leaf(2), right: .leaf(3)))
        expectSameWritten(tree)
        #expect(try HTTP.JSON.standard.decode(Tree.self, from: HTTP.JSON.standard.encode(tree)) == tree)
        expectSameWritten([Size.small: 1, .large: 2])
        expectSameWritten([1: "a", -2: "b"])
        for text in [#"{"small":1}"#, #"{"medium":1}"#, "{}", "[]"] {
            DunlinJSONTests.expectSame([Size: Int].self, text)
            DunlinJSONTests.expectSame([Int: Int].self, text)
        }
        DunlinJSONTests.expectSame([Double: Int].self, "[1.5,2]")
        expectSameWritten([1.5: 2])
    }

    /// Encodes itself by a closure.
    private struct Writer: Encodable {
        let work: (any Encoder) throws -> Void
        func encode(to encoder: any Encoder) throws { try work(encoder) }
    }

    @Test func `containers can be filled in any order, side by side and late`() {
        expectSameWritten(
            Writer { encoder in
                var container = encoder.container(keyedBy: Key.self)
                var array = container.nestedUnkeyedContainer(forKey: Key(stringValue: "array"))
                var inner = container.nestedContainer(keyedBy: Key.self, forKey: Key(stringValue: "inner"))
                try container.encode(1, forKey: Key(stringValue: "a"))
                try array.encode(1)
                try inner.encode("x", forKey: Key(stringValue: "y"))
                try array.encode("two")
                var deep = array.nestedContainer(keyedBy: Key.self)
                try container.encodeNil(forKey: Key(stringValue: "n"))
                try deep.encode(true, forKey: Key(stringValue: "deep"))
                try inner.encode(["z": [1.5]], forKey: Key(stringValue: "w"))
                try array.encodeNil()
                var again = encoder.container(keyedBy: Key.self)
                try again.encode("late", forKey: Key(stringValue: "b"))
                try container.superEncoder().singleValueContainer().encodeIt(7)
                var elements = array.nestedUnkeyedContainer()
                try elements.superEncoder().singleValueContainer().encodeIt("s")
                #expect(array.count == 5 && elements.count == 1)
                #expect(deep.codingPath.map(\.stringValue) == ["array", "Index 2"])
            })
        // Of one name the last counts.
        expectSameWritten(
            Writer { encoder in
                var container = encoder.container(keyedBy: Key.self)
                for index in 0..<3 { try container.encode(index, forKey: Key(stringValue: "a")) }
                for index in 0..<40 { try container.encode(index, forKey: Key(stringValue: "b\(index % 20)")) }
            })
        // A nested container goes on where one of its name is, and one that failed leaves nothing.
        expectSameWritten(
            Writer { encoder in
                var container = encoder.container(keyedBy: Key.self)
                var one = container.nestedContainer(keyedBy: Key.self, forKey: Key(stringValue: "m"))
                try one.encode(1, forKey: Key(stringValue: "a"))
                var two = container.nestedContainer(keyedBy: Key.self, forKey: Key(stringValue: "m"))
                try two.encode(2, forKey: Key(stringValue: "b"))
                try one.encode(3, forKey: Key(stringValue: "c"))
                var list = container.nestedUnkeyedContainer(forKey: Key(stringValue: "l"))
                try list.encode(1)
                var more = container.nestedUnkeyedContainer(forKey: Key(stringValue: "l"))
                try more.encode(2)
                try container.encode(["b": 1], forKey: Key(stringValue: "e"))
                var after = container.nestedContainer(keyedBy: Key.self, forKey: Key(stringValue: "e"))
                try after.encode(2, forKey: Key(stringValue: "a"))
                try container.encode(7, forKey: Key(stringValue: "l"))
                try container.encode(1, forKey: Key(stringValue: "x"))
                do { try container.encode(Double.nan, forKey: Key(stringValue: "x")) } catch {}
                do { try container.encode(Double.nan, forKey: Key(stringValue: "y")) } catch {}
                do { try container.encode(["a": Double.nan], forKey: Key(stringValue: "z")) } catch {}
                var elements = container.nestedUnkeyedContainer(forKey: Key(stringValue: "n"))
                do { try elements.encode(Double.nan) } catch {}
                try elements.encode(1)
                #expect(elements.count == 1)
            })
        // Nothing at all, and containers without content.
        expectSameWritten(Writer { _ in })
        expectSameWritten([Writer { _ in }])
        expectSameWritten(["a": Writer { _ in }])
        expectSameWritten(Writer { _ = $0.container(keyedBy: Key.self) })
        expectSameWritten([Writer { _ = $0.unkeyedContainer() }])
        expectSameWritten(
            Writer {
                var container = $0.singleValueContainer()
                try container.encode(Writer { _ in })
            })
    }

    @Test func `a value that encodes twice at one place is refused`() {
        let works: [(any Encoder) throws -> Void] = [
            { encoder in
                var container = encoder.singleValueContainer()
                try container.encode(1)
                try container.encode("x")
            },
            { encoder in
                var object = encoder.container(keyedBy: Key.self)
                var array = encoder.unkeyedContainer()
                try array.encode(1)
                try object.encode(2, forKey: Key(stringValue: "a"))
            },
            { encoder in
                var array = encoder.unkeyedContainer()
                try array.encode(1)
                var container = encoder.singleValueContainer()
                try container.encode(1)
            },
        ]
        var sorted = HTTP.JSON()
        sorted.format.order = .sorted
        for work in works {
            for json in [HTTP.JSON.standard, sorted] {
                #expect(throws: EncodingError.self) { try json.encode(Writer(work: work)) }
                #expect(throws: EncodingError.self) { try json.encode(["k": Writer(work: work)]) }
            }
        }
    }

    @Test func `depth is counted in arrays and objects, however they are made`() throws {
        struct Wrapper: Encodable {
            let depth: Int
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                if depth > 0 { try container.encode(Wrapper(depth: depth - 1)) } else { try container.encode([1]) }
            }
        }
        #expect(try HTTP.JSON.standard.encode(Wrapper(depth: 600)) == "[1]")
        #expect(throws: EncodingError.self) { try HTTP.JSON.standard.encode(Wrapper(depth: 100_000)) }
        func nested(_ depth: Int) -> Writer {
            Writer { encoder in
                var container = encoder.unkeyedContainer()
                for _ in 1..<depth { container = container.nestedUnkeyedContainer() }
            }
        }
        let deep = try HTTP.JSON.standard.encode(nested(512))
        #expect(throws: Never.self) { try DynamicValue(json: deep) }
        #expect(throws: EncodingError.self) { try HTTP.JSON.standard.encode(nested(513)) }
        #expect(throws: EncodingError.self) { try HTTP.JSON.standard.encode(nested(200_000)) }
        var value: DynamicValue = 1
        for _ in 0..<400 { value = [value] }
        #expect(throws: Never.self) { try HTTP.JSON.standard.encode([value]) }
        #expect(throws: EncodingError.self) {
            try HTTP.JSON.standard.encode(
                (0..<150).reduce(Writer { try value.encode(to: $0) }) { inner, _ in
                    Writer { encoder in
                        var container = encoder.unkeyedContainer()
                        try container.encode(inner)
                    }
                })
        }
    }

    @Test func `a value that is nested too deep to be written is refused`() {
        struct Nest: Encodable {
            let depth: Int
            func encode(to encoder: any Encoder) throws {
                var container = encoder.unkeyedContainer()
                if depth > 1 { try container.encode(Nest(depth: depth - 1)) }
            }
        }
        #expect(throws: Never.self) { try HTTP.JSON.standard.encode(Nest(depth: 512)) }
        #expect(throws: EncodingError.self) { try HTTP.JSON.standard.encode(Nest(depth: 514)) }
        #expect(throws: EncodingError.self) { try HTTP.JSON.standard.encode(Nest(depth: 1_000_000)) }
    }

    @Test func `a limit of Int.max for depth does not limit it`() throws {
        var json = HTTP.JSON()
        json.limits.depth = .max
        #expect(try json.encode([[1]]) == "[[1]]")
        #expect(try json.decode([[Int]].self, from: "[[1]]") == [[1]])
        struct Deep: Encodable { var value: DynamicValue }
        var value: DynamicValue = 1
        for _ in 0..<600 { value = [value] }
        #expect(throws: Never.self) { try json.encode(Deep(value: value)) }
        json.limits.depth = 10
        for isIndented in [false, true] {
            json.format.isIndented = isIndented
            #expect(throws: EncodingError.self) { try json.encode([value]) }
        }
    }

    @Test func `a dictionary that is added to has each name once`() throws {
        let a = Key(stringValue: "a")
        let works: [(any Encoder) throws -> Void] = [
            { encoder in
                var container = encoder.container(keyedBy: Key.self)
                try container.encode(["a": 1], forKey: a)
                var nested = container.nestedContainer(keyedBy: Key.self, forKey: a)
                try nested.encode(2, forKey: a)
            },
            { encoder in
                var single = encoder.singleValueContainer()
                try single.encode(["a": 1])
                var container = encoder.container(keyedBy: Key.self)
                try container.encode(2, forKey: a)
            },
        ]
        #expect(try HTTP.JSON.standard.encode(Writer(work: works[0])) == #"{"a":{"a":2}}"#)
        #expect(try HTTP.JSON.standard.encode(Writer(work: works[1])) == #"{"a":2}"#)
    }

    @Test func `after a failure another value can be written`() throws {
        // Foundation keeps the elements before the fault.
        let list = Writer { encoder in
            var container = encoder.singleValueContainer()
            do { try container.encode([1, Double.nan]) } catch { try container.encode("none") }
        }
        #expect(try HTTP.JSON.standard.encode(list) == #""none""#)
        expectSameWritten([
            Writer { encoder in
                var container = encoder.singleValueContainer()
                do { try container.encode(["a": Double.nan]) } catch { try container.encode(["b": 1]) }
            }
        ])
        expectSameWritten([
            Writer { encoder in
                var container = encoder.singleValueContainer()
                do { try container.encode(Double.nan) } catch { try container.encodeNil() }
            }
        ])
    }

    private struct Failure: Error {}

    @Test func `a container whose value has failed ignores what it is given`() throws {
        var kept: (any UnkeyedEncodingContainer)?
        let text = try HTTP.JSON.standard.encode(
            Writer { encoder in
                var container = encoder.unkeyedContainer()
                try? container.encode(
                    Writer {
                        kept = $0.unkeyedContainer()
                        throw Failure()
                    })
                try kept?.encode(1)
                var object = kept?.nestedContainer(keyedBy: Key.self)
                try object?.encode(1, forKey: Key(stringValue: "a"))
                try container.encode(2)
            })
        #expect(text == "[2]")
    }

    @Test(.timeLimit(.minutes(3))) func `values that fail between nested containers take time in proportion`() throws {
        let text = try HTTP.JSON.standard.encode(
            Writer { encoder in
                var container = encoder.container(keyedBy: Key.self)
                for number in 0..<20_000 {
                    let key = Key(stringValue: "\(number)")
                    try? container.encode(Double.nan, forKey: key)
                    try? container.encode(Double.nan, forKey: Key(stringValue: "same"))
                    _ = container.nestedUnkeyedContainer(forKey: key)
                }
                _ = container.nestedUnkeyedContainer(forKey: Key(stringValue: "same"))
            })
        #expect(try DynamicValue(json: text).members?.count == 20_001)
    }

    @Test func `elements are counted when they are too deep as well`() {
        var json = HTTP.JSON()
        json.limits.depth = 1
        #expect(throws: EncodingError.self) {
            try json.encode(
                Writer { encoder in
                    var outer = encoder.unkeyedContainer()
                    var inner = outer.nestedUnkeyedContainer()
                    while inner.count < 3 { try inner.encode(1) }
                })
        }
    }

    @Test func `a dynamic value is written alike in lines and without`() throws {
        let value: DynamicValue = ["a": [1, 2], "b": [:], "c": []]
        struct Holder: Encodable { var list: [DynamicValue] }
        var json = HTTP.JSON()
        json.format.isIndented = true
        let indented = try json.encode(Holder(list: [value, 1]))
        let all: DynamicValue = ["list": [value, 1]]
        let expected = try all.json(json.format)
        #expect(indented == expected)
    }

    /// A container that its type gives away, to be read after all is over.
    private final class ContainerHolder: Decodable {
        let container: KeyedDecodingContainer<Key>
        init(from decoder: any Decoder) throws { container = try decoder.container(keyedBy: Key.self) }
    }

    @Test func `a container that is kept goes on to hold its text`() throws {
        let text = Bytes(#"{"a":"a text that is longer than fifteen bytes","b":[1,2,3]}"#)
        let kept = try (0..<100).map { _ in
            try HTTP.JSON.standard.decode(ContainerHolder.self, from: Bytes(Array(text)))
        }
        for holder in kept {
            #expect(try holder.container.decode([Int].self, forKey: Key(stringValue: "b")) == [1, 2, 3])
            #expect(try holder.container.decode(String.self, forKey: Key(stringValue: "a")).hasSuffix("fifteen bytes"))
        }
    }

    @Test func `a text that is a part of longer bytes is read within its bounds`() throws {
        let bytes = Bytes(Array("xx[1,\"é\"]yy".utf8))
        let part = bytes[2..<(bytes.count - 2)]
        #expect(try HTTP.JSON.standard.decode([DynamicValue].self, from: part) == [1, "é"])
        let error = #expect(throws: HTTP.JSON.SyntaxError.self) { try DynamicValue(json: bytes[2..<6]) }
        #expect(error?.offset == 4 - 1 + 0 || error?.offset == 4)
    }
}

extension CodingUserInfoKey {
    fileprivate static let probe: CodingUserInfoKey = {
        guard let key = CodingUserInfoKey(rawValue: "probe") else { fatalError("every text is a key") }
        return key
    }()
}

extension SingleValueEncodingContainer {
    fileprivate func encodeIt(_ value: some Encodable) throws {
        var copy = self
        try copy.encode(value)
    }
}

internal import FoundationEssentials

extension JSONDocument {
    func isCustom(_ leaf: JSONLeaf) -> Bool { leaf.isCustom(json) }

    /// The value of a leaf, whose type `Value` must be.
    func value<Value>(_ leaf: JSONLeaf, _ place: Int) throws(JSONRefusal) -> Value {
        switch leaf {
        case .string: same(try string(place))
        case .integer: same(try integer(Int.self, place))
        case .double: same(try double(place))
        case .bool: same(try bool(place))
        case .date: same(try date(place))
        case .data: same(try data(place))
        case .uuid: same(try uuid(place))
        case .decimal: same(try decimal(place))
        case .url: same(try url(place))
        case .dynamic: same(place < 0 ? DynamicValue.null : index.value(at: place))
        case .strings: same(try array(place) { at throws(JSONRefusal) in try string(at) })
        case .integers: same(try array(place) { at throws(JSONRefusal) in try integer(Int.self, at) })
        case .doubles: same(try array(place) { at throws(JSONRefusal) in try double(at) })
        }
    }

    /// The value as the type that it is known to have. A conditional cast would ask the runtime for the type `Value?`,
    /// which takes a twelfth of the decoding time.
    func same<Known, Value>(_ value: Known) -> Value {
        // swift-format-ignore: NeverForceUnwrap
        value as! Value
    }

    private func uuid(_ place: Int) throws(JSONRefusal) -> UUID {
        let text = try bytes(place, nullIs: String.self)
        guard let uuid = UUID(text: text.span) else { throw .corrupted("the text is not a UUID") }
        return uuid
    }

    /// The bytes of a text, with its escapes resolved.
    private func bytes(_ place: Int, nullIs type: Any.Type) throws(JSONRefusal) -> [UInt8] {
        let entry = entry(place)
        guard entry.isText else { throw entry.kind == .null ? .null(type) : .mismatch(String.self) }
        let text = index.text
        let bytes = text.span.extracting(index.range(of: entry))
        return [UInt8](unsafeUninitializedCapacity: bytes.count) { $1 = JSONEscapes.resolve(bytes, into: $0) }
    }

    private func url(_ place: Int) throws(JSONRefusal) -> URL {
        if isNull(place) { throw .null(URL.self) }
        let text = try string(place)
        guard let url = URL(string: text) else { throw .corrupted("the text is not a URL") }
        return url
    }

    private func date(_ place: Int) throws(JSONRefusal) -> Date {
        if isNull(place) { throw .null(Date.self) }
        switch json.dates {
        case .deferred, .custom: return Date(timeIntervalSinceReferenceDate: try double(place))
        case .secondsSince1970: return Date(timeIntervalSince1970: try double(place))
        case .millisecondsSince1970: return Date(timeIntervalSince1970: try double(place) / 1000)
        case .iso8601, .iso8601WithFractions:
            guard let date = InternetDate.date(try string(place)) else {
                throw .corrupted("the text is not an ISO 8601 date such as 2026-01-31T23:59:59Z")
            }
            return date
        }
    }

    private func data(_ place: Int) throws(JSONRefusal) -> Data {
        let entry = entry(place)
        let decoded: [UInt8]?
        if entry.kind == .text {
            let text = index.text
            decoded = text.span.extracting(index.range(of: entry)).withUnsafeBufferPointer { Base64.decode($0) }
        } else {
            decoded = Base64.decode(try bytes(place, nullIs: Data.self))
        }
        guard let decoded else { throw .corrupted("the text is not valid Base64") }
        return Data(decoded)
    }

    /// An array of elements; a refusal names the element.
    private func array<Element>(
        _ place: Int, _ element: (Int) throws(JSONRefusal) -> Element
    ) throws(JSONRefusal) -> [Element] {
        let entry = entry(place)
        guard entry.kind == .array else { throw entry.kind == .null ? .null([Any].self) : .mismatch([Any].self) }
        var elements: [Element] = []
        elements.reserveCapacity(Int(entry.count))
        for step in 0..<Int(entry.count) {
            do throws(JSONRefusal) {
                elements.append(try element(place + 1 + step))
            } catch {
                throw .element(step)
            }
        }
        return elements
    }
}

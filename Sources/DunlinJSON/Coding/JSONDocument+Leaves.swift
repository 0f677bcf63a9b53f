internal import FoundationEssentials

extension JSONDocument {
    func isCustom(_ leaf: JSONLeaf) -> Bool { leaf.isCustom(json) }

    /// The value of a leaf, whose type `Value` must be.
    func value<Value>(_ leaf: JSONLeaf, _ position: Int) throws(JSONRefusal) -> Value {
        switch leaf {
        case .string: same(try string(position))
        case .integer: same(try integer(Int.self, position))
        case .double: same(try double(position))
        case .bool: same(try bool(position))
        case .date: same(try date(position))
        case .data: same(try data(position))
        case .uuid: same(try uuid(position))
        case .decimal: same(try decimal(position))
        case .url: same(try url(position))
        case .dynamic: same(position < 0 ? DynamicValue.null : index.value(at: position))
        case .strings: same(try array(position) { at throws(JSONRefusal) in try string(at) })
        case .integers: same(try array(position) { at throws(JSONRefusal) in try integer(Int.self, at) })
        case .doubles: same(try array(position) { at throws(JSONRefusal) in try double(at) })
        }
    }

    /// The value as the type that it is known to have. A conditional cast would ask the runtime for the type `Value?`,
    /// which takes a twelfth of the decoding time.
    func same<Known, Value>(_ value: Known) -> Value {
        // swift-format-ignore: NeverForceUnwrap
        value as! Value
    }

    private func uuid(_ position: Int) throws(JSONRefusal) -> UUID {
        let text = try bytes(position, nullIs: String.self)
        guard let uuid = UUID(text: text.span) else { throw .corrupted("the text is not a UUID") }
        return uuid
    }

    /// The bytes of a text, with its escapes resolved.
    private func bytes(_ position: Int, nullIs type: Any.Type) throws(JSONRefusal) -> [UInt8] {
        let entry = entry(position)
        guard entry.isText else { throw entry.kind == .null ? .null(type) : .mismatch(String.self) }
        let text = index.text
        let bytes = text.span.extracting(index.range(of: entry))
        return [UInt8](unsafeUninitializedCapacity: bytes.count) { $1 = JSONEscapes.resolve(bytes, into: $0) }
    }

    private func url(_ position: Int) throws(JSONRefusal) -> URL {
        if isNull(position) { throw .null(URL.self) }
        let text = try string(position)
        guard let url = URL(string: text) else { throw .corrupted("the text is not a URL") }
        return url
    }

    private func date(_ position: Int) throws(JSONRefusal) -> Date {
        if isNull(position) { throw .null(Date.self) }
        switch json.dates {
        case .deferred, .custom: return Date(timeIntervalSinceReferenceDate: try double(position))
        case .secondsSince1970: return Date(timeIntervalSince1970: try double(position))
        case .millisecondsSince1970: return Date(timeIntervalSince1970: try double(position) / 1000)
        case .iso8601, .iso8601WithFractions:
            guard let date = InternetDate.date(try string(position)) else {
                throw .corrupted("the text is not an ISO 8601 date such as 2026-01-31T23:59:59Z")
            }
            return date
        }
    }

    private func data(_ position: Int) throws(JSONRefusal) -> Data {
        let entry = entry(position)
        let decoded: [UInt8]?
        if entry.kind == .text {
            let text = index.text
            decoded = text.span.extracting(index.range(of: entry)).withUnsafeBufferPointer { Base64.decode($0) }
        } else {
            decoded = Base64.decode(try bytes(position, nullIs: Data.self))
        }
        guard let decoded else { throw .corrupted("the text is not valid Base64") }
        return Data(decoded)
    }

    /// An array of elements; a refusal names the element.
    private func array<Element>(
        _ position: Int, _ element: (Int) throws(JSONRefusal) -> Element
    ) throws(JSONRefusal) -> [Element] {
        let entry = entry(position)
        guard entry.kind == .array else { throw entry.kind == .null ? .null([Any].self) : .mismatch([Any].self) }
        var elements: [Element] = []
        elements.reserveCapacity(Int(entry.count))
        for step in 0..<Int(entry.count) {
            do throws(JSONRefusal) {
                elements.append(try element(position + 1 + step))
            } catch {
                throw .element(step)
            }
        }
        return elements
    }
}

extension DynamicValue {
    /// Returns the value as JSON (RFC 8259) in UTF-8. Numbers keep their digits; data is written in Base64.
    ///
    /// Throws a `NetworkError` with code `invalidParameters` for what JSON cannot represent: `nan` and infinities,
    /// sets, duplicate keys in an object, and values nested more than 512 levels deep.
    public func json(_ format: DynamicValue.JSONFormat = DynamicValue.JSONFormat()) throws -> Bytes {
        try json(format, depth: 0, limit: Self.depthLimit)
    }

    /// The value as part of a JSON text, `depth` levels deep.
    func json(_ format: DynamicValue.JSONFormat, depth: Int, limit: Int) throws -> Bytes {
        var writer = DynamicJSONWriter(format, depth: depth, limit: limit)
        do {
            try writer.put(self)
        } catch let refusal as DynamicJSONWriter.Refusal {
            throw refusal.error
        }
        return Bytes(writer.writer.bytes)
    }
}

/// Writes a dynamic value as JSON, and refuses what JSON cannot represent.
struct DynamicJSONWriter {
    fileprivate(set) var writer: JSONWriter
    private let format: DynamicValue.JSONFormat
    private var depth: Int
    private let limit: Int

    init(_ format: DynamicValue.JSONFormat, depth: Int, limit: Int) {
        self.format = format
        self.depth = depth
        self.limit = limit
        writer = JSONWriter(format, depth: depth)
    }

    /// What JSON cannot represent, and where it is: `users[2].score`.
    fileprivate struct Refusal: Error {
        let problem: String
        var path: [JSONPath.Step] = []

        /// The refusal as seen from one level further out.
        func within(_ step: JSONPath.Step) -> Refusal {
            Refusal(problem: problem, path: [step] + path)
        }

        /// The error, in AFNetworking's words, followed by Dunlin's own reason.
        var error: NetworkError {
            let text = path.isEmpty ? problem : "\(String(reflecting: JSONPath.text(path))): \(problem)"
            return NetworkError(
                .invalidParameters, "The `parameters` argument is not valid JSON.", underlying: ParameterProblem(text))
        }
    }

    mutating func put(_ value: DynamicValue) throws {
        switch value {
        case .null: writer.literal("null" as StaticString)
        case .bool(let flag): writer.literal(flag ? "true" : "false" as StaticString)
        case .number(let number):
            guard number.isFinite else { throw Refusal(problem: "JSON cannot represent \(number)") }
            writer.literal(number.literal)
        case .string(let text): writer.text(text)
        case .data(let data): writer.text(Base64.encode(data))
        case .date(let date):
            switch try format.dates.value(of: date) {
            case .string(let text): writer.text(text)
            case .number(let number): writer.literal(number.literal)
            }
        case .array(let elements): try put(elements)
        case .set: throw Refusal(problem: "JSON cannot hold a set, which has no order")
        case .object(let members): try put(members)
        }
    }

    private mutating func put(_ elements: [DynamicValue]) throws {
        try enter()
        writer.openArray()
        for (index, element) in elements.enumerated() {
            writer.beginNext()
            do {
                try put(element)
            } catch let refusal as Refusal {
                throw refusal.within(.element(index))
            }
        }
        writer.closeArray()
        depth -= 1
    }

    private mutating func put(_ members: DynamicValue.Members) throws {
        try enter()
        if let key = Self.repeated(in: members) { throw Refusal(problem: "an object has \"\(key)\" twice") }
        writer.openObject()
        let ordered = format.order == .sorted ? members.members.sortedByKey() : members.members
        for member in ordered {
            writer.beginNext()
            writer.key(member.key)
            do {
                try put(member.value)
            } catch let refusal as Refusal {
                throw refusal.within(.member(member.key))
            }
        }
        writer.closeObject()
        depth -= 1
    }

    private mutating func enter() throws {
        depth += 1
        guard depth <= limit else {
            throw Refusal(problem: "it is nested more than \(limit) levels deep")
        }
    }

    private static func repeated(in members: DynamicValue.Members) -> String? {
        if members.count < 2 { return nil }
        var seen: Set<[UInt8]> = []
        seen.reserveCapacity(members.count)
        return members.first { !seen.insert(Array($0.key.utf8)).inserted }?.key
    }
}

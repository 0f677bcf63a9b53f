public import FoundationEssentials

/// A value whose type is known only at run time, for parameters, JSON and property lists.
///
/// ```swift
/// let filter: DynamicValue = ["tags": ["new", "red"], "page": 2, "mine": true, "before": nil]
/// ```
///
/// One type serves all formats, so the same parameters can become a query, a form, JSON or a property list. `true` and
/// `1` are different values, a number keeps its digits, and an object the order of its members. What a format cannot
/// represent is refused when the value is written, not before.
///
/// Values can be read or written up to 512 levels deep. Each level takes stack: without optimisation, up to 1,000 bytes
/// to compare a value and 2,600 to describe it, at most a fifth of the 8 MiB of a thread in Swift's pool. A much deeper
/// value that a program builds itself may overflow the stack.
public enum DynamicValue: Sendable {
    case null
    case bool(Bool)
    case number(Number)
    case string(String)
    /// Arbitrary bytes. JSON and forms encode them as text; property lists and multipart forms contain them unchanged.
    case data(Bytes)
    case date(Date)
    case array([DynamicValue])
    /// A set. Forms repeat its key, in the order of the elements' text; JSON and property lists have no sets.
    case set(Set<DynamicValue>)
    case object(Members)

    /// The depth limit. Deeper nesting is a cycle or an attack.
    package static let depthLimit = 512

    public init(_ text: String) { self = .string(text) }
    public init(_ flag: Bool) { self = .bool(flag) }
    public init(_ number: some BinaryInteger) { self = .number(Number(number)) }
    public init(_ number: Double) { self = .number(Number(number)) }
    public init(_ elements: [DynamicValue]) { self = .array(elements) }
    /// Creates an object from a dictionary, sorted by key because a dictionary has no order.
    public init(_ dictionary: [String: DynamicValue]) { self = .object(Members(dictionary)) }
}

// MARK: - Literals

extension DynamicValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByFloatLiteral {
    public init(nilLiteral: ()) { self = .null }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(floatLiteral value: Double) { self = .number(Number(value)) }
}

extension DynamicValue: ExpressibleByIntegerLiteral {
    public init(integerLiteral value: Int128) { self = .number(Number(value)) }
}

extension DynamicValue: ExpressibleByStringInterpolation {
    public init(stringLiteral value: String) { self = .string(value) }
    /// Interpolated bytes are appended as UTF-8, not as their length.
    public init(stringInterpolation parts: Bytes.StringInterpolation) {
        self = .string(String(Bytes(stringInterpolation: parts)))
    }
}

extension DynamicValue: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    public init(arrayLiteral elements: DynamicValue...) { self = .array(elements) }

    public init(dictionaryLiteral elements: (String, DynamicValue)...) {
        self = .object(Members(elements.map { Members.Member(key: $0.0, value: $0.1) }))
    }
}

// MARK: - Comparing

extension DynamicValue: Hashable {
    /// Compares text by its bytes: to a server, `é` in one scalar and in two are different keys and values.
    public static func == (left: DynamicValue, right: DynamicValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.string(let left), .string(let right)): left.hasSameBytes(as: right)
        case (.data(let left), .data(let right)): left == right
        case (.date(let left), .date(let right)): left == right
        case (.array(let left), .array(let right)): left.count == right.count && zip(left, right).allSatisfy(==)
        case (.set(let left), .set(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let flag): hasher.combine(flag)
        case .number(let number): hasher.combine(number)
        case .string(let text): hasher.combine(bytesOf: text)
        case .data(let bytes): hasher.combine(bytes)
        case .date(let date): hasher.combine(date)
        case .array(let elements): hasher.combine(elements)
        case .set(let elements): hasher.combine(elements)
        case .object(let members): hasher.combine(members)
        }
    }
}

/// A run of bytes that owns its storage: a slice of one array, shared by reference count.
///
/// Making a slice copies nothing, and a slice keeps the whole array in memory: a small body that came with its head
/// shares the head's storage.
public struct Bytes: Sendable {
    public let storage: [UInt8]
    @usableFromInline let lower: Int
    @usableFromInline let upper: Int

    public static let empty = Bytes([])

    @inlinable public init(_ storage: [UInt8]) {
        self.storage = storage
        lower = 0
        upper = storage.count
    }

    /// Creates a slice of `storage`; the range is clamped to what is there.
    @inlinable public init(_ storage: [UInt8], in range: Range<Int>) {
        self.storage = storage
        lower = Swift.min(Swift.max(range.lowerBound, 0), storage.count)
        upper = Swift.min(Swift.max(range.upperBound, lower), storage.count)
    }

    @inlinable public init(_ text: String) {
        self.init(Array(text.utf8))
    }

    @inlinable public init(_ elements: some Sequence<UInt8>) {
        self.init(Array(elements))
    }

    @inlinable public var span: Span<UInt8> {
        storage.span.extracting(lower..<upper)
    }

    @inlinable public borrowing func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try span.withUnsafeBytes(body)
    }

    /// The offset of the first byte in the storage.
    package var offset: Int { lower }

    /// The bytes as an array; without a copy when they are the whole of their storage.
    @inlinable public var array: [UInt8] {
        lower == 0 && upper == storage.count ? storage : Array(storage[lower..<upper])
    }
}

extension Bytes: RandomAccessCollection {
    @inlinable public var startIndex: Int { 0 }
    @inlinable public var endIndex: Int { upper - lower }
    @inlinable public var count: Int { upper - lower }

    @inlinable public subscript(position: Int) -> UInt8 {
        precondition(position >= 0 && position < upper - lower)
        return storage[lower + position]
    }

    @inlinable public subscript(range: Range<Int>) -> Bytes {
        precondition(range.lowerBound >= 0 && range.upperBound <= upper - lower)
        return Bytes(storage, in: (lower + range.lowerBound)..<(lower + range.upperBound))
    }

    @inlinable public func withContiguousStorageIfAvailable<Result>(
        _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
    ) rethrows -> Result? {
        try span.withUnsafeBufferPointer { try body($0) }
    }
}

extension Bytes: Equatable, Hashable {
    public static func == (left: Bytes, right: Bytes) -> Bool {
        guard left.count == right.count else { return false }
        return left.withUnsafeBytes { left in right.withUnsafeBytes { right in same(left, right) } }
    }

    /// Compares eight bytes at a time; both must have the same length.
    static func same(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        var offset = 0
        while offset + 8 <= left.count {
            let word = left.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            if word != right.loadUnaligned(fromByteOffset: offset, as: UInt64.self) { return false }
            offset += 8
        }
        while offset < left.count {
            if left[offset] != right[offset] { return false }
            offset += 1
        }
        return true
    }

    public func hash(into hasher: inout Hasher) {
        withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}

extension Bytes: ExpressibleByArrayLiteral {
    public init(arrayLiteral elements: UInt8...) {
        self.init(elements)
    }
}

extension Bytes {
    public static func + (left: Bytes, right: Bytes) -> Bytes {
        Bytes(left.array + right)
    }
}

extension Bytes: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Shows the length only: bodies carry secrets, and descriptions end in logs. In other `Bytes`, interpolated bytes
    /// are themselves.
    public var description: String { "\(count) bytes" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}

extension String {
    /// Creates text from the bytes read as UTF-8; invalid sequences become U+FFFD.
    @inlinable public init(_ bytes: Bytes) {
        self = bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
}

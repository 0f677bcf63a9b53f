extension DynamicValue {
    /// The members of an object, in order. Keys may be repeated, as in a form.
    public struct Members: Sendable, Hashable {
        public struct Member: Sendable {
            public var key: String
            public var value: DynamicValue

            public init(key: String, value: DynamicValue) {
                self.key = key
                self.value = value
            }
        }

        @usableFromInline package var members: [Member]

        public init(_ members: [Member] = []) {
            self.members = members
        }

        /// Creates members from a dictionary, sorted by key because a dictionary has no order.
        public init(_ dictionary: [String: DynamicValue]) {
            members = dictionary.map { Member(key: $0.key, value: $0.value) }.sortedByKey()
        }

        /// The value of the last member with this key. Setting a value replaces the first such member and removes the
        /// others; `nil` removes all. Keys are compared byte by byte.
        public subscript(key: String) -> DynamicValue? {
            get { members.last { $0.key.hasSameBytes(as: key) }?.value }
            set {
                let index = members.firstIndex { $0.key.hasSameBytes(as: key) } ?? members.endIndex
                members.removeAll { $0.key.hasSameBytes(as: key) }
                if let newValue { members.insert(Member(key: key, value: newValue), at: index) }
            }
        }

        /// Appends a member, whatever keys are there already.
        public mutating func append(_ key: String, _ value: DynamicValue) {
            members.append(Member(key: key, value: value))
        }
    }
}

extension DynamicValue.Members: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { members.count }
    public subscript(position: Int) -> Member { members[position] }
}

extension DynamicValue.Members: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, DynamicValue)...) {
        members = elements.map { Member(key: $0.0, value: $0.1) }
    }
}

extension DynamicValue.Members.Member: Hashable {
    public static func == (left: Self, right: Self) -> Bool {
        left.key.hasSameBytes(as: right.key) && left.value == right.value
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(bytesOf: key)
        hasher.combine(value)
    }
}

extension [DynamicValue.Members.Member] {
    /// The members sorted by UTF-16 code units in any language; members with the same key keep their order.
    package func sortedByKey() -> Self {
        sorted { $0.key.precedesInUTF16($1.key) }
    }
}

/// Arguments that ask for nothing the command knows.
package struct UsageError: Error, Equatable {
    package let description: String

    package init(description: String) {
        self.description = description
    }
}

extension ArraySlice<String> {
    /// The argument behind an option, which may be empty.
    package mutating func takeValue(of option: String) throws(UsageError) -> String {
        guard let value = popFirst() else { throw UsageError(description: "\(option) needs a value") }
        return value
    }

    /// The argument behind an option, where an empty one is none.
    package mutating func takeText(of option: String) throws(UsageError) -> String {
        let value = try takeValue(of: option)
        if value.isEmpty { throw UsageError(description: "\(option) needs a value") }
        return value
    }
}

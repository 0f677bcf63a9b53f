/// Invalid arguments.
package struct UsageError: Error, Equatable {
    package let description: String

    package init(description: String) {
        self.description = description
    }
}

extension ArraySlice<String> {
    /// Takes the argument after an option, which may be empty.
    package mutating func takeValue(of option: String) throws(UsageError) -> String {
        guard let value = popFirst() else { throw UsageError(description: "\(option) needs a value") }
        return value
    }

    /// Takes the argument after an option; an empty one is an error.
    package mutating func takeText(of option: String) throws(UsageError) -> String {
        let value = try takeValue(of: option)
        if value.isEmpty { throw UsageError(description: "\(option) needs a value") }
        return value
    }
}

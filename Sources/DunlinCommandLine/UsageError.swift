/// Invalid arguments.
package struct UsageError: Error, Equatable {
    package let description: String

    package init(description: String) {
        self.description = description
    }
}

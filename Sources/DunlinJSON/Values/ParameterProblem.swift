/// A problem with parameters, as the underlying error of one that says what they could not become.
package struct ParameterProblem: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}

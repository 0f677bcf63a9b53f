/// What is wrong with parameters, beneath an error that says what they could not become.
struct ParameterProblem: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

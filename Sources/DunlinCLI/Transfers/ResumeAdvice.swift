import DunlinCommandLine

/// Says how to continue what was stopped.
struct ResumeAdvice {
    private let output: Output
    private let program: ProgramText

    init(_ output: Output, of program: ProgramText) { (self.output, self.program) = (output, program) }

    /// `adding` are options that the command line gets unless it has them.
    func tell(adding: [(spellings: [String], words: [String])] = [], note: String = "") {
        if output.hidesWarnings { return }
        let arguments = Array(CommandLine.arguments.dropFirst())
        let (line, isWhole) = CommandEcho.line(of: arguments, for: program, adding: adding)
        // Without its secrets the line would ask for something else, and begin again.
        let advice = isWhole ? "to continue: \(line)" : "to continue, give the same command again"
        output.remark("what has come is kept; \(advice)\(note)")
    }
}

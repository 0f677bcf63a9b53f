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
        output.remark("what has come is kept; to continue: \(line)\(note)")
        if !isWhole { output.remark("secrets were left out of it") }
    }
}

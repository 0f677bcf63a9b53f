import DunlinCLI

/// The program `dunlin`. All of it is in DunlinCLI, which others can import, as they could not import a program.
@main
struct DunlinProgram {
    static func main() async {
        // Before anything opens a descriptor, as the first wait does.
        CommandEntry.prepare()
        await CommandEntry.start()
    }
}

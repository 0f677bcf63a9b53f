import DunlinCommandLine
import DunlinDisplay
import DunlinRecording

/// `dunlin har`: what is in an HTTP archive, one line for each exchange.
struct ArchiveCommand {
    let file: String
    let output: Output

    /// How many secrets are named.
    private static let mostNamed = 5

    func run() throws(UsageError) -> ExitCode {
        let har: HAR
        do throws(HAR.Problem) { har = try HAR(contentsOf: file) } catch {
            throw UsageError(description: error.description)
        }
        // What reads a pipe wants whole URLs.
        let columns = output.screen.isTerminal ? output.screen.columns : nil
        for line in ArchiveTable(har.entries, columns: columns, style: .environment).lines { output.print(line) }
        warn(of: har)
        return .success
    }

    private func warn(of har: HAR) {
        if har.wasTorn { output.warn("the end of \(file) is torn: what was written last is missing") }
        if let lost = har.lost, lost > 0 {
            output.warn("\(file) lacks \(lost) \(lost == 1 ? "entry" : "entries"), lost when it was written")
        }
        let secrets = har.secrets
        for secret in secrets.prefix(Self.mostNamed) {
            output.warn("\(secret); remove it before you give the file away")
        }
        if secrets.count > Self.mostNamed {
            output.warn("and \(secrets.count - Self.mostNamed) more places look like secrets")
        }
    }
}

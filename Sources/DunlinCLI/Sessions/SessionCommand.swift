import Dunlin
import DunlinCommandLine

/// `dunlin session`: lists, shows or removes what `--session` has stored. No secret is shown.
struct SessionCommand {
    enum Operation: Equatable {
        case list
        case show(SessionName)
        case remove(SessionName)

        static let words = ["list", "show", "remove"]

        init(_ words: [String]) throws(UsageError) {
            switch (words.first, words.count) {
            case ("list", 1): self = .list
            case ("show", 2): self = .show(try SessionName(words[1]))
            case ("remove", 2): self = .remove(try SessionName(words[1]))
            case ("show", 1), ("remove", 1):
                throw UsageError(description: "session \(words[0]) needs a name; see dunlin session list")
            default:
                let given = words.isEmpty ? "" : ", not \"\(words.joined(separator: " "))\""
                throw UsageError(description: "session takes list, show NAME or remove NAME\(given); see dunlin help")
            }
        }
    }

    let operation: Operation
    let output: Output

    func run(in own: SessionFolder? = nil) throws -> ExitCode {
        let folder = try own ?? SessionFolder.own()
        switch operation {
        case .list: return list(folder)
        case .show(let name): return show(name, in: folder)
        case .remove(let name):
            guard let isRemoved = perform({ () throws(UsageError) in try folder.remove(name) }) else { return .failure }
            return isRemoved ? .success : missing(name)
        }
    }

    /// The result; nil if it failed, which is said.
    private func perform<Result>(_ work: () throws(UsageError) -> Result) -> Result? {
        do throws(UsageError) { return try work() } catch {
            output.complain(error.description)
            return nil
        }
    }

    private func missing(_ name: SessionName) -> ExitCode {
        output.complain("there is no session \(name); see dunlin session list")
        return .failure
    }

    private func list(_ folder: SessionFolder) -> ExitCode {
        var code = ExitCode.success
        for name in folder.names() {
            guard let found = perform({ () throws(UsageError) in try folder.session(name) }) else {
                code = .failure
                continue
            }
            guard let session = found else { continue }
            let who = session.credentials.map { ", \($0)" } ?? ""
            output.print("\(name)  \(session.origin)  \(Self.count(session.cookies.count))\(who)")
        }
        return code
    }

    private func show(_ name: SessionName, in folder: SessionFolder) -> ExitCode {
        guard let found = perform({ () throws(UsageError) in try folder.session(name) }) else { return .failure }
        guard let session = found else { return missing(name) }
        output.print("\(name) in \(folder.path(of: name))")
        output.print("credentials for \(session.origin): \(session.credentials.map { "\($0)" } ?? "none")")
        output.print("\(Self.count(session.cookies.count))\(session.cookies.isEmpty ? "" : ":")")
        for cookie in session.cookies { output.print("  \(cookie)") }
        return .success
    }

    private static func count(_ number: Int) -> String { number == 1 ? "1 cookie" : "\(number) cookies" }
}

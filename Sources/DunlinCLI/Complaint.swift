import Dunlin

/// An error as one line for a person.
enum Complaint {
    static func text(of error: any Error) -> String {
        guard let error = error as? NetworkError else { return oneLine("\(error)") }
        var text = error.reason
        if let peer = error.peer { text += " [\(peer)]" }
        if let end = ending(of: error) { text += " (\(end))" }
        if let underlying = error.underlying { text += ": \(underlying)" }
        return oneLine(text)
    }

    /// Where the request was when it ended, and after how long.
    static func ending(of error: NetworkError) -> String? {
        guard let phase = error.phase else { return nil }
        let after = error.elapsed.map { " after \($0.readable)" } ?? ""
        let limit = error.limit.map { ", limit \($0.readable)" } ?? ""
        return "in phase \(phase.rawValue)\(after)\(limit)"
    }

    private static func oneLine(_ text: String) -> String {
        text.split(whereSeparator: \.isNewline).joined(separator: " ")
    }
}

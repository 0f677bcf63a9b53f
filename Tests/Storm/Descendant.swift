import Foundation

/// Another process of this program. What it says goes where the storm's own words go.
///
/// Nobody else waits for it, so its number stays its own until `hasEnded` has said so.
final class Descendant {
    struct NotStarted: Error {
        let code: Int32
    }

    private let number: pid_t
    /// What it ended with, as `waitpid` has it.
    private var outcome: Int32?

    init(_ arguments: [String]) throws {
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let environment = ProcessInfo.processInfo.environment.map { "\($0)=\($1)" }
        var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
        var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup($0) } + [nil]
        defer { for word in words + variables { free(word) } }
        var number = pid_t()
        let code = posix_spawn(&number, program, nil, nil, &words, &variables)
        guard code == 0 else { throw NotStarted(code: code) }
        self.number = number
    }

    var hasEnded: Bool {
        var status: Int32 = 0
        if outcome == nil, waitpid(number, &status, WNOHANG) == number { outcome = status }
        return outcome != nil
    }

    var wasKilled: Bool { outcome.map { $0 & 0x7f == SIGKILL } ?? false }

    /// Waits for its end. Zero if it did what it should.
    @discardableResult
    func end() async -> Int32 {
        while !hasEnded { await Self.pause() }
        return outcome ?? 0
    }

    func kill() {
        guard !hasEnded else { return }
        Foundation.kill(number, SIGKILL)
    }

    /// Short against what a process does; the storm's own tasks are never cancelled.
    static func pause() async {
        do { try await Task.sleep(for: .microseconds(200)) } catch { return }
    }
}

import Dunlin
import DunlinCommandLine

/// `dunlin reachability`: whether there is a route, and by which kind of interface. Nothing is sent.
struct Reaching {
    let host: String?
    let observes: Bool
    let output: Output

    func run() async throws -> ExitCode {
        let reachability = host.map { Reachability.host($0) } ?? .shared
        guard observes else {
            for await path in reachability.paths {
                output.print(line(path))
                return path.status.isReachable ? .success : .failure
            }
            return .failure
        }
        var last: String?
        for await path in reachability.paths {
            let line = line(path)
            if line != last { output.print(line) }
            try output.check()
            last = line
        }
        return .success
    }

    private func line(_ path: Reachability.Path) -> String {
        guard path.status.isReachable, let interface = path.interface else { return "\(path.status)" }
        return "\(path.status), \(interface)"
    }
}

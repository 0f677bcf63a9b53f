import Dunlin
import FoundationEssentials

let arguments = CommandLine.arguments
let session = try HTTPSession(.init(baseURL: arguments[1]))
let fast = arguments.count > 3 && arguments[3] == "fast"
let n = Int(arguments[2]) ?? 1
@concurrent @Sendable func work() async throws {
    for index in 0..<n {
        let response = try await session.get("1k", as: .bytes)
        if index == 0 || index == n - 1 { print(response.status, response.value.count, response.metrics) }
    }
}
let start = ContinuousClock.now
if fast { try await session.withExecutor { @concurrent in try await work() } } else { try await work() }
print(ContinuousClock.now - start)

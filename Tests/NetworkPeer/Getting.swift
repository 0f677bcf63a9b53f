import Dunlin

/// One request that waits for connectivity, and what became of it.
struct Getting {
    private let url: String
    private let waits: Bool
    private var rules = NetworkInterface.Rules()

    init(_ url: String, waits: Bool, _ words: ArraySlice<String>) {
        self.url = url
        self.waits = waits
        for word in words {
            let name = String(word.dropFirst())
            if word.hasPrefix("!") { rules.deniedNames.insert(name) }
            if word.hasPrefix("+") { rules.allowedNames.insert(name) }
        }
    }

    func run() async throws {
        var configuration = HTTPSession.Configuration()
        configuration.waitsForConnectivity = waits
        configuration.interfaces = rules
        configuration.timeouts.connect = .seconds(2)
        configuration.timeouts.total = .seconds(60)
        configuration.hooks.waitingForConnectivity = { _, error in say("waiting: \(error.code)") }
        let session = try HTTPSession(configuration)
        do {
            let response = try await session.get(HTTP.Target(url), as: .string)
            say("\(response.status) \(response.value)")
        } catch let error as NetworkError {
            guard let refusal = error.underlying as? NetworkError.InterfaceRefusal else { throw error }
            say("refused: \(refusal.interfaces.map(\.description).sorted().joined(separator: ", "))")
        }
        await session.shutdown()
    }
}

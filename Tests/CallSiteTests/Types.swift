import Dunlin

/// What travels belongs to no actor, in a module whose declarations belong to the main one as elsewhere.
nonisolated struct User: Codable, Equatable {
    var id: Int
    var name: String
}

nonisolated struct Draft: Codable {
    var name = "Ada"
    var tags = ["new"]
}

nonisolated struct Post: Codable, Equatable {
    var title: String
}

nonisolated struct Token: Codable {
    var token: String
}

nonisolated struct Receipt: Codable, Sendable, Equatable {
    var parts: Int
}

nonisolated struct Reply {
    var status: Int
    var body: BodySequence
}

nonisolated struct Prompt: Codable {
    var text: String
}

final class Bar {
    private(set) var value = 0.0

    func set(_ value: Double) {
        self.value = value
    }
}

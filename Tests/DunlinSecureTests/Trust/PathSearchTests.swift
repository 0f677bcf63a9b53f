import Testing

@testable import DunlinSecure

@Suite struct `Paths in a graph` {
    struct Graph: CertificateGraph, Sendable {
        var edges: [Int: [Int]]
        var anchors: Set<Int>
        /// Certificates of one holder have the same number here.
        var holders: [Int: Int] = [:]
        /// Edges that are none when they are looked at.
        var forged: Set<[Int]> = []

        func issuers(of certificate: Int) -> [Int] { edges[certificate] ?? [] }
        func isConfirmed(_ issuer: Int, asIssuerOf certificate: Int) -> Bool {
            !forged.contains([certificate, issuer])
        }
        func isAnchor(_ certificate: Int) -> Bool { anchors.contains(certificate) }
        func isSameHolder(_ one: Int, _ other: Int) -> Bool { (holders[one] ?? one) == (holders[other] ?? other) }
    }

    private static func paths(_ graph: Graph, length: Int = 10, steps: Int = 256) -> [[Int]] {
        var search = PathSearch(from: 0, .init(length: length, steps: steps))
        var paths: [[Int]] = []
        while let path = search.next(in: graph) { paths.append(path) }
        #expect(search.next(in: graph) == nil)
        #expect(search.steps <= steps)
        return paths
    }

    static let table: [(String, Graph, [[Int]])] = [
        ("nobody above", Graph(edges: [:], anchors: []), []),
        ("an anchor itself", Graph(edges: [:], anchors: [0]), [[0]]),
        ("one way", Graph(edges: [0: [1], 1: [2]], anchors: [2]), [[0, 1, 2]]),
        ("in the caller's order", Graph(edges: [0: [2, 1], 1: [3], 2: [3]], anchors: [3]), [[0, 2, 3], [0, 1, 3]]),
        ("back from where nobody is above", Graph(edges: [0: [1, 2], 1: [4], 2: [3]], anchors: [3]), [[0, 2, 3]]),
        ("an anchor ends a path", Graph(edges: [0: [1], 1: [2]], anchors: [1, 2]), [[0, 1]]),
        ("a circle", Graph(edges: [0: [1], 1: [2], 2: [1, 3]], anchors: [3]), [[0, 1, 2, 3]]),
        ("itself", Graph(edges: [0: [0], 1: [1]], anchors: []), []),
        (
            "past who did not issue it after all",
            Graph(edges: [0: [1, 2], 1: [3], 2: [3]], anchors: [3], forged: [[0, 1]]), [[0, 2, 3]]
        ),
        (
            "one holder under two certificates",
            Graph(edges: [0: [1], 1: [2], 2: [3], 3: [4]], anchors: [4], holders: [3: 1]), []
        ),
    ]

    @Test(arguments: table.indices)
    func `paths in a graph are found one after the other, each holder on a path once`(index: Int) {
        let (name, graph, expected) = Self.table[index]
        #expect(Self.paths(graph) == expected, "\(name)")
    }

    @Test func `paths in a graph are no longer than they may be`() {
        let line = Graph(edges: [0: [1], 1: [2], 2: [3]], anchors: [3])
        #expect(Self.paths(line, length: 4) == [[0, 1, 2, 3]])
        #expect(Self.paths(line, length: 3) == [])
    }

    @Test func `a search for paths ends when as many steps were taken as there may be`() {
        // Each of thirty was issued by all the others: nobody would live to see the last path.
        let all = Array(0..<30)
        var dense = Graph(edges: [:], anchors: [])
        for one in all { dense.edges[one] = all.filter { $0 != one } }
        var search = PathSearch(from: 0, .init(length: 30, steps: 256))
        #expect(search.next(in: dense) == nil)
        #expect(search.steps == 256)
        dense.anchors = [29]
        #expect(Self.paths(dense, length: 30, steps: 100).count < 100)
    }
}

import DunlinCommandLine

/// Gives each file of one run a name of its own, so that none is written over another.
///
/// Where two have one name, later ones of the list get a number. Names that URLs give are shared out before anything is
/// requested, so the next run of the same list gives the same ones. Names that servers choose come in the order of
/// their responses, which may be another in the next run: if they choose one name for two, nobody can tell by its
/// length whose file is there already.
actor FileNames {
    private var taken: Set<String> = []
    /// The names that are known beforehand: what they are before they get a number, and after.
    private let known: [(plain: String, own: String)]
    /// The names that servers chose, by position in the list, and those by which a file was kept.
    private var chosen: [Int: String] = [:]
    private var kept: Set<String> = []

    init(_ names: [String]) {
        var taken: Set<String> = []
        known = names.map { ($0, Self.free($0, &taken)) }
        self.taken = taken
    }

    /// The name of the file at this position of the list, for which its response suggests a name.
    func name(at index: Int, suggested: String) -> String {
        if suggested == known[index].plain { return known[index].own }
        chosen[index] = suggested
        return Self.free(suggested, &taken)
    }

    /// Notes that the file that is there already is taken for the one at this position. Returns false if it may be
    /// another's of this run.
    func keep(_ index: Int) -> Bool {
        guard let name = chosen[index] else { return true }
        kept.insert(name)
        return chosen.values.count { $0 == name } == 1
    }

    /// Whether a file was kept that may be the one at this position.
    func isBesideKept(_ index: Int) -> Bool { chosen[index].map { kept.contains($0) } ?? false }

    /// The name that is known beforehand.
    nonisolated func known(at index: Int) -> String { known[index].own }

    private static func free(_ name: String, _ taken: inout Set<String>) -> String {
        var (own, number) = (name, 0)
        while !taken.insert(own).inserted {
            number += 1
            own = SavedName.numbered(name, number)
        }
        return own
    }
}

import DunlinCommandLine

/// Gives each file of one run a name of its own, so that none is written over another.
///
/// Where two have one name, later ones of the list get a number. Names that URLs give are shared out before anything is
/// requested, so the next run of the same list gives the same ones. Names that servers choose come in the order of
/// their responses.
actor FileNames {
    private var taken: Set<String> = []
    /// The names that are known beforehand: what they are before they get a number, and after.
    private let known: [(plain: String, own: String)]

    init(_ names: [String]) {
        var taken: Set<String> = []
        known = names.map { ($0, Self.free($0, &taken)) }
        self.taken = taken
    }

    /// The name of the file at this position of the list, for which its response suggests a name.
    func name(at index: Int, suggested: String) -> String {
        suggested == known[index].plain ? known[index].own : Self.free(suggested, &taken)
    }

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

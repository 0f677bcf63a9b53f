internal import DunlinSemantics
internal import FoundationEssentials

/// The files that public suffixes are read from, never a network.
enum PublicSuffixFile {
    /// The path on Debian and its derivatives, Fedora and Arch.
    private static let path = "/usr/share/publicsuffix/public_suffix_list.dat"

    /// The system's suffixes, read once; without a file, only single labels.
    static let system: PublicSuffixes =
        FileManager.default.contents(atPath: path).map { PublicSuffixes(parsing: [UInt8]($0)) } ?? PublicSuffixes()

    static func read(_ path: String) throws -> PublicSuffixes {
        PublicSuffixes(parsing: [UInt8](try Data(contentsOf: URL(filePath: path))))
    }
}

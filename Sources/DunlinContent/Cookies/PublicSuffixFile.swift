internal import DunlinSemantics
internal import FoundationEssentials

/// Where public suffixes are read from. Never from a network.
enum PublicSuffixFile {
    /// Where Debian and its kin, Fedora and Arch have it.
    private static let path = "/usr/share/publicsuffix/public_suffix_list.dat"

    /// The system's, read once; without a file, single labels only.
    static let system: PublicSuffixes =
        FileManager.default.contents(atPath: path).map { PublicSuffixes(parsing: [UInt8]($0)) } ?? PublicSuffixes()

    static func read(_ path: String) throws -> PublicSuffixes {
        PublicSuffixes(parsing: [UInt8](try Data(contentsOf: URL(filePath: path))))
    }
}

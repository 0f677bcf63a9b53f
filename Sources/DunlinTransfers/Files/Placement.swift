internal import DunlinReactor
internal import DunlinSecure
internal import DunlinSemantics

/// The place of a file, and of its part file while it is written: in the same folder, so that it can be moved to its
/// name in one step, and with a name that shows what it is.
struct Placement: Sendable, Equatable {
    /// The absolute path of the folder.
    let folder: String
    let name: String
    let suggestedName: String

    var path: String { Self.joined(folder, name) }

    /// The suffix of part files.
    static var partSuffix: String { ".dunlin-part" }

    /// The suffix of the records by which part files can be resumed.
    static var recordSuffix: String { ".dunlin-record" }

    /// The suffix of drafts, which become records once they are written.
    static var draftSuffix: String { ".dunlin-draft" }

    static func record(ofPart name: String) -> String {
        (name.hasSuffix(partSuffix) ? String(name.dropLast(partSuffix.count)) : name) + recordSuffix
    }

    static func recordPath(ofPart path: String) -> String { record(ofPart: path) }

    static func part(ofRecord name: String) -> String {
        name.dropLast(recordSuffix.count) + partSuffix
    }

    /// The path of a part file that a later download to the same place can find.
    var partPath: String {
        let plain = ".\(name)"
        let room = FileName.longest - max(Self.partSuffix.utf8.count, Self.recordSuffix.utf8.count)
        let stem = plain.utf8.count <= room ? plain : ".\(Hex.text(Self.hash(of: name), count: 16))"
        return Self.joined(folder, stem + Self.partSuffix)
    }

    static func hash(of name: String) -> UInt64 {
        var name = name
        return name.withUTF8 { Checksum.value(of: UnsafeRawBufferPointer($0)) }
    }

    static func folder(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return withoutSlashes(String(path[..<slash]))
    }

    /// The path of a part file that nobody else uses; `token` makes it unique.
    func partPath(_ token: UInt64) -> String {
        Self.joined(folder, ".\(Hex.text(token, count: 16))\(Self.partSuffix)")
    }

    /// Whether a part file has such a name.
    static func isAnonymous(_ path: String) -> Bool {
        let name = path.utf8.split(separator: UInt8(ascii: "/")).last ?? path.utf8[...]
        let digits = name.dropFirst().prefix(16)
        return name.count == 17 + partSuffix.utf8.count
            && digits.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
            }
    }

    /// The path at which a record is written before it gets its name.
    static func draftPath(ofRecord path: String) -> String {
        joined(folder(of: path), ".\(Hex.text(hash(of: path), count: 16))\(draftSuffix)")
    }

    /// Creates a placement in a folder, with the suggested name.
    init(folder: String, suggestedName: String) {
        self.init(inFolder: folder, suggestedName, suggestedName)
    }

    /// Creates a placement in a folder, with a name that is made safe.
    init(folder: String, name: String, suggestedName: String) {
        self.init(inFolder: folder, FileName.sanitized(name), suggestedName)
    }

    /// Creates a placement; nil for a path that names no file: an empty one, or one that ends in a slash or a dot.
    init?(path: String, suggestedName: String) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        name = String(path[path.utf8.index(after: slash)...])
        guard !name.isEmpty, name != ".", name != ".." else { return nil }
        folder = Self.withoutSlashes(String(path[..<slash]))
        self.suggestedName = suggestedName
    }

    /// A unique file in the folder for temporary files.
    static func temporary(_ token: UInt64, suggestedName: String) -> Placement {
        let folder = withoutSlashes(FileSystem.temporaryFolder)
        return Placement(inFolder: folder, "dunlin-\(Hex.text(token, count: 16))", suggestedName)
    }

    private init(inFolder folder: String, _ name: String, _ suggestedName: String) {
        (self.folder, self.name, self.suggestedName) = (Self.withoutSlashes(folder), name, suggestedName)
    }

    private static func withoutSlashes(_ folder: String) -> String {
        var bytes = folder.utf8[...]
        while bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
        return bytes.isEmpty ? "/" : String(Substring(bytes))
    }

    static func joined(_ folder: String, _ name: String) -> String {
        folder == "/" ? "/\(name)" : "\(folder)/\(name)"
    }
}

internal import DunlinSecure
internal import DunlinSemantics

/// An entry as a file: a line with its type and format, then JSON.
///
///     dunlin-transfer 3 0123456789abcdef
///     {"id": …}
///
/// The number is the format's version, of which the one before is read, too; the digits are the `Checksum` of what
/// follows the line.
extension JournalEntry {
    /// Why a file is not a valid entry.
    struct Damage: Error, Equatable, CustomStringConvertible {
        let description: String

        init(_ description: String) {
            self.description = description
        }
    }

    /// The greatest length of an entry's file.
    static let longest = 1 << 20
    /// The valid counts of attempts: one a second for a hundred years would be fewer.
    static let counts = 0...1 << 32
    private static let magic = "dunlin-transfer"
    private static let version = "3"
    private static let formerVersion = "2"

    /// The entry as a file's bytes. Throws if they would exceed the greatest length.
    func bytes() throws -> [UInt8] {
        var json = HTTP.JSON()
        json.format = DynamicValue.JSONFormat(order: .sorted, escapesSlashes: false)
        let content = try json.encode(self).array + [UInt8(ascii: "\n")]
        let line = "\(Self.magic) \(Self.version) \(Self.digits(of: content))\n"
        let bytes = Array(line.utf8) + content
        guard bytes.count <= Self.longest else {
            throw NetworkError(
                .limitExceeded,
                "the transfer is too large for the journal: its entry has \(bytes.count) bytes, and may have "
                    + "\(Self.longest)")
        }
        return bytes
    }

    /// Reads the file of the entry with this ID.
    init(_ bytes: [UInt8], id: String) throws(Damage) {
        guard bytes.count <= Self.longest else { throw Damage("it has more than \(Self.longest) bytes") }
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")), end < 64 else {
            throw Damage("it is not a journal entry")
        }
        let words = String(decoding: bytes[..<end], as: UTF8.self).split(
            separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, words[0] == Self.magic else { throw Damage("it is not a journal entry") }
        guard words[1] == Self.version || words[1] == Self.formerVersion else {
            let version = VisibleText.of(String(words[1]), upTo: 20)
            throw Damage("it has version \(version), and only \(Self.formerVersion) and \(Self.version) can be read")
        }
        let content = Array(bytes[(end + 1)...])
        guard words[2] == Self.digits(of: content) else { throw Damage("it is cut short or damaged") }
        do {
            let read = words[1] == Self.version ? Bytes(content) : try Self.renewed(Bytes(content))
            self = try HTTP.JSON.strict.decode(JournalEntry.self, from: read)
        } catch {
            throw Damage("its content is not valid")
        }
        guard self.id == id else { throw Damage("its name does not match its ID") }
        if let contradiction { throw Damage(contradiction) }
    }

    private static func digits(of content: [UInt8]) -> String {
        Hex.text(content.withUnsafeBytes { Checksum.value(of: $0) }, count: 16)
    }

    /// A contradiction in the entry; nil if there is none. Somebody else may have written the file.
    private var contradiction: String? {
        guard ([request.url] + request.formerURLs).allSatisfy(Self.isAddress), !request.method.isEmpty else {
            return "its URL or method is invalid"
        }
        guard Self.counts.contains(attempts), Self.counts.contains(failures) else {
            return "its number of attempts or failures is out of range"
        }
        if case .publishing(let file) = state, file.length < 0 || !Self.isPath(file.path) {
            return "its file has an invalid length or path"
        }
        switch work {
        case .download(let download):
            guard Self.isPath(download.path) else { return "its destination is not an absolute path" }
            if let problem = download.segments?.problem { return problem }
            guard download.bodyLimit ?? 0 >= 0 else { return "a limit is negative" }
            let hasDigest = download.digest != nil || download.digestAlgorithm != nil
            return hasDigest && download.contentDigest == nil ? "its digest is invalid" : nil
        case .upload(let upload):
            if case .publishing = state { return "it is an upload in a state of downloads (`publishing`)" }
            return Self.isPath(upload.path) ? nil : "its body is not an absolute path"
        }
    }

    private static func isPath(_ text: String) -> Bool {
        text.utf8.first == UInt8(ascii: "/") && !text.utf8.contains(0)
    }

    private static func isAddress(_ text: String) -> Bool {
        do throws(AddressError) {
            return try WebAddress(text).userInfo == nil
        } catch {
            return false
        }
    }
}

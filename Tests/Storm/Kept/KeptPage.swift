import Dunlin
import DunlinImages
import DunlinTesting

/// Who asks, as a server sees it: by `Authorization`, by cookies, and by what a proxy is told.
struct KeptAsker: Sendable, Hashable, CustomStringConvertible {
    static let names = ["alice", "bob", "carol"]
    static let nobody = KeptAsker()

    var user = "-"
    var cookie = "-"
    var proxy = "-"

    var description: String { "\(user)/\(cookie)/\(proxy)" }
}

/// A page, a picture, or a redirect to one of them: its rules follow from the seed and its path.
struct KeptPage: Sendable {
    enum Kind: String {
        case page = "d"
        case picture = "g"
        case toPage = "rd"
        case toPicture = "rg"
    }

    /// What it is recognised by; a shared one says nothing of who asked, nor of the variant.
    enum Validator: CaseIterable {
        case none, ownTag, sharedTag, ownDate, sharedDate
    }

    static let count = 12

    let kind: Kind
    let number: Int
    let freshness: String?
    /// How long an answer may be given again; nil for ever.
    let lifetime: Duration?
    let vary: String?
    let validator: Validator
    /// How often the text stands in it.
    let rows: Int
    /// Asks for a password.
    let isClosed: Bool
    let leadsByAsker: Bool
    let leadsAway: Bool
    let setsCookie: Bool

    init?(_ path: String, seed: UInt64) {
        let parts = path.split(separator: "/")
        guard parts.count == 2, let kind = Kind(rawValue: String(parts[0])), let number = Int(parts[1]) else {
            return nil
        }
        (self.kind, self.number) = (kind, number)
        var dice = SeededGenerator(seed: seed &+ Self.hash(path))
        validator = Validator.allCases[dice.next(below: 5)]
        let isRedirect = kind == .toPage || kind == .toPicture
        switch dice.next(below: 10) {
        case 0:
            freshness = nil
            // Pictures of which nothing is said are kept for ever, and a date is a guess of a day.
            let isKept = kind == .picture || validator == .ownDate || validator == .sharedDate
            lifetime = isRedirect || !isKept ? .zero : nil
        case 1, 2: (freshness, lifetime) = ("no-cache", .zero)
        case 3: (freshness, lifetime) = ("no-store", .zero)
        case 4: (freshness, lifetime) = ("max-age=1", .seconds(1))
        case 5, 6: (freshness, lifetime) = ("max-age=0, stale-while-revalidate=60", .seconds(60))
        default: (freshness, lifetime) = ("max-age=31536000", nil)
        }
        vary = [nil, nil, "X-Theme", "Accept-Language", "Cookie"][dice.next(below: 5)]
        rows = dice.next(below: 4) == 0 ? 200 : 4 + dice.next(below: 20)
        isClosed = !isRedirect && dice.next(below: 6) == 0
        leadsByAsker = dice.next(below: 3) == 0
        leadsAway = dice.next(below: 4) == 0
        setsCookie = dice.next(below: 6) == 0
    }

    var isRedirect: Bool { kind == .toPage || kind == .toPicture }

    /// Where a redirect leads.
    func destination(of asker: KeptAsker, _ selected: String, version: Int, on host: String) -> KeptResource {
        var index = UInt64(number + version)
        if leadsByAsker { index &+= Self.hash(asker.description) % 7 }
        if vary != nil { index &+= Self.hash(selected) % 5 }
        let kind = kind == .toPage ? Kind.page : .picture
        let other = KeptResource.hosts.first { $0 != host } ?? host
        return KeptResource(
            host: leadsAway ? other : host, path: "/\(kind.rawValue)/\(index % UInt64(Self.count))")
    }

    /// The same in every process.
    static func hash(_ text: String) -> UInt64 {
        text.utf8.reduce(14_695_981_039_346_656_037) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
    }
}

struct KeptResource: Sendable, Hashable, CustomStringConvertible {
    static let hosts = ["a.kept.test", "b.kept.test"]

    var host: String
    var path: String

    var description: String { host + path }
}

/// What a body or a picture says of itself, again and again: for whom, where, in which variant and when it was made.
struct KeptText: Sendable, CustomStringConvertible {
    static let width = 96

    var asker: KeptAsker
    var resource: KeptResource
    /// The value of the field that selects it.
    var selected: String
    var version: Int

    var description: String { "\(asker)|\(resource.host)|\(resource.path)|\(selected)|\(version)" }

    init(asker: KeptAsker, resource: KeptResource, selected: String, version: Int) {
        (self.asker, self.resource, self.selected, self.version) = (asker, resource, selected, version)
    }

    init?(_ line: String) {
        let parts = line.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
        let names = parts[0].split(separator: "/").map(String.init)
        guard parts.count == 6, names.count == 3, let version = Int(parts[4]) else { return nil }
        asker = KeptAsker(user: names[0], cookie: names[1], proxy: names[2])
        resource = KeptResource(host: parts[1], path: parts[2])
        (selected, self.version) = (parts[3], version)
    }

    private var line: [UInt8] {
        let text = Array("\(self)|".utf8)
        return text + [UInt8](repeating: UInt8(ascii: "."), count: Self.width - 1 - text.count) + [10]
    }

    func body(_ page: KeptPage) -> [UInt8] {
        let line = line
        return page.kind == .picture
            ? Self.picture(line, page.rows) : (0..<page.rows).flatMap { _ in line }
    }

    /// A GIF each of whose rows shows the line, in 128 greys. A clear code before each row keeps its codes at eight
    /// bits, so that the file has the text as it is.
    private static func picture(_ line: [UInt8], _ rows: Int) -> [UInt8] {
        let size = [UInt8(width), 0, UInt8(rows), 0]
        var file =
            Array("GIF89a".utf8) + size + [0xF6, 0, 0] + (0..<128).flatMap { [UInt8](repeating: 2 * $0, count: 3) }
        file += [0x2C, 0, 0, 0, 0] + size + [0, 7]
        for _ in 0..<rows { file += [UInt8(width + 1), 0x80] + line }
        return file + [1, 0x81, 0, 0x3B]
    }
}

/// What was given for a page.
enum KeptContent: Sendable, CustomStringConvertible {
    case text(KeptText)
    /// Parts that were made for several.
    case mixed(String, String)

    var description: String {
        switch self {
        case .text(let text): "\(text)"
        case .mixed(let first, let other): "\(Self.said(first)) and \(Self.said(other))"
        }
    }

    /// A line without what fills it.
    private static func said(_ line: String) -> Substring {
        line[..<(line.firstRange(of: "|.")?.lowerBound ?? line.endIndex)]
    }

    init(_ body: Bytes) {
        let all = body.array
        let lines = stride(from: 0, to: all.count, by: KeptText.width).map {
            all[$0..<min($0 + KeptText.width, all.count)]
        }
        self.init(lines)
    }

    init(_ picture: ImageBuffer) {
        let (pixels, stride) = (picture.pixels, picture.stride)
        self.init(
            (0..<picture.height).map { row in
                (0..<picture.width).map { pixels[row * stride + $0 * 4] / 2 }[...]
            })
    }

    private init(_ lines: [ArraySlice<UInt8>]) {
        let first = lines.first ?? []
        let other = lines.first { $0 != first }
        let text = String(decoding: first, as: UTF8.self)
        if let other {
            self = .mixed(text, String(decoding: other, as: UTF8.self))
        } else if let said = KeptText(text) {
            self = .text(said)
        } else {
            self = .mixed(text, "")
        }
    }
}

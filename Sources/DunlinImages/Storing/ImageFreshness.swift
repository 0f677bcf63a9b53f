public import Dunlin

/// What a response says about how long its picture may be shown, and by what to ask whether it is still the same.
///
/// Of RFC 9111 it knows what a level in memory above the HTTP cache needs: `no-store`, `no-cache`, `max-age`, `Expires`
/// and `Age`. What says nothing has no end: AFNetworking's cache shows every picture until it is purged. A session's
/// HTTP cache decides for itself about the bytes.
public struct ImageFreshness: Sendable, Hashable {
    /// False after `no-store`: a picture that is kept nowhere.
    public var isStorable: Bool
    /// From the moment when the response came; nil without an end. Zero, or less, for what has to be asked about.
    public var lifetime: Duration?
    public var entityTag: String?
    public var lastModified: String?
    /// Whether the response depends on more of a request than the cache of images knows pictures by: then it is asked
    /// about each time.
    var variesByMore = false
    /// Where redirects led; nil for where the picture was asked for. Nobody else's confirmation counts.
    var source: FinalURL?

    public init(
        isStorable: Bool = true, lifetime: Duration? = nil, entityTag: String? = nil, lastModified: String? = nil
    ) {
        (self.isStorable, self.lifetime) = (isStorable, lifetime)
        (self.entityTag, self.lastModified) = (entityTag, lastModified)
    }

    /// What has no end, and nothing to ask by: a picture that came from no response.
    public static let unlimited = ImageFreshness()

    /// What a response says. `now` are seconds since 1970, for a response without a Date; `age` is how old an HTTP
    /// cache says that it is. `selecting` are the names, in lower case, of the fields by which pictures are told apart;
    /// what varies by others is asked about each time.
    public init(_ head: ResponseHead, now: Int64, age: Duration? = nil, selecting: Set<String> = []) {
        let fields = head.fields
        let directives = Self.directives(fields)
        let age = age ?? Self.seconds(fields["age"].map { Self.trimmed($0[...]) } ?? "").map { .seconds($0) } ?? .zero
        self.init(
            isStorable: directives["no-store"] == nil,
            lifetime: Self.lifetime(directives, fields, now: now).map { $0 - age },
            entityTag: fields["etag"], lastModified: fields["last-modified"])
        variesByMore = Self.varied(fields).contains { $0 != "accept-encoding" && !selecting.contains($0) }
        if variesByMore { lifetime = .zero }
    }

    private static func varied(_ fields: Fields) -> [String] {
        fields.values(of: "vary").flatMap { $0.split(separator: ",").map { trimmed($0).lowercased() } }
            .filter { !$0.isEmpty }
    }

    /// The fields that ask whether the picture is still the same; empty if nothing can be asked by.
    var conditions: [(name: String, value: String)] {
        var conditions: [(name: String, value: String)] = []
        if let entityTag { conditions.append(("If-None-Match", entityTag)) }
        if let lastModified, entityTag == nil { conditions.append(("If-Modified-Since", lastModified)) }
        return conditions
    }

    /// What a 304 says, where it says something, and what was known otherwise. One without Cache-Control confirms that
    /// of the response, and its time begins anew.
    func renewed(by head: ResponseHead, now: Int64) -> ImageFreshness {
        let newer = ImageFreshness(head, now: now)
        let says = head.fields.contains("cache-control") || head.fields.contains("expires")
        var renewed = ImageFreshness(
            isStorable: newer.isStorable, lifetime: says ? newer.lifetime : lifetime,
            entityTag: newer.entityTag ?? entityTag, lastModified: newer.lastModified ?? lastModified)
        (renewed.variesByMore, renewed.source) = (variesByMore, source)
        if variesByMore { renewed.lifetime = .zero }
        return renewed
    }

    private static func lifetime(_ directives: [String: String], _ fields: Fields, now: Int64) -> Duration? {
        if directives["no-cache"] != nil { return .zero }
        if let limit = directives["max-age"] { return .seconds(seconds(limit) ?? 0) }
        guard let expires = fields["expires"] else { return nil }
        // What is no date has expired (RFC 9111 §5.3).
        guard let end = FixedDate.seconds(expires) else { return .zero }
        let start = fields["date"].flatMap(FixedDate.seconds) ?? now
        return .seconds(max(0, end - start))
    }

    /// The directives of Cache-Control by their names in lower case; of one that is said twice the first.
    private static func directives(_ fields: Fields) -> [String: String] {
        var found: [String: String] = [:]
        for field in fields.values(of: "cache-control") {
            for member in field.split(separator: ",") {
                let parts = member.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                let value = parts.count > 1 ? trimmed(parts[1]) : ""
                found[trimmed(parts[0]).lowercased(), default: value] += ""
            }
        }
        return found
    }

    /// Nil for what is no number; a hundred years for what is longer.
    private static func seconds(_ text: String) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return min(Int64(text) ?? .max, 3_155_760_000)
    }

    private static func trimmed(_ text: Substring) -> String {
        String(text.drop { " \t\"".contains($0) }.reversed().drop { " \t\"".contains($0) }.reversed())
    }
}

/// A date as HTTP prefers it (RFC 9110 §5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`. The older two forms are not read here:
/// what expires then is asked about, which is always right.
enum FixedDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Seconds since 1970.
    static func seconds(_ text: String) -> Int64? {
        let words = text.split(separator: " ")
        guard words.count == 6, words[0].hasSuffix(","), words[5] == "GMT", let day = number(words[1], 1...31),
            let month = months.firstIndex(of: String(words[2])), let year = number(words[3], 1970...9999)
        else { return nil }
        let clock = words[4].split(separator: ":", omittingEmptySubsequences: false)
        guard clock.count == 3, let hour = number(clock[0], 0...23), let minute = number(clock[1], 0...59),
            let second = number(clock[2], 0...60)
        else { return nil }
        return Int64((days(year, month + 1, day) * 24 + hour) * 60 + minute) * 60 + Int64(min(second, 59))
    }

    private static func number(_ text: Substring, _ range: ClosedRange<Int>) -> Int? {
        guard text.count <= 4, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int(text).flatMap { range.contains($0) ? $0 : nil }
    }

    /// Days since 1970; years are counted from March, so that the day that comes and goes is a year's last.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return year / 400 * 146_097 + year % 400 * 365 + year % 400 / 4 - year % 400 / 100 + dayOfYear - 719_468
    }
}

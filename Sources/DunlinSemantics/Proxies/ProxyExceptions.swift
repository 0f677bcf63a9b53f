/// The hosts to request without a proxy, as in a NO_PROXY variable.
///
/// Rules:
/// 1. Entries are parted by commas, blanks or both. An entry may end in a port, and is for that port alone then; an
///    IPv6 address has brackets if a port follows it, and may have them if none does.
/// 2. A name is for itself and for all names below it. A dot in front of it changes nothing, as with curl and Python;
///    Go takes the name itself out then. `*.` in front is for the names below alone.
/// 3. An address is for itself, `10.0.0.0/8` for all of the range. An IPv4 address in the form of IPv6 is the IPv4
///    address. Names are not resolved for this. `10.*` and `10.1/16`, which others write, are `10.0.0.0/8` and
///    `10.1.0.0/16`.
/// 4. `*` is for every host.
/// 5. Case and a dot at the end mean nothing, and names are compared in their ASCII form.
/// 6. An entry that begins with a slash is for a Unix socket, which no proxy is asked for: it is passed over. Any other
///    entry that can match nothing is an error, because somebody meant something by it.
package struct ProxyExceptions: Sendable, Hashable {
    private enum Pattern: Sendable, Hashable {
        case all
        case name(String, isItselfIn: Bool)
        case range(AddressRange)
    }

    private struct Entry: Sendable, Hashable {
        var pattern: Pattern
        var port: UInt16?
    }

    private var entries: [Entry] = []

    package init() {}

    package init(_ text: String) throws(ProxyExceptionsError) {
        for item in text.split(whereSeparator: { $0 == "," || $0.isWhitespace }) where item.first != "/" {
            do throws(ProxyExceptionsError.Problem) {
                entries.append(try Self.entry(item))
            } catch {
                throw ProxyExceptionsError(error, in: item)
            }
        }
    }

    package var isEmpty: Bool { entries.isEmpty }

    /// Whether no host uses a proxy.
    package var coverAll: Bool { entries.contains(Entry(pattern: .all)) }

    /// Whether the list has a host, in the form of `HTTP.Origin.host`.
    package func cover(host: String, port: UInt16) -> Bool {
        if entries.isEmpty { return false }
        let address = IPAddress(host)
        let name = address == nil ? Self.normalized(host) : ""
        return entries.contains { entry in
            guard entry.port ?? port == port else { return false }
            return switch entry.pattern {
            case .all: true
            case .range(let range): address.map(range.contains) ?? false
            case .name(let suffix, let isItselfIn):
                address == nil && ((isItselfIn && name == suffix) || name.isBelow(suffix))
            }
        }
    }

    /// Returns the host in an origin's form, in case somebody made the origin by hand.
    private static func normalized(_ host: String) -> String {
        let name = host.utf8.last == UInt8(ascii: ".") ? String(host.dropLast()) : host
        return ProxyExceptions.ascii(name[...]) ?? name.lowercased()
    }
}

extension ProxyExceptions {
    private static func entry(_ text: Substring) throws(ProxyExceptionsError.Problem) -> Entry {
        // A URL or user's name must not be shown as a host. By bytes, because a mark after the @ would make another
        // character of it.
        guard !text.utf8.contains(UInt8(ascii: "@")), text.utf8.firstRange(of: "://".utf8) == nil else { throw .url }
        let (host, port) = try parts(of: text)
        if let range = try range(host) {
            if host.contains("/"), port != nil { throw .rangeWithPort }
            return Entry(pattern: .range(range), port: port)
        }
        if host == "*" { return Entry(pattern: .all, port: port) }
        let isBelowAlone = host.hasPrefix("*.")
        var name = isBelowAlone ? host.dropFirst(2) : host.hasPrefix(".") ? host.dropFirst() : host
        if name.last == "." { name = name.dropLast() }
        guard let ascii = ascii(name) else { throw name.contains("*") ? .wildcard : .invalidHost }
        return Entry(pattern: .name(ascii, isItselfIn: !isBelowAlone), port: port)
    }

    /// Returns the range; nil if the host is neither an address nor a range.
    private static func range(_ host: Substring) throws(ProxyExceptionsError.Problem) -> AddressRange? {
        let host = completed(host)
        guard host.contains("/") || IPAddress(host) != nil else { return nil }
        do throws(AddressRange.Problem) {
            return try AddressRange(clearing: host)
        } catch {
            throw .range(error)
        }
    }

    /// Returns `10.*`, `192.168.*.*` and `169.254/16` completed: `10.0.0.0/8` and so on.
    private static func completed(_ host: Substring) -> Substring {
        let halves = host.split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count <= 2, let first = halves.first else { return host }
        var parts = first.split(separator: ".", omittingEmptySubsequences: false)
        let stars = parts.reversed().prefix { $0 == "*" }.count
        let length = halves.count == 2 ? String(halves[1]) : "\((parts.count - stars) * 8)"
        guard stars == 0 ? halves.count == 2 && (2...3).contains(parts.count) : halves.count == 1 && parts.count <= 4,
            stars < parts.count
        else { return host }
        parts.removeLast(stars)
        guard parts.allSatisfy({ UInt8($0) != nil }) else { return host }
        let whole = parts + repeatElement("0", count: 4 - parts.count)
        return Substring(whole.joined(separator: ".") + "/" + length)
    }

    /// Returns the host, an address alone without its brackets, and the port.
    private static func parts(of text: Substring) throws(ProxyExceptionsError.Problem) -> (Substring, UInt16?) {
        if text.first == "[" {
            guard let closing = text.firstIndex(of: "]") else { throw .invalidHost }
            let rest = text[text.index(after: closing)...]
            let inside = text[text.index(after: text.startIndex)..<closing]
            guard case .v6? = IPAddress(inside) else { throw .invalidHost }
            if rest.first == "/" { return ((inside + rest)[...], nil) }
            if rest.isEmpty { return (inside, nil) }
            guard rest.first == ":" else { throw .invalidHost }
            return (inside, try port(rest.dropFirst()))
        }
        // More than one colon without brackets is an IPv6 address.
        guard let colon = text.firstIndex(of: ":"), !text[colon...].dropFirst().contains(":") else {
            return (text, nil)
        }
        return (text[..<colon], try port(text[colon...].dropFirst()))
    }

    private static func port(_ digits: Substring) throws(ProxyExceptionsError.Problem) -> UInt16 {
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(digits), port > 0 else {
            throw .invalidPort
        }
        return port
    }

    private static func ascii(_ name: Substring) -> String? {
        let text = String(name)
        let bytes = text.utf8.span
        do throws(AddressError.Problem) {
            return try HostName.normalized(bytes, in: 0..<bytes.count)
        } catch {
            return nil
        }
    }
}

extension String {
    /// Whether this name is below `suffix`, both in ASCII and without a final dot.
    func isBelow(_ suffix: String) -> Bool {
        let (own, other) = (utf8, suffix.utf8)
        guard own.count > other.count + 1, own.reversed().starts(with: other.reversed()) else { return false }
        return own[own.index(own.endIndex, offsetBy: -other.count - 1)] == UInt8(ascii: ".")
    }
}

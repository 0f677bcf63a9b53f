/// A pattern for a host's name, or with `*.` in front for all names below it.
///
/// Names are compared in their ASCII form, without a dot at the end. Addresses are no names: a range is for them.
package struct NamePattern: Sendable, Hashable {
    package enum Problem: Error, Sendable, Hashable {
        case invalidName
        case wildcard
        case address
    }

    private let name: String
    private let isForNamesBelow: Bool

    package init(_ text: String) throws(Problem) {
        isForNamesBelow = text.hasPrefix("*.")
        let written = isForNamesBelow ? String(text.dropFirst(2)) : text
        guard !written.contains("*") else { throw .wildcard }
        guard let name = Self.ascii(written) else { throw .invalidName }
        guard IPAddress(name) == nil else { throw .address }
        self.name = name
    }

    /// Whether the pattern matches a host in the form of `HTTP.Origin.host`.
    package func matches(_ host: String) -> Bool {
        guard let host = Self.ascii(host) else { return false }
        return isForNamesBelow ? host.isBelow(name) : host == name
    }

    private static func ascii(_ text: String) -> String? {
        let bytes = text.utf8.span
        do throws(AddressError.Problem) {
            let name = try HostName.normalized(bytes, in: 0..<bytes.count)
            return name.utf8.last == UInt8(ascii: ".") ? String(name.dropLast()) : name
        } catch {
            return nil
        }
    }
}

extension NamePattern: CustomStringConvertible {
    package var description: String { isForNamesBelow ? "*.\(name)" : name }
}

extension NamePattern.Problem: CustomStringConvertible {
    /// Half a sentence that says what to write.
    package var description: String {
        switch self {
        case .invalidName: "this is not a host name; write example.com, or *.example.com for all names below it"
        case .wildcard: "a * may only stand in front of a name, as in *.example.com"
        case .address: "this is an address, not a name; write it as a range of addresses"
        }
    }
}

internal import DunlinSemantics

extension HTTP {
    /// The links of a response (RFC 8288), which servers use for paging:
    ///
    /// ```swift
    /// var page = try await client.get("items", as: .json([Item].self))
    /// while let next = page.links["next"] { page = try await client.get(next, as: .json([Item].self)) }
    /// ```
    ///
    /// A link may lead to another origin. That origin gets the session's `fields`, as every target does, but neither
    /// its credentials nor its `originFields`, where keys and tokens belong.
    public struct Links: Sendable, Hashable {
        public struct Link: Sendable, Hashable {
            /// The absolute URL.
            public var target: HTTP.Target
            /// The link's relations to the response, in lower case: `next`, `last`.
            public var relations: [String]
            public var title: String?
        }

        /// The links that are about the response itself, in order.
        public let all: [Link]

        /// Reads the links of `fields`, which came from `url`.
        package init(_ fields: Fields, from url: String) {
            let links = LinkField.all(in: fields)
            guard !links.isEmpty, let base = Self.address(url) else {
                all = []
                return
            }
            all = links.compactMap { link in
                if let anchor = link.anchor, Self.resolved(anchor, base) != base { return nil }
                guard let address = Self.resolved(link.reference, base) else { return nil }
                return Link(target: .url(address.description), relations: link.relations, title: link.title)
            }
        }

        /// The target of the first link with this relation, in any case.
        public subscript(_ relation: String) -> HTTP.Target? {
            all.first { $0.relations.contains(relation.lowercased()) }?.target
        }

        private static func address(_ url: String) -> WebAddress? {
            do throws(AddressError) { return try WebAddress(url) } catch { return nil }
        }

        private static func resolved(_ reference: String, _ base: WebAddress) -> WebAddress? {
            do throws(AddressError) { return try base.resolving(reference) } catch { return nil }
        }
    }
}

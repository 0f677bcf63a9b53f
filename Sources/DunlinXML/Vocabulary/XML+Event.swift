extension XML {
    /// What a reader finds, in the document's order.
    public enum Event: Sendable, Hashable {
        case start(Name, attributes: [Attribute])
        case end(Name)
        /// Text, including CDATA sections, with references resolved and line ends as `\n`. Long text may come in
        /// several pieces.
        case text(String)
        case comment(String)
        case instruction(target: String, data: String)
    }
}

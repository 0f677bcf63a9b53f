extension XML {
    /// What a reader comes across, in the document's order.
    public enum Event: Sendable, Hashable {
        case start(Name, attributes: [Attribute])
        case end(Name)
        /// With references resolved and line ends made `\n`; CDATA sections too. Long text may come in several pieces.
        case text(String)
        case comment(String)
        case instruction(target: String, data: String)
    }
}

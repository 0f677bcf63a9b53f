/// Whether code has printed what an article shows in a block of `text`. `ArticleTests` sees to it that the lines here
/// are those of the article. One line may be wrapped there. Of what is measured only the form is compared: a number
/// stands for any, and a bar may have any length.
func isShown(_ printed: some CustomStringConvertible, as block: String, measured: Bool = false) -> Bool {
    func words(_ text: String) -> [Substring] { text.split { $0 == " " || $0 == "\n" } }
    func form(_ text: String) -> [Substring] {
        let numbers = text.replacing(/[▇━─]+/, with: "").replacing(/[0-9.:]*[0-9]/, with: "0")
        return words(numbers.replacing(/0 (µ|m)s/, with: "0 s"))
    }
    let text = printed.description
    if measured { return form(text) == form(block) }
    return text.contains("\n") ? text == block : words(text) == words(block)
}
